//! What the revisions of Applications mean in the checkouts of `--repo`: without a report, a change that is not rendered would seem to make
//! no difference.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tiphys_render::Renderer;
use tiphys_source::{CheckoutUse, GitSource, Sources};
use tiphys_store::StoredApplication;
use tiphys_tree::RepoPath;

use crate::compare::failed;
use crate::error::{Remedy, ServiceError};
use crate::text::listed;
use crate::warning::Warning;
use crate::workspace::Workspace;

/// What is reported about the revisions of applications.
#[derive(Debug, Default)]
pub struct CheckoutReport {
    /// The branches for which the files of a checkout are used.
    pub notes: Vec<String>,
    /// The revisions that are not what is checked out.
    pub warnings: Vec<Warning>,
    /// The branches of which it is not known whether a checkout is a change of them.
    pub unknown: Vec<Warning>,
}

/// A revision of a repository that means something else than it names, or than what is checked out.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Reported {
    what: What,
    /// The redacted URL.
    repository: String,
    revision: String,
    dir: PathBuf,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Switched,
    Other,
    Unknown,
}

/// Returns what the revisions of applications mean in the checkouts of a workspace.
pub async fn checkout_report(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
) -> Result<CheckoutReport, ServiceError> {
    report(&workspace.renderer, workspace.renderer.sources(), applications).await
}

/// Returns what the revisions of applications mean in the checkouts of these sources.
pub(crate) async fn report(
    renderer: &Renderer,
    sources: &Sources,
    applications: &[Arc<StoredApplication>],
) -> Result<CheckoutReport, ServiceError> {
    let mut found: BTreeMap<Reported, Vec<String>> = BTreeMap::new();
    for stored in applications {
        let application = &stored.application;
        for source in application.spec.effective_sources().iter().filter(|source| source.chart.is_empty()) {
            let Ok(path) = RepoPath::new(&source.path) else { continue };
            let git = GitSource {
                project: renderer.context_project(application.spec.project_name()),
                file_repositories: application.file_repositories,
                repo_url: source.repo_url.clone(),
                target_revision: source.target_revision.clone(),
            };
            let (what, dir) = match sources.checkout_use(&git, &path).await {
                Ok(CheckoutUse::Switched { dir }) => (What::Switched, dir),
                Ok(CheckoutUse::Other { dir }) => (What::Other, dir),
                Ok(CheckoutUse::Unknown { dir }) => (What::Unknown, dir),
                Ok(CheckoutUse::AsNamed) => continue,
                Err(error) => return Err(failed(&error)),
            };
            let revision = source.target_revision.clone();
            let reported = Reported { what, repository: source.shown_repository(), revision, dir };
            found.entry(reported).or_default().push(stored.full_name());
        }
    }
    let mut report = CheckoutReport::default();
    for (Reported { what, repository, revision, dir }, applications) in found {
        let (dir, names) = (dir.display(), listed(&applications));
        let remedy = Remedy::UseRepository(format!("@{revision}={dir}"));
        let warning = |message| Warning::new(message).with_remedy(remedy);
        match what {
            What::Switched => report.notes.push(format!(
                "{names}: what is checked out in {dir} is used as branch {revision:?} of {repository}"
            )),
            What::Other => report.warnings.push(warning(format!(
                "{names}: made from {revision:?} of {repository}, not from what is checked out in {dir}, which differs"
            ))),
            What::Unknown => report.unknown.push(warning(format!(
                "{names}: it is not known whether what is checked out in {dir} is a change of branch {revision:?} of {repository}"
            ))),
        }
    }
    Ok(report)
}
