//! `tiphys plugin schema`.

use std::process::ExitCode;

use tiphys_plugin::config::SCHEMA;

use crate::args::{OutputFormat, SharedOptions};
use crate::error::ServiceError;
use crate::output;

/// Prints the JSON Schema of `plugin.yaml`.
pub(super) fn run(shared: &SharedOptions) -> Result<ExitCode, ServiceError> {
    match shared.output {
        None | Some(OutputFormat::Json) => {}
        Some(_) => {
            return Err(ServiceError::invalid_input("`plugin schema` prints JSON, as editors read it"));
        }
    }
    output::print(SCHEMA)?;
    Ok(ExitCode::SUCCESS)
}
