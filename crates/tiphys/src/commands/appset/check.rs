//! `tiphys appset check`.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::{
    CheckFinding, CheckedSets, SetSelection, UnknownSet, Workspace, WorkspaceOptions, check_sets,
};

use crate::args::{AppSetCheckArgs, OutputFormat, SharedOptions};
use crate::error::{self, ErrorKind, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output;
use crate::settings::Process;

/// Prints findings about sets.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &AppSetCheckArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let print: fn(&CheckedSets) -> String = match shared.output {
        None => text,
        Some(OutputFormat::Json) => |checked| output::json(&document(checked)),
        Some(OutputFormat::Yaml) => |checked| tiphys_yaml::write_yaml(&document(checked)),
        Some(_) => {
            return Err(ServiceError::invalid_input(
                "`appset check` prints text, or with -o json or yaml a document",
            ));
        }
    };
    let selection =
        SetSelection { sets: args.sets.clone(), answers: super::answers(args.answers.as_deref(), host)? };
    let needs = WorkspaceOptions::for_sets(&selection);
    let workspace = Workspace::open(&open_service(shared, host)?, needs).await?;
    error::warn_all(workspace.warnings());
    let checking = Box::pin(check_sets(&workspace, &selection));
    let checked = lifecycle::unless_interrupted(workspace.cancel(), checking).await??;
    output::print(&print(&checked))?;
    error::warn_all(checked.reports.warnings());
    let worst = error::print_all(checked.reports.errors(), None);
    let has_errors = checked.findings.iter().any(|finding| finding.is_error);
    Ok(error::exit_code_of(worst.max(has_errors.then_some(ErrorKind::InvalidInput))))
}

fn text(checked: &CheckedSets) -> String {
    let sets = if checked.sets == 1 { "1 set".to_owned() } else { format!("{} sets", checked.sets) };
    let found = match checked.findings.len() {
        0 => "no findings".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    let generated = match checked.reports.unknown().len() {
        0 => String::new(),
        count => format!("; {count} not generated"),
    };
    output::lines(checked.findings.iter().map(finding_line).chain([format!("{sets}: {found}{generated}")]))
}

fn document(checked: &CheckedSets) -> Value {
    let not_generated = |UnknownSet { set, reason }| json!({"set": set.to_string(), "reason": reason});
    json!({
        "findings": checked.findings.iter().map(finding_json).collect::<Vec<_>>(),
        "notGenerated": checked.reports.unknown().into_iter().map(not_generated).collect::<Vec<_>>(),
    })
}

/// Formats a finding about a set as a line.
pub(crate) fn finding_line(finding: &CheckFinding) -> String {
    let CheckFinding { set, place, rule, message, is_error } = finding;
    format!("{place}: {}: {set}: {message} [{rule}]", level(*is_error))
}

/// Formats a finding about a set as JSON.
pub(crate) fn finding_json(finding: &CheckFinding) -> Value {
    let position = finding.place.position;
    json!({
        "set": finding.set.to_string(),
        "file": finding.place.file.to_string(),
        "line": position.map(|at| at.line),
        "column": position.map(|at| at.column),
        "level": level(finding.is_error),
        "rule": finding.rule,
        "message": finding.message,
    })
}

/// Returns the name of a finding's level.
pub(crate) fn level(is_error: bool) -> &'static str {
    if is_error { "error" } else { "warning" }
}
