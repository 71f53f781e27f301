//! `tiphys params get`.

use std::process::ExitCode;

use serde_json::Value;

use super::asked;
use crate::args::{CommonArgs, OutputFormat, ParamsGetArgs};
use crate::failure::Failure;
use crate::output;
use crate::settings::Host;

/// Prints the value that is in effect: a text as it is, a list with one item a line, a map with one `KEY=VALUE` a line.
pub(super) async fn run(common: &CommonArgs, args: &ParamsGetArgs, host: &Host) -> Result<ExitCode, Failure> {
    let asked = asked::ask(common, host, &args.application.app, &args.source).await?;
    let row = asked.row(&args.name)?;
    let text = match common.output {
        Some(OutputFormat::Json) => output::json(&row.to_json()),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&row.to_json()),
        Some(OutputFormat::Name) => format!("{}\n", row.name),
        _ => match row.value() {
            Some(value) => plain(value),
            None => {
                return Err(Failure::bad_input(format!(
                    "parameter {:?} of {} has no value",
                    args.name,
                    asked.stored.full_name()
                )));
            }
        },
    };
    output::print(&text)?;
    Ok(asked.conclude())
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
