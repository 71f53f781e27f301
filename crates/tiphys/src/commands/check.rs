//! `tiphys check`.

mod engines;

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::{ApplicationFinding, ApplicationSelection, CheckedApplications, check_applications};

use super::appset;
use crate::args::{CheckArgs, OutputFormat, SharedOptions};
use crate::error::{self, ErrorKind, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output;
use crate::settings::Process;

/// Prints findings about applications, or how the engines of charts differ.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: &CheckArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    if args.helm_compare {
        return engines::run(shared, args, host).await;
    }
    let print: fn(&CheckedApplications) -> String = match shared.output {
        None => text,
        Some(OutputFormat::Json) => |checked| output::json(&document(checked)),
        Some(OutputFormat::Yaml) => |checked| tiphys_yaml::write_yaml(&document(checked)),
        Some(_) => {
            return Err(ServiceError::invalid_input(
                "`check` prints text, or with -o json or yaml a document",
            ));
        }
    };
    let selection = ApplicationSelection::from(&args.applications);
    let mut needs = args.following.needs(&selection);
    needs.reads_clusters = args.following.follow;
    let service = open_service(shared, host)?;
    let workspace = lifecycle::opened(&service, needs).await?;
    error::warn_all(workspace.warnings());
    let checking = Box::pin(check_applications(&workspace, &selection));
    let checked = lifecycle::unless_interrupted(workspace.cancel(), checking).await??;
    output::print(&print(&checked))?;
    error::warn_all(&checked.warnings);
    let mut worst = error::print_all(&checked.errors, None);
    let mut has_errors = checked.findings.iter().any(|finding| finding.is_error);
    if let Some(sets) = &checked.sets {
        error::warn_all(sets.reports.warnings());
        worst = error::print_all(sets.reports.errors(), worst);
        has_errors |= sets.findings.iter().any(|finding| finding.is_error);
    }
    Ok(error::exit_code_of(worst.max(has_errors.then_some(ErrorKind::InvalidInput))))
}

fn text(checked: &CheckedApplications) -> String {
    let line = |finding: &ApplicationFinding| {
        let ApplicationFinding { application, place, rule, is_error, message } = finding;
        format!("{place}: {}: {application}: {message} [{rule}]", appset::level(*is_error))
    };
    let of_sets = checked.sets.iter().flat_map(|sets| &sets.findings);
    let count = checked.findings.len() + of_sets.clone().count();
    let mut subjects = vec![counted(checked.applications, "application")];
    subjects.extend(checked.sets.as_ref().map(|sets| counted(sets.sets, "set")));
    let errors = checked.errors.len() + checked.sets.as_ref().map_or(0, |sets| sets.reports.errors().count());
    let mut found = if count == 0 { "no findings".to_owned() } else { counted(count, "finding") };
    if errors > 0 {
        found = if count == 0 {
            counted(errors, "error")
        } else {
            format!("{found}, {}", counted(errors, "error"))
        };
    }
    let lines = checked.findings.iter().map(line).chain(of_sets.map(appset::finding_line));
    let elsewhere = match checked.sources_elsewhere {
        0 => String::new(),
        count => format!("; files of {} elsewhere were not checked", counted(count, "source")),
    };
    output::lines(lines.chain([format!("{}: {found}{elsewhere}", subjects.join(", "))]))
}

/// Formats a number of things: `1 application`, `2 applications`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn document(checked: &CheckedApplications) -> Value {
    let finding = |finding: &ApplicationFinding| {
        let position = finding.place.position;
        json!({
            "application": finding.application,
            "file": finding.place.file.to_string(),
            "line": position.map(|at| at.line),
            "column": position.map(|at| at.column),
            "level": appset::level(finding.is_error),
            "rule": finding.rule,
            "message": finding.message,
        })
    };
    let of_sets = checked.sets.iter().flat_map(|sets| &sets.findings).map(appset::finding_json);
    json!({
        "applications": checked.applications,
        "sourcesElsewhere": checked.sources_elsewhere,
        "findings": checked.findings.iter().map(finding).chain(of_sets).collect::<Vec<_>>(),
    })
}
