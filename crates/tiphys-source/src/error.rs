//! Errors of sources.

mod chart;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tiphys_model::limits::Limit;
use tiphys_process::ToolError;
use tiphys_tree::{PathError, ReadError, RepoPath, StoreError, WriteError};

pub use chart::ChartError;

/// The error of a source that could not be resolved, fetched or read. URLs are redacted, and it contains no secrets.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Git cannot fetch from the URL.
    #[error("repository {repository:?} cannot be fetched: {reason}")]
    Url {
        /// The URL.
        repository: String,
        /// The problem.
        reason: &'static str,
    },
    /// A repository of this machine that is not permitted for Applications from repositories and for submodules.
    #[error(
        "repository {repository} is on this machine; an Application from a repository, or a submodule, may name only file:// \
         repositories below a folder that the caller allows, and none that uses the objects of another one"
    )]
    FileRepository {
        /// The URL.
        repository: String,
    },
    /// A clone in the cache. It may belong to another project.
    #[error(
        "repository {repository} is in the cache directory, where fetched repositories of all projects are; name its own URL"
    )]
    InCache {
        /// The URL.
        repository: String,
    },
    /// The server has no such repository, or denies access.
    #[error(
        "repository {repository} was not found; check the URL, and whether it needs credentials ({tried}): {detail}"
    )]
    MissingRepository {
        /// The URL.
        repository: String,
        /// The credentials that were used.
        tried: String,
        /// Git's standard error.
        detail: String,
    },
    /// The repository has no such revision.
    #[error("repository {repository} has no revision {revision:?}{hint}")]
    MissingRevision {
        /// The URL or the local copy.
        repository: String,
        /// The requested revision.
        revision: String,
        /// Similar names, or a remedy; empty or beginning with a separator.
        hint: String,
    },
    /// An abbreviated commit that several commits begin with.
    #[error("revision {revision:?} of repository {repository} is short for more than one commit: {}", .candidates.join(", "))]
    AmbiguousRevision {
        /// The URL or the local copy.
        repository: String,
        /// The requested revision.
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
        /// The requested revision.
        revision: String,
        /// A remedy; empty or beginning with a separator.
        hint: &'static str,
    },
    /// The server denied access.
    #[error("repository {repository} refused access; tried {tried}; {remedy}: {detail}")]
    Credentials {
        /// The URL.
        repository: String,
        /// The credentials that were used.
        tried: String,
        /// The remedy.
        remedy: &'static str,
        /// Git's standard error.
        detail: String,
    },
    /// The request was cancelled.
    #[error("fetching from {repository} was interrupted")]
    Interrupted {
        /// The repository.
        repository: String,
    },
    /// The cache does not have the object, and the network may not be used.
    #[error("{what} of repository {repository} is not in the cache, and the network must not be used")]
    Offline {
        /// The URL.
        repository: String,
        /// The missing object.
        what: String,
    },
    /// The server could not be reached.
    #[error("repository {repository} could not be reached: {detail}")]
    Unreachable {
        /// The URL.
        repository: String,
        /// Git's standard error.
        detail: String,
    },
    /// A fetch or look-up timed out.
    #[error("{action} repository {repository} did not end within {timeout:?}")]
    Timeout {
        /// The URL.
        repository: String,
        /// The operation.
        action: &'static str,
        /// The maximum duration.
        timeout: Duration,
        /// The limit that sets the duration, if one does.
        #[source]
        limit: Option<Limit>,
    },
    /// Git failed in another way.
    #[error("git failed for repository {repository}: {detail}")]
    Git {
        /// The URL or folder.
        repository: String,
        /// Git's standard error.
        detail: String,
    },
    /// Git could not be run.
    #[error("cannot run git; install git {minimum} or newer and put it on PATH")]
    NoGit {
        /// The oldest supported version.
        minimum: &'static str,
        /// The cause.
        #[source]
        source: ToolError,
    },
    /// Git is too old.
    #[error("git {found} is too old; install git {minimum} or newer")]
    OldGit {
        /// The output of `git --version`.
        found: String,
        /// The oldest supported version.
        minimum: &'static str,
    },
    /// Objects of a repository could not be read.
    #[error("cannot read objects of repository {repository}: {detail}")]
    Objects {
        /// The URL or folder.
        repository: String,
        /// The problem.
        detail: String,
    },
    /// The cached objects of a repository are damaged, or to be fetched again, and could not be replaced.
    #[error(
        "the cached objects of repository {repository} could not be replaced by fresh ones; if this goes on, delete {dir}",
        dir = .dir.display()
    )]
    Damaged {
        /// The URL.
        repository: String,
        /// The directory of the objects.
        dir: PathBuf,
        /// The cause.
        #[source]
        source: Box<SourceError>,
    },
    /// A file name or the target of a link is invalid or not UTF-8.
    #[error("repository {repository} holds a file whose name cannot be used: {name}; rename it")]
    Name {
        /// The URL or folder.
        repository: String,
        /// The name, escaped if it is not UTF-8.
        name: String,
    },
    /// A submodule could not be fetched or read.
    #[error("submodule {path} of repository {repository}")]
    Submodule {
        /// Its path.
        path: String,
        /// The superproject.
        repository: String,
        /// The cause.
        #[source]
        source: Box<SourceError>,
    },
    /// The configuration of a submodule is invalid.
    #[error("{problem}")]
    SubmoduleConfiguration {
        /// The problem.
        problem: String,
    },
    /// A file below the application's path is a Git LFS pointer.
    #[error(
        "{file} of repository {repository} is a Git LFS pointer and its content is elsewhere; Git LFS is not supported below the application's path{others}"
    )]
    LfsPointer {
        /// The URL or folder.
        repository: String,
        /// The first such file.
        file: RepoPath,
        /// The number of further files; empty for none.
        others: String,
    },
    /// A local copy is invalid.
    #[error("local copy {dir}: {problem}", dir = .dir.display())]
    Copy {
        /// The folder.
        dir: PathBuf,
        /// The problem and the remedy.
        problem: String,
    },
    /// A git repository on this machine cannot be used.
    #[error("{dir}: {problem}", dir = .dir.display())]
    LocalRepository {
        /// Its folder.
        dir: PathBuf,
        /// The problem and the remedy.
        problem: String,
    },
    /// A path of a work tree cannot be read at another revision.
    #[error("repository {repository}")]
    PastPath {
        /// The top of the work tree.
        repository: String,
        /// The cause.
        #[source]
        source: ReadError,
    },
    /// A file of a local copy could not be read.
    #[error("cannot read {path}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The cache could not be used.
    #[error("cannot {action} {path}", path = .path.display())]
    Cache {
        /// The operation, as an infinitive.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// An operation that failed before, and was not repeated for this caller.
    #[error(transparent)]
    Before(Arc<SourceError>),
    /// A chart could not be resolved or downloaded.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// A path in a repository, or in its `.gitmodules`, leads out of it.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The tree could not be written.
    #[error("tree of repository {repository}")]
    Tree {
        /// The URL or folder.
        repository: String,
        /// The cause.
        #[source]
        source: StoreError,
    },
    /// The store failed for an unknown repository.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SourceError {
    /// Whether the files of a revision are the cause, so that another revision may be readable.
    pub fn is_of_files(&self) -> bool {
        match self {
            Self::Name { .. } | Self::Path(_) | Self::LfsPointer { .. } | Self::PastPath { .. } => true,
            Self::Tree { source: StoreError::Write(error), .. } => !matches!(error, WriteError::Io { .. }),
            _ => false,
        }
    }
}

