//! `tiphys params get`.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::documents::ParameterDocument;

use crate::args::{OutputFormat, ParamsGetArgs, SharedOptions};
use crate::error::ServiceError;
use crate::output;
use crate::settings::Process;

/// Prints the effective value: a string as it is, a list with one item per line, a map with one `KEY=VALUE` per line.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &ParamsGetArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let parameters = super::inspect(shared, host, &args.application.app, &args.source).await?;
    let row = parameters.row(&args.name)?;
    let text = match shared.output {
        Some(OutputFormat::Json) => output::json(&json!(ParameterDocument::from(&row))),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&json!(ParameterDocument::from(&row))),
        Some(OutputFormat::Name) => format!("{}\n", row.name),
        _ => match (row.value(), row.dynamic) {
            (Some(value), _) => plain(value),
            (None, Some((reference, _))) => {
                return Err(ServiceError::invalid_input(format!(
                    "parameter {:?} of {} is dynamic: its value is read from {} when manifests are rendered",
                    args.name,
                    parameters.stored.full_name(),
                    reference.reference
                ))
                .with_hint("`tiphys params explain` reads it; -o json prints the reference"));
            }
            (None, None) => {
                return Err(ServiceError::invalid_input(format!(
                    "parameter {:?} of {} has no value",
                    args.name,
                    parameters.stored.full_name()
                )));
            }
        },
    };
    output::print(&text)?;
    Ok(super::conclude(&parameters))
}

fn plain(value: &Value) -> String {
    let mut text = String::new();
    let shown = |item: &Value| item.as_str().unwrap_or_default().to_owned();
    for (_, part) in value.as_object().into_iter().flatten() {
        match part {
            Value::Array(items) => text.extend(items.iter().map(|item| shown(item) + "\n")),
            Value::Object(map) => {
                text.extend(map.iter().map(|(key, item)| format!("{key}={}\n", shown(item))));
            }
            other => text.push_str(&(shown(other) + "\n")),
        }
    }
    text
}
