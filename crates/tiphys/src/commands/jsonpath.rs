//! `tiphys jsonpath`.

use std::io::Read as _;
use std::process::ExitCode;

use tiphys_engine::{FieldPath, printed};
use tiphys_yaml::{read_documents, write_go_json};

use crate::args::{JsonPathArgs, OutputFormat, SharedOptions};
use crate::error::ServiceError;
use crate::output;
use crate::settings::Process;

/// Prints the value that the path selects in the object on standard input.
pub(crate) fn run(
    shared: &SharedOptions,
    args: &JsonPathArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let print = match shared.output {
        None => printed,
        Some(OutputFormat::Json) => write_go_json,
        Some(_) => return Err(ServiceError::invalid_input("`jsonpath` prints text or, with -o json, JSON")),
    };
    let path = FieldPath::parse(&args.path).map_err(ServiceError::invalid_input_from)?;
    let mut text = Vec::new();
    (host.standard_input)()
        .read_to_end(&mut text)
        .map_err(|error| ServiceError::invalid_input(format!("cannot read standard input: {error}")))?;
    let documents = read_documents(&text)
        .map_err(|error| ServiceError::invalid_input(format!("standard input: {error}")))?;
    let [object] = &documents[..] else {
        return Err(ServiceError::invalid_input(format!(
            "standard input: expected one object in JSON or YAML, found {} documents",
            documents.len()
        )));
    };
    let object = object.to_value();
    let value = path.one(&object).map_err(ServiceError::invalid_input_from)?;
    output::print(&(print(value) + "\n"))?;
    Ok(ExitCode::SUCCESS)
}
