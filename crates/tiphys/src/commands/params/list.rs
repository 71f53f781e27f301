//! `tiphys params list`.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::documents::ParameterDocument;
use tiphys_service::params::{
    ParameterEntry, ParameterFilter, ParameterGroup, ParameterLocation, ParameterRow,
};

use super::row::{self, value_text};
use crate::args::{OutputFormat, ParamsListArgs, SharedOptions};
use crate::error::ServiceError;
use crate::output::{self, Table, status};
use crate::settings::Process;

/// The layout of a table.
struct Form {
    several_sources: bool,
    wide: bool,
}

/// Lists the announced and the set parameters.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &ParamsListArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let parameters = super::inspect(shared, host, &args.application.app, &args.source).await?;
    let filter = ParameterFilter::from(args);
    let mut rows = parameters.rows();
    let all = rows.len();
    rows.retain(|row| filter.includes(row));
    for problem in parameters.problems(&rows) {
        tracing::warn!("{problem}");
    }
    if rows.is_empty() && parameters.failures().next().is_some() {
        return Ok(super::conclude(&parameters));
    }
    if rows.is_empty() {
        let application = parameters.stored.full_name();
        status(&match all {
            0 => format!("{application} has no parameters"),
            all => format!("none of the {all} parameters of {application} is selected"),
        });
    }
    let entries = match args.depth {
        Some(depth) => filter.grouped(rows, depth.into()),
        None => rows.into_iter().map(ParameterEntry::Row).collect(),
    };
    let form = |wide| Form { several_sources: parameters.sources.len() > 1, wide };
    match shared.output {
        Some(OutputFormat::Json) => output::print(&output::json(&to_json(&entries)))?,
        Some(OutputFormat::Yaml) => output::print(&tiphys_yaml::write_yaml(&to_json(&entries)))?,
        Some(OutputFormat::Name) => output::print(&output::lines(entries.iter().map(name)))?,
        Some(OutputFormat::Wide) => output::page(&table(&entries, &form(true)).render(), host).await?,
        _ => {
            let table = table(&entries, &form(false));
            let text = host
                .columns()
                .map_or_else(|| table.render(), |columns| table.render_within(columns, "VALUE"));
            output::page(&text, host).await?;
        }
    }
    Ok(super::conclude(&parameters))
}

fn name(entry: &ParameterEntry<'_>) -> String {
    match entry {
        ParameterEntry::Row(row) => row.name.to_owned(),
        ParameterEntry::Group(group) => group.name.clone(),
    }
}

fn to_json(entries: &[ParameterEntry<'_>]) -> Value {
    let entry = |entry: &ParameterEntry<'_>| match entry {
        ParameterEntry::Row(row) => json!(ParameterDocument::from(row)),
        ParameterEntry::Group(group) => {
            let source = group.rows.first().map(|row| row.source);
            json!({
                "group": group.name,
                "parameters": group.rows.len(),
                "set": group.set(),
                "sourcePosition": source.map(|source| source.position),
                "sourceName": source.map(|source| source.name.as_str()),
            })
        }
    };
    Value::Array(entries.iter().map(entry).collect())
}

fn table(entries: &[ParameterEntry<'_>], form: &Form) -> Table {
    let mut heading = vec!["NAME", "TYPE", "VALUE", "ORIGIN", "REQUIRED"];
    if form.several_sources {
        heading.insert(0, "SOURCE");
    }
    if form.wide {
        heading.extend(["TITLE", "DEFAULT", "PLACE", "TOOLTIP"]);
    }
    let mut table = Table::new(&heading);
    for entry in entries {
        let (mut cells, source) = match entry {
            ParameterEntry::Row(row) => (row_cells(row, form.wide), Some(row.source)),
            ParameterEntry::Group(group) => (group_cells(group), group.rows.first().map(|row| row.source)),
        };
        if form.several_sources {
            cells.insert(0, source.map(|source| source.position.to_string()).unwrap_or_default());
        }
        cells.resize(heading.len(), String::new());
        table.row(cells);
    }
    table
}

fn row_cells(row: &ParameterRow<'_>, wide: bool) -> Vec<String> {
    let mut cells = vec![
        row.name.to_owned(),
        row::kind(row),
        row::shown_value(row),
        if wide { row.origin_words().to_owned() } else { row::origin_text(row) },
        row::required(row).to_owned(),
    ];
    if wide {
        cells.extend([
            row::text(row, |announcement| announcement.title.as_deref()).to_owned(),
            row.default().as_ref().map(value_text).unwrap_or_default(),
            row.location().map(ParameterLocation::line).unwrap_or_default(),
            row::text(row, |announcement| announcement.tooltip.as_deref()).to_owned(),
        ]);
    }
    cells
}

fn group_cells(group: &ParameterGroup<'_>) -> Vec<String> {
    let count = format!("{} parameters, {} set", group.rows.len(), group.set());
    vec![group.name.clone(), "group".to_owned(), count]
}
