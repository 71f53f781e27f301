//! `tiphys params check`: problems of parameters, for CI.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::documents::LocationDocument;
use tiphys_service::params::{self, CheckedParameters, ParameterFinding};
use tiphys_service::{ApplicationSelection, Workspace, WorkspaceOptions};

use crate::args::{OutputFormat, ParamsCheckArgs, SharedOptions};
use crate::commands::checkouts;
use crate::error::{self, ErrorKind, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output::{self, status};
use crate::progress::Progress;
use crate::settings::Process;

/// Prints the problems of the parameters of the selected applications. The exit code reports problems and errors of plugins.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &ParamsCheckArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form = match shared.output {
        None | Some(OutputFormat::Table | OutputFormat::Wide) => lines,
        Some(OutputFormat::Json) => |checked: &[CheckedParameters]| output::json(&to_json(checked)),
        Some(OutputFormat::Yaml) => {
            |checked: &[CheckedParameters]| tiphys_yaml::write_yaml(&to_json(checked))
        }
        Some(OutputFormat::Name) => names,
        Some(_) => {
            return Err(ServiceError::invalid_input("problems are printed with -o json, yaml or name"));
        }
    };
    let selection = ApplicationSelection::from(&args.applications);
    let options = WorkspaceOptions::for_selection(&selection);
    let workspace = Workspace::open_with_sets(&open_service(shared, host)?, options).await?;
    error::warn_all(workspace.warnings());
    let selected = tiphys_service::select(&workspace, &selection, "check")?;
    let worst = error::print_all(&selected.errors, None);
    error::warn_all(&selected.warnings);
    checkouts::report(&workspace, &selected.applications).await;
    let progress = Progress::new(host, "checked", selected.applications.len());
    let step = |name: &str| progress.step(name);
    let checking = Box::pin(params::check(&workspace, &selected.applications, &step));
    let checked = lifecycle::unless_interrupted(workspace.cancel(), checking).await?;
    error::warn_all(checked.iter().flat_map(|one| &one.warnings));
    output::print(&form(&checked))?;
    let worst = error::print_all(checked.iter().flat_map(|one| &one.failures), worst);
    let problems = checked.iter().map(|one| one.findings.len()).sum();
    let failed = checked.iter().filter(|one| !one.failures.is_empty()).count();
    let outcome = match (problems, selected.errors.len() + failed) {
        (problems, 0) => counted(problems, "problem"),
        (0, errors) => counted(errors, "error"),
        (problems, errors) => format!("{}, {}", counted(problems, "problem"), counted(errors, "error")),
    };
    let count = counted(checked.len() - failed, "application");
    status(&format!("checked the parameters of {count}: {outcome}"));
    let found = (problems > 0).then_some(ErrorKind::InvalidInput);
    Ok(error::exit_code_of(worst.max(found)))
}

/// Formats a number of things: `no problems`, `1 problem`, `2 problems`.
fn counted(count: usize, thing: &str) -> String {
    match count {
        0 => format!("no {thing}s"),
        1 => format!("1 {thing}"),
        count => format!("{count} {thing}s"),
    }
}

/// One problem per line: `FILE:LINE:COLUMN: APPLICATION: parameter `NAME`: …`.
fn lines(checked: &[CheckedParameters]) -> String {
    output::lines(all(checked).map(|(one, finding)| {
        let ParameterFinding { location, parameter, message, .. } = finding;
        format!("{location}: {}: parameter `{parameter}`: {message}", one.stored.full_name())
    }))
}

/// The applications with problems, one per line.
fn names(checked: &[CheckedParameters]) -> String {
    let found = checked.iter().filter(|one| !one.findings.is_empty());
    output::lines(found.map(|one| one.stored.full_name()))
}

/// The list of problems for `-o json`.
fn to_json(checked: &[CheckedParameters]) -> Value {
    let entry = |(one, finding): (&CheckedParameters, &ParameterFinding)| {
        json!({
            "application": one.stored.full_name(),
            "sourcePosition": finding.source_position,
            "sourceName": finding.source_name,
            "parameter": finding.parameter,
            "rule": finding.rule.name(),
            "message": finding.message,
            "suggestions": finding.suggestions,
            "location": LocationDocument::from(&finding.location),
        })
    };
    all(checked).map(entry).collect()
}

fn all(checked: &[CheckedParameters]) -> impl Iterator<Item = (&CheckedParameters, &ParameterFinding)> {
    checked.iter().flat_map(|one| one.findings.iter().map(move |finding| (one, finding)))
}
