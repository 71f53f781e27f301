//! Checkouts that look like a copy of the Applications' repository and stand for none of them: without a report, their changes would seem to
//! make no difference.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_model::access::RepoUrl;
use tiphys_source::{SourceError, Sources, normalize_git_url};
use tiphys_store::StoredApplication;
use tiphys_tree::RepoPath;

use crate::context::options::{CurrentCheckout, ServiceOptions};
use crate::error::Remedy;
use crate::warning::Warning;

/// Repositories of this machine, of which no other folder is a fork.
const FILE_SCHEME: &str = "file://";

/// Why a checkout seems to be a copy of a repository; the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CopyEvidence {
    /// One of its remotes is the repository.
    Remote,
    /// One of its remotes has the repository's name and another owner, as that of a fork has.
    Name,
    /// It has most paths of the Applications' sources.
    Paths,
}

/// Use of a repository by Applications.
#[derive(Debug, Default)]
struct UsedRepository {
    shown: String,
    /// The URL for an option.
    url: String,
    sources: usize,
    paths: BTreeSet<RepoPath>,
    /// The directories that stand for it.
    directories: BTreeSet<PathBuf>,
}

/// Returns a warning for each checkout of which no application is made although it looks like a copy of their repository.
pub(crate) async fn overlooked(
    sources: &Sources,
    checkouts: &BTreeSet<PathBuf>,
    applications: &[Arc<StoredApplication>],
    current: CurrentCheckout,
) -> Result<Vec<Warning>, SourceError> {
    let mut repositories: BTreeMap<String, UsedRepository> = BTreeMap::new();
    for stored in applications {
        for source in stored.application.spec.effective_sources().iter().filter(|one| one.chart.is_empty()) {
            let one = repositories.entry(normalize_git_url(&source.repo_url)).or_default();
            if one.sources == 0 {
                one.shown = source.shown_repository();
                one.url = RepoUrl::new(&source.repo_url).without_credentials();
                one.directories.extend(sources.directories_of(&source.repo_url).await?);
            }
            one.sources += 1;
            one.paths.extend(RepoPath::new(&source.path).ok().filter(|path| !path.is_root()));
        }
    }
    let used: BTreeSet<&PathBuf> = repositories.values().flat_map(|one| &one.directories).collect();
    let mut warnings = Vec::new();
    for top in checkouts.iter().filter(|top| !used.contains(top)) {
        let remotes = sources.remotes(top).await?;
        let is_of_it = |url: &str| remotes.iter().any(|remote| remote == url);
        let evidence = |url: &String, one: &UsedRepository| {
            if one.directories.is_empty() {
                return evidence(top, &remotes, url, one);
            }
            // The caller has not chosen the checkout that stands for it, and the store is in another one.
            (current == CurrentCheckout::Used && is_of_it(url)).then_some(CopyEvidence::Remote)
        };
        let likely = repositories
            .iter()
            .filter_map(|(url, one)| Some((evidence(url, one)?, url, one)))
            .min_by_key(|(evidence, ..)| *evidence);
        warnings.extend(likely.map(|(evidence, _, one)| warning(top, evidence, one)));
    }
    Ok(warnings)
}

/// Whether the caller wants no directory to stand for a repository.
pub(crate) fn is_intended(options: &ServiceOptions) -> bool {
    options.current_checkout == CurrentCheckout::Unused && options.repositories.is_empty()
}

fn evidence(top: &Path, remotes: &[String], url: &str, one: &UsedRepository) -> Option<CopyEvidence> {
    if remotes.iter().any(|remote| remote == url) {
        Some(CopyEvidence::Remote)
    } else if url.starts_with(FILE_SCHEME) {
        None
    } else if remotes.iter().any(|remote| repository_name(remote) == repository_name(url)) {
        Some(CopyEvidence::Name)
    } else {
        // A change may remove some.
        let existing = one.paths.iter().filter(|path| top.join(path.as_str()).is_dir()).count();
        (existing > 0 && existing * 2 >= one.paths.len()).then_some(CopyEvidence::Paths)
    }
}

/// Returns the last part of a normalised URL.
fn repository_name(url: &str) -> &str {
    url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(url)
}

fn warning(top: &Path, evidence: CopyEvidence, one: &UsedRepository) -> Warning {
    let UsedRepository { shown, url, sources, .. } = one;
    let count = match sources {
        1 => "one source of an application is".to_owned(),
        count => format!("{count} sources of applications are"),
    };
    let checkout = top.display();
    let (what, argument) = match evidence {
        CopyEvidence::Remote => ("is a checkout of it", checkout.to_string()),
        CopyEvidence::Name => ("is a checkout of a repository of the same name", format!("{url}={checkout}")),
        CopyEvidence::Paths => ("has the same paths", format!("{url}={checkout}")),
    };
    let message = format!(
        "{count} made from {shown}, and no application from {checkout}, which {what}: what is changed in it has no effect"
    );
    Warning::new(message).with_remedy(Remedy::UseRepositories(vec![argument]))
}
