//! Why a source could not be had.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tiphys_process::ToolError;
use tiphys_tree::{PathError, ReadError, RepoPath, StoreError, WriteError};

use crate::ChartError;

/// Why a source could not be had. URLs in it are masked, and it never holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Not a URL that git is asked for.
    #[error("repository {repository:?} cannot be fetched: {reason}")]
    Url {
        /// The URL.
        repository: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A repository of this machine that an application of a repository, or a submodule, may not name.
    #[error(
        "repository {repository} is on this machine; an Application from a repository, or a submodule, may name only file:// \
         repositories below a directory of --repo or --allow-file-repositories, and none that uses the objects of another one"
    )]
    FileRepository {
        /// The URL.
        repository: String,
    },
    /// A clone in the cache, which holds what was fetched for other projects.
    #[error(
        "repository {repository} is in the cache directory, where fetched repositories of all projects are; name its own URL"
    )]
    InCache {
        /// The URL.
        repository: String,
    },
    /// The server knows no such repository, or does not show it.
    #[error(
        "repository {repository} was not found; check the URL, and whether it needs credentials ({tried}): {detail}"
    )]
    MissingRepository {
        /// The URL.
        repository: String,
        /// Which credentials were used.
        tried: String,
        /// What git said.
        detail: String,
    },
    /// The repository has no such revision.
    #[error("repository {repository} has no revision {revision:?}{hint}")]
    MissingRevision {
        /// The URL, or the folder that stands for it.
        repository: String,
        /// As it was asked for.
        revision: String,
        /// Names that are close, or what else may help; empty or beginning with a separator.
        hint: String,
    },
    /// An abbreviated commit that several commits begin with.
    #[error("revision {revision:?} of repository {repository} is short for more than one commit: {}", .candidates.join(", "))]
    AmbiguousRevision {
        /// The URL, or the folder that stands for it.
        repository: String,
        /// As it was asked for.
        revision: String,
        /// Some of the commits.
        candidates: Vec<String>,
    },
    /// Two revisions that have no commit in common.
    #[error(
        "repository {repository} has no commit from which both {revision:?} and what is checked out come{hint}"
    )]
    NoMergeBase {
        /// The folder.
        repository: String,
        /// As it was asked for.
        revision: String,
        /// What may help; empty or beginning with a separator.
        hint: &'static str,
    },
    /// The server wants other credentials.
    #[error("repository {repository} refused access; tried {tried}; {remedy}: {detail}")]
    Credentials {
        /// The URL.
        repository: String,
        /// Which credentials were used.
        tried: String,
        /// What to set.
        remedy: &'static str,
        /// What git said.
        detail: String,
    },
    /// Whoever asked has given up meanwhile.
    #[error("fetching from {repository} was interrupted")]
    Interrupted {
        /// The repository.
        repository: String,
    },
    /// The network is not to be used, and the cache does not have it.
    #[error(
        "{what} of repository {repository} is not in the cache, and --offline forbids to fetch it; run once without --offline, or let a folder stand for the repository with --repo URL=DIR"
    )]
    Offline {
        /// The URL.
        repository: String,
        /// What is missing.
        what: String,
    },
    /// The server could not be reached.
    #[error(
        "repository {repository} could not be reached; --offline renders what was fetched before: {detail}"
    )]
    Unreachable {
        /// The URL.
        repository: String,
        /// What git said.
        detail: String,
    },
    /// Fetching took too long.
    #[error("{action} repository {repository} did not end within {timeout:?}{}", option.map(|option| format!("; see {option}")).unwrap_or_default())]
    Timeout {
        /// The URL.
        repository: String,
        /// What was done.
        action: &'static str,
        /// The bound.
        timeout: Duration,
        /// The option that sets it, if one does.
        option: Option<&'static str>,
    },
    /// Git failed in another way.
    #[error("git failed for repository {repository}: {detail}")]
    Git {
        /// The URL or folder.
        repository: String,
        /// What git said.
        detail: String,
    },
    /// Git could not be run.
    #[error("cannot run git; install git {minimum} or newer and put it on PATH")]
    NoGit {
        /// The oldest version that will do.
        minimum: &'static str,
        /// What happened.
        #[source]
        source: ToolError,
    },
    /// Git is too old.
    #[error("git {found} is too old; install git {minimum} or newer")]
    OldGit {
        /// What `git --version` says.
        found: String,
        /// The oldest version that will do.
        minimum: &'static str,
    },
    /// Objects of a repository could not be read.
    #[error("cannot read objects of repository {repository}; --refresh fetches them again: {detail}")]
    Objects {
        /// The URL or folder.
        repository: String,
        /// What is wrong.
        detail: String,
    },
    /// The cache's objects of a repository are damaged, or were to be fetched again, and a fresh store could not take their
    /// place.
    #[error(
        "the cached objects of repository {repository} could not be replaced by fresh ones; if this goes on, delete {dir}",
        dir = .dir.display()
    )]
    Damaged {
        /// The URL.
        repository: String,
        /// The folder with the objects.
        dir: PathBuf,
        /// What happened.
        #[source]
        source: Box<SourceError>,
    },
    /// A name, or where a link leads, is no path, or no text.
    #[error("repository {repository} holds a file whose name cannot be used: {name}; rename it")]
    Name {
        /// The URL or folder.
        repository: String,
        /// The name, with escapes if it is no text.
        name: String,
    },
    /// A submodule could not be had.
    #[error("submodule {path} of repository {repository}")]
    Submodule {
        /// Where it is mounted.
        path: String,
        /// The superproject.
        repository: String,
        /// Why.
        #[source]
        source: Box<SourceError>,
    },
    /// The repository says something about a submodule that does not hold.
    #[error("{problem}")]
    SubmoduleConfiguration {
        /// What.
        problem: String,
    },
    /// A file under the application's path is kept in Git LFS.
    #[error(
        "{file} of repository {repository} is a Git LFS pointer and its content is elsewhere; Git LFS is not supported below the application's path{others}"
    )]
    LfsPointer {
        /// The URL or folder.
        repository: String,
        /// The first such file.
        file: RepoPath,
        /// How many more there are; empty for none.
        others: String,
    },
    /// A folder that is to stand for a repository does not.
    #[error("--repo {dir}: {problem}", dir = .dir.display())]
    Copy {
        /// The folder.
        dir: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A git repository on this machine cannot be used.
    #[error("{dir}: {problem}", dir = .dir.display())]
    LocalRepository {
        /// Its folder.
        dir: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A path of a work tree cannot be read at another revision.
    #[error("repository {repository}")]
    PastPath {
        /// The top of the work tree.
        repository: String,
        /// Why.
        #[source]
        source: ReadError,
    },
    /// A file of such a folder could not be read.
    #[error("cannot read {path}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
    /// The cache could not be used.
    #[error("cannot {action} {path}; choose another folder with --cache-dir", path = .path.display())]
    Cache {
        /// What was tried, as an infinitive.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
    /// What has failed before in this command, and was not tried again.
    #[error(transparent)]
    Before(Arc<SourceError>),
    /// A chart could not be had.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// A path in a repository, or in its `.gitmodules`, does not stay in it.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The tree could not be written.
    #[error("tree of repository {repository}")]
    Tree {
        /// The URL or folder.
        repository: String,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// The store failed where no repository is known.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<WriteError> for SourceError {
    fn from(error: WriteError) -> Self {
        Self::Store(StoreError::Write(error))
    }
}

impl SourceError {
    /// A name that cannot be used.
    pub(crate) fn name(repository: &str, name: &[u8]) -> Self {
        let text = std::str::from_utf8(name).map(str::to_owned);
        let name = text.unwrap_or_else(|_| format!("\"{}\"", name.escape_ascii()));
        Self::Name { repository: repository.to_owned(), name }
    }

    /// Names the option that sets the bound, if a bound was passed.
    pub(crate) fn bounded_by(self, bounding: &'static str) -> Self {
        match self {
            Self::Timeout { repository, action, timeout, option: _ } => {
                Self::Timeout { repository, action, timeout, option: Some(bounding) }
            }
            other => other,
        }
    }

    pub(crate) fn cache(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Cache { action, path: path.to_path_buf(), source }
    }

    /// Names the repository where only the store is known to have failed.
    pub(crate) fn of(self, repository: &str) -> Self {
        match self {
            Self::Store(source) => Self::Tree { repository: repository.to_owned(), source },
            other => other,
        }
    }
}
