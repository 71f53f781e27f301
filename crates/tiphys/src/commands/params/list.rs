//! `tiphys params list`.

use std::process::ExitCode;

use serde_json::Value;

use super::asked;
use super::problems::warn_of;
use super::row::{Row, value_text};
use crate::args::{CommonArgs, OutputFormat, ParamsListArgs};
use crate::failure::Failure;
use crate::output::{self, Table};
use crate::settings::Host;

/// Characters of a value that a terminal is shown; pipes and the wide table get all.
const SHOWN_CHARS_MAX: usize = 60;

/// How a table is drawn.
struct Form {
    several_sources: bool,
    wide: bool,
    /// Characters of a value.
    value_chars_max: Option<usize>,
}

/// Lists what is announced and what is set.
pub(super) async fn run(
    common: &CommonArgs,
    args: &ParamsListArgs,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let asked = asked::ask(common, host, &args.application.app, &args.source).await?;
    let rows = asked.rows();
    warn_of(&asked, &rows);
    if rows.is_empty() && asked.has_failed() {
        return Ok(asked.conclude());
    }
    let form = |wide| Form {
        several_sources: asked.sources.len() > 1,
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
    Ok(asked.conclude())
}

fn to_json(rows: &[Row<'_>]) -> Value {
    Value::Array(rows.iter().map(Row::to_json).collect())
}

fn table(rows: &[Row<'_>], form: &Form) -> String {
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
            row.kind(),
            shortened(row.shown_value(), form.value_chars_max),
            row.origin().name().to_owned(),
            row.required().to_owned(),
        ];
        if form.several_sources {
            cells.insert(0, row.source.position.to_string());
        }
        if form.wide {
            cells.extend([
                row.text(|announcement| announcement.title.as_deref()).to_owned(),
                row.default().as_ref().map(value_text).unwrap_or_default(),
                row.location().map(super::origin::Location::line).unwrap_or_default(),
                row.text(|announcement| announcement.tooltip.as_deref()).to_owned(),
            ]);
        }
        table.row(cells);
    }
    table.render()
}

/// At most so many characters, the last of them an ellipsis if something is left out.
fn shortened(text: String, chars_max: Option<usize>) -> String {
    match chars_max {
        Some(max) if text.chars().count() > max => text.chars().take(max - 1).chain(['…']).collect(),
        _ => text,
    }
}

#[cfg(test)]
mod tests;
