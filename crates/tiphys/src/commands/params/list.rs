//! `tiphys params list`.

use std::process::ExitCode;

use serde_json::Value;
use tiphys_service::params::{ParameterLocation, ParameterRow};

use super::row::{self, value_text};
use crate::args::{CommonArgs, OutputFormat, ParamsListArgs};
use crate::error::ServiceError;
use crate::output::{self, Table};
use crate::settings::Process;

/// Maximum characters of a value on a terminal. Pipes and the wide table are not limited.
const SHOWN_CHARS_MAX: usize = 60;

/// The layout of a table.
struct Form {
    several_sources: bool,
    wide: bool,
    /// Maximum characters of a value.
    value_chars_max: Option<usize>,
}

/// Lists the announced and the set parameters.
pub(super) async fn run(
    common: &CommonArgs,
    args: &ParamsListArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let parameters = super::inspect(common, host, &args.application.app, &args.source).await?;
    let rows = parameters.rows();
    for problem in parameters.problems(&rows) {
        tracing::warn!("{problem}");
    }
    if rows.is_empty() && parameters.failures().next().is_some() {
        return Ok(super::conclude(&parameters));
    }
    let form = |wide| Form {
        several_sources: parameters.sources.len() > 1,
        wide,
        value_chars_max: (!wide && host.stdout_is_terminal()).then_some(SHOWN_CHARS_MAX),
    };
    let text = match common.output {
        Some(OutputFormat::Json) => output::json(&to_json(&rows)),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&to_json(&rows)),
        Some(OutputFormat::Name) => output::lines(rows.iter().map(|row| row.name.to_owned())),
        Some(OutputFormat::Wide) => table(&rows, &form(true)),
        _ => table(&rows, &form(false)),
    };
    output::print(&text)?;
    Ok(super::conclude(&parameters))
}

fn to_json(rows: &[ParameterRow<'_>]) -> Value {
    Value::Array(rows.iter().map(row::to_json).collect())
}

fn table(rows: &[ParameterRow<'_>], form: &Form) -> String {
    let mut heading = vec!["NAME", "TYPE", "VALUE", "ORIGIN", "REQUIRED"];
    if form.several_sources {
        heading.insert(0, "SOURCE");
    }
    if form.wide {
        heading.extend(["TITLE", "DEFAULT", "PLACE", "TOOLTIP"]);
    }
    let mut table = Table::new(&heading);
    for row in rows {
        let mut cells = vec![
            row.name.to_owned(),
            row::kind(row),
            shortened(row::shown_value(row), form.value_chars_max),
            row.origin().name().to_owned(),
            row::required(row).to_owned(),
        ];
        if form.several_sources {
            cells.insert(0, row.source.position.to_string());
        }
        if form.wide {
            cells.extend([
                row::text(row, |announcement| announcement.title.as_deref()).to_owned(),
                row.default().as_ref().map(value_text).unwrap_or_default(),
                row.location().map(ParameterLocation::line).unwrap_or_default(),
                row::text(row, |announcement| announcement.tooltip.as_deref()).to_owned(),
            ]);
        }
        table.row(cells);
    }
    table.render()
}

/// Shortens a string to this number of characters, including an ellipsis.
fn shortened(text: String, chars_max: Option<usize>) -> String {
    match chars_max {
        Some(max) if text.chars().count() > max => text.chars().take(max - 1).chain(['…']).collect(),
        _ => text,
    }
}

#[cfg(test)]
mod tests;
