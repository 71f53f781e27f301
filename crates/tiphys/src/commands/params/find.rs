//! `tiphys params find`: one parameter in many applications.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::documents::{LocationDocument, ReferenceDocument};
use tiphys_service::params::{self, FoundInApplication, FoundParameter, ParameterLocation, ParameterQuery};
use tiphys_service::{ApplicationSelection, Workspace, WorkspaceOptions};

use super::row;
use crate::args::{OutputFormat, ParamsFindArgs, SharedOptions};
use crate::commands::check::counted;
use crate::commands::checkouts;
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output::{self, Table, status};
use crate::progress::Progress;
use crate::settings::Process;

/// The heading of the values, which are cut on a narrow terminal.
const VALUE: &str = "VALUE";

/// Prints the applications that have the parameter, with its value and origin. An application that fails does not hide the others.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &ParamsFindArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form: fn(&[FoundInApplication], &Process) -> String = match shared.output {
        None | Some(OutputFormat::Table) => |found, host| match (table(found), host.columns()) {
            (table, Some(columns)) => table.render_within(columns, VALUE),
            (table, None) => table.render(),
        },
        Some(OutputFormat::Wide) => |found, _| table(found).render(),
        Some(OutputFormat::Json) => |found, _| output::json(&to_json(found)),
        Some(OutputFormat::Yaml) => |found, _| tiphys_yaml::write_yaml(&to_json(found)),
        Some(OutputFormat::Name) => |found, _| names(found),
        Some(_) => {
            return Err(ServiceError::invalid_input(
                "parameters are printed with -o table, json, yaml or name",
            ));
        }
    };
    let selection = ApplicationSelection::from(&args.applications);
    let options = WorkspaceOptions::for_selection(&selection);
    let workspace = Workspace::open_with_sets(&open_service(shared, host)?, options).await?;
    error::warn_all(workspace.warnings());
    let selected = tiphys_service::select(&workspace, &selection, "search")?;
    error::warn_all(&selected.warnings);
    checkouts::report(&workspace, &selected.applications).await;
    let progress = Progress::new(host, "searched", selected.applications.len());
    let step = |name: &str| progress.step(name);
    let query = ParameterQuery::parse(&args.name, args.set_only);
    let finding = Box::pin(params::find(&workspace, &selected.applications, &query, &step));
    let found = lifecycle::unless_interrupted(workspace.cancel(), finding).await?;
    error::warn_all(found.iter().flat_map(|one| &one.warnings));
    let with = found.iter().filter(|one| !one.parameters.is_empty()).count();
    if with > 0 || shared.output.is_some() {
        output::page(&form(&found, host), host).await?;
    }
    status(&format!("found in {with} of {}", counted(found.len(), "application")));
    let failures = selected.errors.iter().chain(found.iter().flat_map(|one| &one.failures));
    Ok(error::exit_code_of(error::print_all(failures, None)))
}

fn all(found: &[FoundInApplication]) -> impl Iterator<Item = (&FoundInApplication, &FoundParameter)> {
    found.iter().flat_map(|one| one.parameters.iter().map(move |parameter| (one, parameter)))
}

fn table(found: &[FoundInApplication]) -> Table {
    let mut table = Table::new(&["APPLICATION", VALUE, "ORIGIN", "PLACE"]);
    for (one, parameter) in all(found) {
        let application = one.stored.full_name();
        let has_several = one.stored.application.spec.effective_sources().len() > 1;
        let source =
            if has_several { format!(" (source {})", parameter.source_position) } else { String::new() };
        let value = match (&parameter.value, &parameter.reference) {
            (Some(value), _) => row::value_text(value),
            (None, Some(reference)) => row::dynamic_text(&reference.reference),
            (None, None) => String::new(),
        };
        let place = parameter.location.as_ref().map(ParameterLocation::line).unwrap_or_default();
        table.row([format!("{application}{source}"), value, parameter.origin_words.clone(), place]);
    }
    table
}

/// The applications that have the parameter, one per line.
fn names(found: &[FoundInApplication]) -> String {
    let with = found.iter().filter(|one| !one.parameters.is_empty());
    output::lines(with.map(|one| one.stored.full_name()))
}

/// The list of parameters for `-o json`.
fn to_json(found: &[FoundInApplication]) -> Value {
    let entry = |(one, parameter): (&FoundInApplication, &FoundParameter)| {
        json!({
            "application": one.stored.full_name(),
            "name": parameter.name,
            "sourcePosition": parameter.source_position,
            "origin": parameter.origin.name(),
            "layer": parameter.origin_words,
            "value": parameter.value,
            "reference": parameter.reference.as_ref().map(ReferenceDocument::from),
            "location": parameter.location.as_ref().map(LocationDocument::from),
        })
    };
    all(found).map(entry).collect()
}
