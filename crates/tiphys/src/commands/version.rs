//! `tiphys version`.

use std::process::ExitCode;

use serde_json::json;

use crate::args::{OutputFormat, SharedOptions};
use crate::build;
use crate::error::ServiceError;
use crate::output;

/// Prints the version of tiphys.
pub(crate) fn run(shared: &SharedOptions) -> Result<ExitCode, ServiceError> {
    let (version, commit) = (build::VERSION, build::COMMIT);
    let text = match shared.output {
        None => {
            let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
            format!("tiphys {version}{commit}\n")
        }
        Some(OutputFormat::Json) => output::json(&json!({"version": version, "commit": commit})),
        Some(_) => return Err(ServiceError::invalid_input("`version` prints text or, with -o json, JSON")),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
