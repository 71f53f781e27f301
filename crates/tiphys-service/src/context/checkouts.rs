//! Meaning of the revisions of Applications in the checkouts of `--repo`: without a report, a change that is not rendered would seem to make
//! no difference.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tiphys_render::Renderer;
use tiphys_source::{CheckoutUse, GitSource, LocalCopy, redact_url};
use tiphys_store::StoredApplication;
use tiphys_tree::RepoPath;

use crate::context::overlooked::{self, overlooked};
use crate::context::project_file;
use crate::context::sets::IncludedSets;
use crate::context::workspace::Workspace;
use crate::error::{Remedy, ServiceError};
use crate::text::listed;
use crate::warning::Warning;

/// Report about the revisions of applications.
#[derive(Debug, Default)]
pub struct CheckoutReport {
    /// The branches for which the files of a checkout are used.
    pub notes: Vec<String>,
    /// The revisions that are not what is checked out.
    pub warnings: Vec<Warning>,
    /// The branches of which it is not known whether a checkout is a change of them.
    pub unknown: Vec<Warning>,
}

/// Returns what the revisions of applications mean in the checkouts of a workspace.
pub async fn checkout_report(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
) -> CheckoutReport {
    let mut report = report(&workspace.renderer, applications, &workspace.sets).await;
    report.warnings.extend(unused_of_workspace(workspace).await);
    let (options, host) = (workspace.service.options(), workspace.service.host());
    let checkouts = project_file::current_checkout(host).into_iter().collect();
    let sources = workspace.renderer.sources();
    if !overlooked::is_intended(options) {
        // An error of a directory is left to rendering to report.
        let overlooked = overlooked(sources, &checkouts, applications, options.current_checkout).await;
        report.warnings.extend(overlooked.unwrap_or_default());
    }
    report
}

/// Warns if the checkout that the caller did not name cannot be used.
pub fn unusable_checkout(workspace: &Workspace) -> Option<Warning> {
    unusable_of(&workspace.renderer)
}

fn unusable_of(renderer: &Renderer) -> Option<Warning> {
    let problem = renderer.sources().unusable_checkout()?;
    let warning = Warning::new(format!("the files of this checkout are not used: {problem}"));
    Some(warning.with_remedy(Remedy::AddRepository))
}

/// Warns about directories of `--repo` that replace no repository, unless not all applications are known.
pub(crate) async fn unused_of_workspace(workspace: &Workspace) -> Vec<Warning> {
    let resources = &workspace.resources;
    if !resources.broken().is_empty() || !workspace.sets.reports.unknown().is_empty() {
        return Vec::new();
    }
    unused_repositories(&workspace.renderer, resources.applications()).await
}

/// Warns about directories of `--repo` that replace no repository of these applications, nor one that was asked for. An error of a directory is
/// left to rendering to report.
pub(crate) async fn unused_repositories(
    renderer: &Renderer,
    applications: &[Arc<StoredApplication>],
) -> Vec<Warning> {
    let sources = renderer.sources();
    if applications.is_empty() {
        return Vec::new();
    }
    for stored in applications {
        for source in stored.application.spec.effective_sources() {
            if sources.has_copy(&source.repo_url).await.is_err() {
                return Vec::new();
            }
        }
    }
    let unused = sources.unused_copies().map(|LocalCopy { url, dir, .. }| {
        let (argument, repositories) = match url {
            Some(url) => (format!("{}={}", redact_url(url), dir.display()), "this repository"),
            None => (dir.display().to_string(), "a repository that its remotes name"),
        };
        Warning::new(format!("local copy {argument}: no application has a source of {repositories}"))
    });
    unused.collect()
}

/// Returns the error of warnings about checkouts, with an option for each.
pub(crate) fn remedied_error(warnings: &[Warning]) -> ServiceError {
    let messages: Vec<&str> = warnings.iter().map(Warning::message).collect();
    let arguments = warnings.iter().filter_map(|warning| match warning.remedy() {
        Some(Remedy::UseRepositories(arguments)) => Some(arguments),
        _ => None,
    });
    let remedy = Remedy::UseRepositories(arguments.flatten().cloned().collect());
    ServiceError::invalid_input(messages.join("; ")).with_remedy(remedy)
}

/// Returns what the revisions of applications, and of the generators of sets, mean in the checkouts of a renderer's sources. A revision that
/// cannot be read is left to rendering to report.
pub(crate) async fn report(
    renderer: &Renderer,
    applications: &[Arc<StoredApplication>],
    sets: &IncludedSets,
) -> CheckoutReport {
    let mut read: Vec<(String, GitSource, RepoPath)> = Vec::new();
    for stored in applications {
        let application = &stored.application;
        for source in application.spec.effective_sources().iter().filter(|source| source.chart.is_empty()) {
            let Ok(path) = RepoPath::new(&source.path) else { continue };
            read.push((stored.full_name(), renderer.git_source(application, source), path));
        }
    }
    for set in &sets.generated {
        let name = format!("application set {}", set.set);
        read.extend(set.repositories.iter().map(|git| (name.clone(), git.clone(), RepoPath::default())));
    }
    let mut found: BTreeMap<(CheckoutUse, String, String), Vec<String>> = BTreeMap::new();
    for (name, git, path) in read {
        let Ok(checkout_use) = renderer.sources().checkout_use(&git, &path).await else { continue };
        let revision = (checkout_use, redact_url(&git.repo_url), git.target_revision);
        let names = found.entry(revision).or_default();
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    let mut report = CheckoutReport::default();
    report.warnings.extend(unusable_of(renderer));
    for ((checkout_use, repository, revision), applications) in found {
        let names = listed(&applications);
        let warning = |dir: &Path, message| {
            let argument = format!("@{revision}={}", dir.display());
            Warning::new(message).with_remedy(Remedy::UseRepositories(vec![argument]))
        };
        match checkout_use {
            CheckoutUse::AsNamed => {}
            CheckoutUse::Switched { dir } => report.notes.push(format!(
                "{names}: what is checked out in {} is used as branch {revision:?} of {repository}",
                dir.display()
            )),
            CheckoutUse::Other { dir } => {
                let message = format!(
                    "{names}: made from {revision:?} of {repository}, not from what is checked out in {}, which differs",
                    dir.display()
                );
                report.warnings.push(warning(&dir, message));
            }
            CheckoutUse::Unknown { dir } => {
                let message = format!(
                    "{names}: it is not known whether what is checked out in {} is a change of branch {revision:?} of {repository}",
                    dir.display()
                );
                report.unknown.push(warning(&dir, message));
            }
        }
    }
    report
}
