//! `tiphys params get`.

use std::process::ExitCode;

use serde_json::Value;

use super::row::{Row, rows};
use crate::args::{CommonArgs, OutputFormat, ParamsGetArgs};
use crate::failure::Failure;
use crate::output;
use crate::settings::Host;

/// Prints the value that is in effect: a text as it is, a list with one item a line, a map with one `KEY=VALUE` a line.
pub(super) async fn run(common: &CommonArgs, args: &ParamsGetArgs, host: &Host) -> Result<ExitCode, Failure> {
    let (stored, sources) = super::announced(common, host, &args.app, &args.source).await?;
    let listed: Vec<Row<'_>> = sources.iter().flat_map(|source| rows(&stored, source)).collect();
    let found: Vec<&Row<'_>> = listed.iter().filter(|row| row.name == args.name).collect();
    let row = match found.as_slice() {
        [row] => *row,
        [] => {
            let names = listed.iter().map(|row| row.name);
            let similar = tiphys_params::suggest(&args.name, names);
            let failure =
                Failure::bad_input(format!("{} has no parameter {:?}", stored.full_name(), args.name));
            return Err(match similar.as_slice() {
                [] => failure,
                names => failure.hint(format!("did you mean {}?", names.join(" or "))),
            });
        }
        several => {
            let positions: Vec<String> = several.iter().map(|row| row.source.position.to_string()).collect();
            return Err(Failure::bad_input(format!(
                "{} has a parameter {:?} in several sources ({}); say --source-position",
                stored.full_name(),
                args.name,
                positions.join(", ")
            )));
        }
    };
    let value = row.value();
    let text = match common.output {
        Some(OutputFormat::Json) => output::json(&row.to_json()),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&row.to_json()),
        Some(OutputFormat::Name) => format!("{}\n", row.name),
        None
        | Some(OutputFormat::Table | OutputFormat::Wide | OutputFormat::Diff | OutputFormat::Markdown) => {
            match value {
                Some(value) => plain(&value),
                None => {
                    return Err(Failure::bad_input(format!(
                        "parameter {:?} of {} has no value",
                        args.name,
                        stored.full_name()
                    )));
                }
            }
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
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
