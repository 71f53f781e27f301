//! Checks of applications without rendering them.

mod engines;
mod sets;

use std::pin::pin;

use futures_util::{StreamExt as _, stream};
use tiphys_engine::{GENERATE_PATHS_ANNOTATION, source_node};
use tiphys_render::{SourceProblem, SourceRule, UnselectedPaths};
use tiphys_store::{Filter, Place, Selection, StoredApplication};

pub use self::engines::{ComparedEngines, EngineComparison, compare_engines};
pub use self::sets::{CheckFinding, CheckedSets, check_sets};
use crate::context::checkouts::{self, CheckoutReport};
use crate::context::options::ApplicationSelection;
use crate::context::sets::{AnsweredQuestions, SetSelection};
use crate::context::workspace::Workspace;
use crate::error::ServiceError;
use crate::findings::{self, DocumentFinding, DocumentRule};
use crate::select;
use crate::warning::Warning;

/// A finding about an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationFinding {
    /// The application's full name.
    pub application: String,
    /// The location.
    pub place: Place,
    /// The name of the rule.
    pub rule: &'static str,
    /// Whether the application cannot be rendered or deployed. Otherwise it is a warning.
    pub is_error: bool,
    /// The message.
    pub message: String,
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct CheckedApplications {
    /// Number of applications.
    pub applications: usize,
    /// Number of their sources whose files were not looked at: charts, and those in repositories that no folder stands for.
    pub sources_elsewhere: usize,
    /// The findings, in the order of the applications.
    pub findings: Vec<ApplicationFinding>,
    /// The result for the sets of the store, if all applications are checked and there are any.
    pub sets: Option<CheckedSets>,
    /// Errors of documents, and of the projects of applications.
    pub errors: Vec<ServiceError>,
    /// Warnings about projects, and about revisions that are not what is checked out.
    pub warnings: Vec<Warning>,
}

/// Checks applications: their documents, projects, plugins, paths, value files and values without effect, and the annotation `manifest-generate-paths`; with the
/// whole store also its sets. Nothing is rendered, and no plugin runs.
pub async fn check_applications(
    workspace: &Workspace,
    selection: &ApplicationSelection,
) -> Result<CheckedApplications, ServiceError> {
    let (references, filter) = (selection.references(), selection.filter()?);
    let Selection { mut applications, errors } =
        workspace.resources.select(&references, &filter, &workspace.control_plane);
    workspace.origins.allow_file_repositories(&mut applications);
    let has_sets = references.is_empty() && !workspace.resources.sets().is_empty();
    let mut errors: Vec<ServiceError> =
        errors.iter().map(|error| select::unselectable(workspace, error)).collect();
    let followed = &workspace.followed;
    let mut warnings = followed.warnings.clone();
    errors.extend(followed.failed.iter().chain(&followed.errors).cloned());
    // Checking all sets reports those of the store.
    if !has_sets {
        errors.extend(workspace.path_sets.errors().cloned());
        warnings.extend(workspace.path_sets.warnings().cloned());
    }
    // A set that failed may generate selected ones.
    let is_about_sets =
        has_sets && (filter == Filter::default() || workspace.sets.reports.errors().next().is_some());
    if applications.is_empty() && errors.is_empty() && !is_about_sets {
        let error = select::nothing_found(workspace, selection, "check");
        if warnings.is_empty() {
            return Err(error);
        }
        errors.push(error);
    }
    warnings.extend(workspace.projects.warnings(&applications));
    let mut checked = CheckedApplications {
        applications: applications.len(),
        errors,
        warnings,
        ..CheckedApplications::default()
    };
    let checking = async {
        let checks = stream::iter(&applications).map(|stored| sources(workspace, stored));
        let mut of_sources = pin!(checks.buffered(workspace.service.jobs() * 2));
        for stored in &applications {
            checked.sources_elsewhere += workspace.renderer.sources_elsewhere(&stored.application).await;
            let is_valid = checked.document(stored, workspace.service.options().strict);
            checked.findings.extend(of_sources.next().await.into_iter().flatten());
            if !is_valid {
                continue;
            }
            match workspace.projects.check_application(stored) {
                Ok(reported) => checked.warnings.extend(reported),
                Err(error) => checked.errors.push(error),
            }
        }
        let CheckoutReport { warnings, unknown, .. } =
            checkouts::report(&workspace.renderer, &applications, &workspace.sets).await;
        checked.warnings.extend(warnings.into_iter().chain(unknown));
        checked.warnings.extend(checkouts::unused_of_workspace(workspace).await);
        if has_sets {
            checked.sets = Some(check_sets(workspace, &SetSelection::default()).await?);
        } else if references.is_empty() {
            let unused = AnsweredQuestions::new(workspace.answers.clone()).unused(true);
            checked.warnings.extend(unused.into_iter().map(Warning::new));
        }
        Ok(checked)
    };
    workspace.drained(Box::pin(checking)).await
}

impl CheckedApplications {
    /// Adds the findings about a document. Returns whether none is an error.
    fn document(&mut self, stored: &StoredApplication, is_strict: bool) -> bool {
        let mut is_valid = true;
        for DocumentFinding { place, rule, message } in findings::of_document(stored) {
            let is_error = rule.is_refusal() && is_strict;
            is_valid &= !is_error;
            let rule = match rule {
                DocumentRule::Refused | DocumentRule::NoCluster => "refused",
                DocumentRule::UnknownField => "unknown-field",
                DocumentRule::ProbableMistake => "document",
            };
            let application = stored.full_name();
            self.findings.push(ApplicationFinding { application, place, rule, is_error, message });
        }
        is_valid
    }
}

/// Returns the findings about an application's sources.
async fn sources(workspace: &Workspace, stored: &StoredApplication) -> Vec<ApplicationFinding> {
    let (renderer, application) = (&workspace.renderer, &stored.application);
    let finding = |position: usize, rule, is_error, message| {
        let node = position.checked_sub(1).and_then(|index| source_node(&stored.node, index));
        let at = node.map(|node| node.position).or(stored.place.position);
        let place = Place { position: at, ..stored.place.clone() };
        ApplicationFinding { application: stored.full_name(), place, rule, is_error, message }
    };
    // Boxed because these are large futures.
    let problems = Box::pin(renderer.source_problems(application)).await;
    let mut all: Vec<ApplicationFinding> = problems
        .into_iter()
        .map(|SourceProblem { position, rule, message }| match rule {
            SourceRule::Fails => finding(position, "source", true, message),
            SourceRule::NoEffect => finding(position, "no-effect", false, message),
            SourceRule::OverrideFile => finding(position, "override-file", false, message),
        })
        .collect();
    if application.metadata.annotations.contains_key(GENERATE_PATHS_ANNOTATION)
        && let Ok(inputs) = Box::pin(renderer.inputs(application)).await
    {
        let unselected = Box::pin(renderer.unselected_paths(application, &inputs)).await;
        all.extend(unselected.into_iter().map(|UnselectedPaths { position, paths }| {
            let paths: Vec<String> = paths.iter().map(|path| format!("/{path}")).collect();
            let message = format!(
                "{GENERATE_PATHS_ANNOTATION} does not select {}, so Argo CD misses changes there",
                paths.join(", ")
            );
            finding(position, "generate-paths", false, message)
        }));
    }
    all
}
