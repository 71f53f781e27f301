//! `tiphys appset explain`.

use std::process::ExitCode;

use serde_json::Value;
use tiphys_service::{RecordedParameters, recorded_parameters};

use crate::args::{AppSetExplainArgs, OutputFormat, SharedOptions};
use crate::error::ServiceError;
use crate::options::open_service;
use crate::output::{self, Table};
use crate::settings::Process;

/// Prints the parameters that the controller recorded.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &AppSetExplainArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let print: fn(&RecordedParameters) -> String = match shared.output.unwrap_or(OutputFormat::Json) {
        OutputFormat::Json => |recorded| output::json(&recorded.to_json()),
        OutputFormat::Yaml => |recorded| output::documents(&[recorded.to_json()]),
        OutputFormat::Table => table,
        _ => return Err(ServiceError::invalid_input("`appset explain` prints json, yaml or table")),
    };
    let service = open_service(shared, host)?;
    let recorded = Box::pin(recorded_parameters(&service, &args.set, &args.applications)).await?;
    output::print(&print(&recorded))?;
    Ok(ExitCode::SUCCESS)
}

fn table(recorded: &RecordedParameters) -> String {
    let mut table = Table::new(&["NAME", "GENERATOR", "PARAMETERS"]);
    for one in &recorded.applications {
        let parameters = Value::from(one.parameters.clone()).to_string();
        table.row([one.application.clone(), one.generator.clone(), parameters]);
    }
    table.render()
}
