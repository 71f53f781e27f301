//! `tiphys params list`.

use std::process::ExitCode;

use serde_json::Value;
use tiphys_params::{Winner, check_values, collisions};
use tiphys_render::AnnouncedSource;

use super::row::{Row, rows};
use crate::args::{CommonArgs, OutputFormat, ParamsListArgs};
use crate::failure::Failure;
use crate::output::{self, Table};
use crate::settings::Host;

/// Lists what is announced and what is set.
pub(super) async fn run(
    common: &CommonArgs,
    args: &ParamsListArgs,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let (stored, sources) = super::announced(common, host, &args.app, &args.source).await?;
    let listed: Vec<Row<'_>> = sources.iter().flat_map(|source| rows(&stored, source)).collect();
    for source in &sources {
        warn_of_collisions(source);
    }
    sources.iter().for_each(warn_of_problems);
    let text = match common.output {
        Some(OutputFormat::Json) => output::json(&Value::Array(listed.iter().map(Row::to_json).collect())),
        Some(OutputFormat::Yaml) => {
            tiphys_yaml::write_yaml(&Value::Array(listed.iter().map(Row::to_json).collect()))
        }
        Some(OutputFormat::Name) => output::lines(listed.iter().map(|row| row.name.to_owned())),
        Some(OutputFormat::Wide) => table(&listed, sources.len() > 1, true),
        None | Some(OutputFormat::Table | OutputFormat::Diff | OutputFormat::Markdown) => {
            table(&listed, sources.len() > 1, false)
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn table(listed: &[Row<'_>], several_sources: bool, wide: bool) -> String {
    let mut heading = vec!["NAME", "TYPE", "VALUE", "ORIGIN"];
    if several_sources {
        heading.insert(0, "SOURCE");
    }
    if wide {
        heading.extend(["TITLE", "PLACE", "TOOLTIP"]);
    }
    let mut table = Table::new(&heading);
    for row in listed {
        let mut cells = vec![row.name.to_owned(), kind(row), row.shown_value(), row.origin.name().to_owned()];
        if several_sources {
            cells.insert(0, row.source.position.to_string());
        }
        if wide {
            let place = row.location.as_ref().map(|(file, position)| match position {
                Some(position) => format!("{file}:{}", position.line),
                None => file.clone(),
            });
            let text = |field: Option<&String>| field.cloned().unwrap_or_default();
            cells.extend([
                text(row.announcement.and_then(|announcement| announcement.title.as_ref())),
                place.unwrap_or_default(),
                text(row.announcement.and_then(|announcement| announcement.tooltip.as_ref())),
            ]);
        }
        table.row(cells);
    }
    table.render()
}

/// `map of number`, `array`, `choice`, `string`; `not announced`.
fn kind(row: &Row<'_>) -> String {
    let Some(announcement) = row.announcement else { return "not announced".to_owned() };
    let item = announcement.item_type.as_ref().map_or("string", tiphys_params::ItemType::word);
    match announcement.collection_type.field() {
        "string" if announcement.choices.is_empty() => item.to_owned(),
        "string" => "choice".to_owned(),
        collection if item == "string" => collection.to_owned(),
        collection => format!("{collection} of {item}"),
    }
}

/// What does not fit the announcements. A plugin that announces nothing leaves all names free.
fn warn_of_problems(source: &AnnouncedSource) {
    if source.announcements.is_empty() {
        return;
    }
    for problem in check_values(&source.announcements, &source.parameters) {
        tracing::warn!("{problem}");
    }
}

fn warn_of_collisions(source: &AnnouncedSource) {
    for collision in collisions(&source.parameters, &source.build_environment) {
        let hidden: Vec<String> = collision.hidden.iter().map(ToString::to_string).collect();
        let winner = match &collision.winner {
            Winner::BuildEnvironment => "the build environment".to_owned(),
            Winner::Parameter(origin) => origin.to_string(),
        };
        tracing::warn!("{} has the value of {winner}; hidden: {}", collision.variable, hidden.join(", "));
    }
}
