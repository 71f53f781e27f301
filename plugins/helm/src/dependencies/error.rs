//! Errors of building dependencies, in the words of Argo CD's native support where it has some.

use std::io;
use std::path::PathBuf;

use tiphys_logins::FileError;

use super::listed::ListedError;
use crate::chart::ChartError;
use crate::helm::HelmError;
use crate::home::HomeError;
use crate::mirror::MirrorError;
use tiphys_model::access::RepoUrl;

/// Argo CD's words for a failure of `helm dependency build`.
pub(super) const BUILD_FAILED: &str = "error building helm chart dependencies: failed to build helm dependencies: failed to build dependencies: \
                                       failed running helm: `helm dependency build` failed exit status 1: Error: ";

#[derive(Debug, thiserror::Error)]
pub(crate) enum DependencyError {
    #[error("error building helm chart dependencies")]
    Chart(#[from] ChartError),
    /// A list of dependencies or a lock file is invalid.
    #[error(transparent)]
    Listed(#[from] ListedError),
    #[error("helm repos {repositories} are not permitted in project '{project}'")]
    NotPermitted { repositories: String, project: String },
    /// A directory is outside the repository.
    #[error(
        "error building helm chart dependencies: dependency {name}: {repository} leads outside of the repository; copy that chart into the \
         repository"
    )]
    Outside { name: String, repository: String },
    /// A local chart does not have its own dependencies.
    #[error(
        "error building helm chart dependencies: dependency {name} ({repository}) needs {missing}, which is missing in its directory charts; run \
         `helm dependency build` there and commit what it makes"
    )]
    Nested {
        name: String,
        repository: String,
        /// Its own missing dependency.
        missing: String,
    },
    /// A dependency in a directory depends on the chart itself.
    #[error(
        "error building helm chart dependencies: dependency {name} ({repository}) and the chart need each other; remove one of both \
         dependencies"
    )]
    Cycle { name: String, repository: String },
    /// A directory does not exist. The words are Argo CD's.
    #[error("{BUILD_FAILED}directory {path} not found")]
    NoFolder { path: String },
    /// The chart of a directory is not in the range of the dependency. The words are Argo CD's.
    #[error(
        "{BUILD_FAILED}can't get a valid version for 1 subchart(s): {name:?} (repository {repository:?}, version \
         {version:?}). Make sure a matching chart version exists in the repo, or change the version constraint in Chart.yaml"
    )]
    NoVersion { name: String, repository: String, version: String },
    /// The chart of a directory cannot be packed.
    #[error("error building helm chart dependencies: dependency {name}: {text}")]
    Unreadable { name: String, text: String },
    /// The charts are too large together.
    #[error(
        "error building helm chart dependencies: the packed charts have more than {max} bytes; commit some of them in charts/"
    )]
    TooLarge { max: u64 },
    /// A chart could not be fetched.
    #[error("error building helm chart dependencies: dependency {name}: {text}")]
    Fetch {
        name: String,
        /// The error with its causes, redacted.
        text: String,
    },
    /// Fetching is disabled. The first part is helm's message.
    #[error(
        "error building helm chart dependencies: found in Chart.yaml, but missing in charts/ directory: {name}; charts of {address} are not \
         cached, and fetching is disabled (--offline); render once without --offline, commit them in charts/, or name a folder that has \
         them (--repo URL=DIR)"
    )]
    NoNetwork { name: String, address: RepoUrl },
    /// A local directory replaces the repository and does not have the chart.
    #[error(
        "error building helm chart dependencies: found in Chart.yaml, but missing in charts/ directory: {name}; {repository} is replaced by \
         a folder (--repo URL=DIR), which has {found}, and {wanted} is required"
    )]
    NotInFolder {
        name: String,
        repository: RepoUrl,
        /// The versions of this chart in the directory.
        found: String,
        /// The version or range.
        wanted: String,
    },
    /// Unknown repository name.
    #[error(
        "error building helm chart dependencies: no repository definition for {repository}; add a Helm repository of that name, or write \
         its URL into Chart.yaml"
    )]
    UnknownName {
        /// The dependency's `repository`.
        repository: String,
    },
    /// Ambiguous repository name.
    #[error(
        "error building helm chart dependencies: {repository} is the name of two repositories, {first} and {second}; write the URL of \
         one into Chart.yaml"
    )]
    AmbiguousName { repository: String, first: RepoUrl, second: RepoUrl },
    /// The name of a registry; helm supports names only for Helm repositories.
    #[error(
        "error building helm chart dependencies: {repository} is the name of a registry; write oci://{address} into Chart.yaml"
    )]
    NamedRegistry { repository: String, address: RepoUrl },
    /// A mounted file is invalid.
    #[error("error building helm chart dependencies")]
    Mounted(#[from] FileError),
    /// An address that programs read differently.
    #[error(
        "repository {repository}: programs read different servers in its address; percent-encode the special characters of its user and \
         password"
    )]
    Ambiguous { repository: RepoUrl },
    /// Helm is missing, or its version is not supported.
    #[error("error building helm chart dependencies: only helm can fetch them")]
    NoHelm(#[source] HelmError),
    /// Helm could not fetch a chart. The words are Argo CD's.
    #[error(
        "error building helm chart dependencies: failed to build helm dependencies: failed to build dependencies: {text}"
    )]
    Build {
        /// Helm's output, redacted.
        text: String,
    },
    /// The copy for helm failed.
    #[error("error building helm chart dependencies")]
    Mirror(#[from] MirrorError),
    /// The result cannot be read.
    #[error("error building helm chart dependencies: cannot read {path}", path = path.display())]
    Charts {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A file in the home of this run failed.
    #[error(transparent)]
    Home(#[from] HomeError),
}
