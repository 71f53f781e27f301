//! Problems of the parameters of many applications.

use std::sync::Arc;

use tiphys_render::Inquiry;
use tiphys_store::StoredApplication;

use super::SourceChoice;
use super::each::each;
use super::inspect::{ApplicationParameters, inspect_stored};
use super::origin::ParameterLocation;
use crate::context::options::StepCallback;
use crate::context::workspace::Workspace;
use crate::error::ServiceError;
use crate::problems::ProblemRule;
use crate::warning::Warning;

/// A problem of a parameter.
#[derive(Clone, Debug)]
pub struct ParameterFinding {
    /// The kind of the problem.
    pub rule: ProblemRule,
    /// The parameter's name.
    pub parameter: String,
    /// The problem, without the parameter's name.
    pub message: String,
    /// Similar announced names, if the parameter is not announced.
    pub suggestions: Vec<String>,
    /// The position of the source, from 1.
    pub source_position: usize,
    /// The name of the source; empty if it has none.
    pub source_name: String,
    /// The place of the value, or of the source if no file sets it.
    pub location: ParameterLocation,
}

/// The problems of an application's parameters.
#[derive(Debug)]
pub struct CheckedParameters {
    /// The application.
    pub stored: Arc<StoredApplication>,
    /// The problems, in the order of its parameters.
    pub findings: Vec<ParameterFinding>,
    /// Errors of plugins, whose sources could not be checked completely.
    pub failures: Vec<ServiceError>,
    /// Warnings of plugins and about override files.
    pub warnings: Vec<Warning>,
}

/// Checks the parameters of applications concurrently. Returns the results in the order of the applications.
pub async fn check(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
    progress: StepCallback<'_>,
) -> Vec<CheckedParameters> {
    each(workspace, applications, progress, async |stored| check_one(workspace, stored).await).await
}

async fn check_one(workspace: &Workspace, stored: &Arc<StoredApplication>) -> CheckedParameters {
    let mut checked = CheckedParameters {
        stored: Arc::clone(stored),
        findings: Vec::new(),
        failures: Vec::new(),
        warnings: Vec::new(),
    };
    match inspect_stored(workspace, stored, Inquiry::Announcements, &SourceChoice::default()).await {
        Ok(parameters) => {
            checked.findings = findings(&parameters);
            checked.failures = parameters.failures().cloned().collect();
            checked.warnings = parameters.warnings;
        }
        Err(error) => checked.failures.push(error),
    }
    checked
}

fn findings(parameters: &ApplicationParameters) -> Vec<ParameterFinding> {
    let mut found = Vec::new();
    for row in parameters.rows() {
        let suggestions = |rule| match rule {
            ProblemRule::Unannounced => row.problems.suggestions.clone(),
            _ => Vec::new(),
        };
        found.extend(row.problems.list.iter().map(|problem| ParameterFinding {
            rule: problem.rule,
            parameter: row.name.to_owned(),
            message: problem.message.clone(),
            suggestions: suggestions(problem.rule),
            source_position: row.source.position,
            source_name: row.source.name.clone(),
            location: parameters.place(&row, problem),
        }));
    }
    found
}
