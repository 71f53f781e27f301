//! `tiphys appset preview`.

use std::process::ExitCode;

use serde_json::Value;
use tiphys_process::quote_argument;
use tiphys_service::{ErrorKind, Previews};

use crate::args::{AppSetPreviewArgs, OutputFormat, SharedOptions};
use crate::error::{self, ServiceError};
use crate::options::service_options;
use crate::output::{self, Table};
use crate::settings::Process;

/// Exit code if an Application is not unchanged.
const DIFFERENT: u8 = 1;

/// Prints what the controller would do.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &AppSetPreviewArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let is_strict = service_options(shared, host)?.strict;
    let print: fn(&Previews) -> String = match shared.output.unwrap_or(OutputFormat::Json) {
        OutputFormat::Json => |previews| output::json(&previews.to_json()),
        OutputFormat::Yaml => |previews| output::documents(&[previews.to_json()]),
        OutputFormat::Table => table,
        _ => return Err(ServiceError::invalid_input("`appset preview` prints json, yaml or table")),
    };
    let previews = if let Some(revision) = args.plan.base.revision() {
        super::planned::change(shared, &args.plan, &revision, host).await?
    } else {
        super::planned::open(shared, &args.plan, host).await?.previews().await?
    };
    error::warn_all(&previews.warnings);
    let worst = error::print_all(&previews.errors, None);
    let is_guarded = print_guards(&previews);
    output::print(&print(&previews))?;
    Ok(match worst {
        Some(kind) => error::exit_code_of(Some(kind)),
        None if is_guarded && is_strict => error::exit_code_of(Some(ErrorKind::InvalidInput)),
        None if previews.differ() => ExitCode::from(DIFFERENT),
        None => ExitCode::SUCCESS,
    })
}

/// Prints the refusals to delete too many Applications, and returns whether there are any.
pub(super) fn print_guards(previews: &Previews) -> bool {
    for (set, guard) in previews.guards() {
        let argument = quote_argument(&set.to_string());
        tracing::warn!("application set {set}: {guard}: --allow-deletions {argument}");
    }
    previews.guards().next().is_some()
}

fn table(previews: &Previews) -> String {
    let mut table = Table::new(&["SET", "NAME", "CHANGE", "ACTION", "GENERATOR", "ERROR"]);
    for row in previews.to_json().as_array().into_iter().flatten() {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let action = if row["guarded"] == Value::Bool(true) {
            format!("{} (guarded)", text("action"))
        } else {
            text("action")
        };
        table.row([text("set"), text("name"), text("change"), action, text("generator"), text("error")]);
    }
    table.render()
}
