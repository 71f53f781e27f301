//! `tiphys appset plugin call`.

use std::process::ExitCode;

use serde_json::{Map, Value, json};
use tiphys_service::{PluginCall, PluginCallResult, PluginForm, Secret, call_plugin_service};
use tokio_util::sync::CancellationToken;

use crate::args::{AppSetPluginCallArgs, OutputFormat, PluginContractArg, SharedOptions};
use crate::commands::appset::template::parameters;
use crate::error::{ServiceError, warning_text};
use crate::lifecycle;
use crate::options::open_service;
use crate::output;
use crate::settings::Process;
use crate::terminal::one_line;

/// Exit code if there are findings.
const FINDINGS_CODE: u8 = 1;

/// Prints the parameter sets of a service, and the findings.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &AppSetPluginCallArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let print: fn(&Value) -> String = match shared.output.unwrap_or(OutputFormat::Yaml) {
        OutputFormat::Yaml => tiphys_yaml::write_yaml,
        OutputFormat::Json => output::json,
        _ => return Err(ServiceError::invalid_input("`appset plugin call` prints yaml or json")),
    };
    let call = PluginCall {
        base_url: args.url.clone(),
        token: super::token(args.token_file.as_deref(), host)?.unwrap_or_else(|| Secret::new("")),
        application_set: args.name.clone(),
        parameters: args.input.as_ref().map_or_else(|| Ok(Map::new()), |file| parameters(file, host))?,
        form: match args.contract {
            PluginContractArg::Shipped => PluginForm::Shipped,
            PluginContractArg::Proposal => PluginForm::Proposal,
        },
    };
    let service = open_service(shared, host)?;
    let calling = Box::pin(call_plugin_service(&service, &call));
    let called = lifecycle::unless_interrupted(&CancellationToken::new(), calling).await??;
    let PluginCallResult { parameters, findings } = called;
    if let Some(parameters) = parameters {
        output::print(&print(&json!(parameters)))?;
    }
    for finding in &findings {
        output::status(&format!("finding: {}", one_line(&warning_text(finding))));
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS_CODE) })
}