impl From<WriteError> for SourceError {
    fn from(error: WriteError) -> Self {
        Self::Store(StoreError::Write(error))
    }
}

impl SourceError {
    /// Creates the error of an invalid file name.
    pub(crate) fn name(repository: &str, name: &[u8]) -> Self {
        let text = std::str::from_utf8(name).map(str::to_owned);
        let name = text.unwrap_or_else(|_| format!("\"{}\"", name.escape_ascii()));
        Self::Name { repository: repository.to_owned(), name }
    }

    /// Whether the server could not be reached, which fails all its repositories.
    pub fn is_of_server(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Timeout { limit, .. } => *limit == Some(Limit::LOOKUP_TIMEOUT),
            Self::Submodule { source, .. } | Self::Damaged { source, .. } => source.is_of_server(),
            Self::Before(source) => source.is_of_server(),
            _ => false,
        }
    }

    /// Adds the limit that sets the duration to a timeout.
    pub(crate) fn limited_by(self, limit: Limit) -> Self {
        match self {
            Self::Timeout { repository, action, timeout, limit: _ } => {
                Self::Timeout { repository, action, timeout, limit: Some(limit) }
            }
            other => other,
        }
    }

    pub(crate) fn cache(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Cache { action, path: path.to_path_buf(), source }
    }

    /// Adds the repository to an error of the store.
    pub(crate) fn of(self, repository: &str) -> Self {
        match self {
            Self::Store(source) => Self::Tree { repository: repository.to_owned(), source },
            other => other,
        }
    }
}
