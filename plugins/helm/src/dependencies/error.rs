//! Why dependencies are still missing, in the words of Argo CD's native support where it has some.

use std::io;
use std::path::PathBuf;

use tiphys_logins::{FileError, HelperError};

use super::listed::ListedError;
use crate::chart::ChartError;
use crate::home::HomeError;
use crate::mirror::MirrorError;
use tiphys_access::RepoUrl;

/// Why dependencies are still missing. The texts are Argo CD's where it has some.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DependencyError {
    /// A file of the chart.
    #[error("error building helm chart dependencies")]
    Chart(#[from] ChartError),
    /// Its list of dependencies, or its lock file.
    #[error(transparent)]
    Listed(#[from] ListedError),
    /// The project does not permit repositories.
    #[error("helm repos {repositories} are not permitted in project '{project}'")]
    NotPermitted {
        /// Their addresses.
        repositories: String,
        /// The project.
        project: String,
    },
    /// A folder outside.
    #[error(
        "error building helm chart dependencies: dependency {name}: {repository} leads outside of the repository; copy that chart into the \
         repository"
    )]
    Outside {
        /// The dependency.
        name: String,
        /// Its `repository`.
        repository: String,
    },
    /// A folder that is not whole.
    #[error(
        "error building helm chart dependencies: dependency {name} ({repository}) needs {missing}, which is not in its folder charts; run \
         `helm dependency build` there and commit what it makes"
    )]
    Nested {
        /// The dependency.
        name: String,
        /// Its `repository`.
        repository: String,
        /// Its own dependency.
        missing: String,
    },
    /// A chart that was fetched and is none, of which helm tells on standard output alone, and ends well.
    #[error(
        "error building helm chart dependencies: dependency {name} ({repository}) is not there after `helm dependency build`{}; look at \
         what that repository serves",
        cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default()
    )]
    NotBuilt {
        /// The dependency.
        name: String,
        /// Its `repository`.
        repository: RepoUrl,
        /// Helm's words on the file, if it said some.
        cause: Option<String>,
    },
    /// A repository where nothing may be fetched.
    #[error(
        "error building helm chart dependencies: charts of {address} were not built before, and nothing may be fetched (--offline); render \
         once without --offline, or commit them in charts/"
    )]
    NoNetwork {
        /// Its address.
        address: RepoUrl,
    },
    /// A name that nobody knows.
    #[error(
        "error building helm chart dependencies: no repository definition for {repository}; add a Helm repository of that name, or write \
         its URL into Chart.yaml"
    )]
    UnknownName {
        /// The dependency's `repository`.
        repository: String,
    },
    /// A name of several.
    #[error(
        "error building helm chart dependencies: {repository} is the name of two repositories, {first} and {second}; write the URL of \
         one into Chart.yaml"
    )]
    AmbiguousName {
        /// The dependency's `repository`.
        repository: String,
        /// One address.
        first: RepoUrl,
        /// Another.
        second: RepoUrl,
    },
    /// A name of a registry, which helm has only for Helm repositories.
    #[error(
        "error building helm chart dependencies: {repository} is the name of a registry; write oci://{address} into Chart.yaml"
    )]
    NamedRegistry {
        /// The dependency's `repository`.
        repository: String,
        /// The registry's address.
        address: RepoUrl,
    },
    /// Repositories that helm cannot use in one call.
    #[error(
        "error building helm chart dependencies: {first} and {second} differ in {what}, and helm has one setting for both; commit one of \
         the dependencies in charts/"
    )]
    Differing {
        /// In what.
        what: &'static str,
        /// One address.
        first: RepoUrl,
        /// Another.
        second: RepoUrl,
    },
    /// A program that has a login.
    #[error("error building helm chart dependencies")]
    Helper(#[from] HelperError),
    /// A mounted file.
    #[error("error building helm chart dependencies")]
    Mounted(#[from] FileError),
    /// A repository that gives no index. Argo CD adds each by a command of its own; the text is what that would say.
    #[error(
        "error building helm chart dependencies: failed to add helm repository {address}: failed to add repository: failed running helm: \
         `helm repo add {name} {address}` failed exit status 1: Error: looks like \"{address}\" is not a valid chart repository or cannot \
         be reached: {cause}"
    )]
    Unreachable {
        /// Its URL.
        address: String,
        /// Its name.
        name: String,
        /// Helm's words.
        cause: String,
    },
    /// `helm dependency build` failed.
    #[error(
        "error building helm chart dependencies: failed to build helm dependencies: failed to build dependencies: {text}"
    )]
    Build {
        /// What it said, cleaned.
        text: String,
    },
    /// The copy in which it runs.
    #[error("error building helm chart dependencies")]
    Mirror(#[from] MirrorError),
    /// What it made cannot be read.
    #[error("error building helm chart dependencies: cannot read {path}", path = path.display())]
    Charts {
        /// The folder.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A file of this program's own.
    #[error(transparent)]
    Home(#[from] HomeError),
}
