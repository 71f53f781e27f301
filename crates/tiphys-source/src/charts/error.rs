//! Why a chart could not be had.

use std::sync::Arc;
use std::time::Duration;

use tiphys_logins::{FileError, HelperError};
use tiphys_tree::archive::ArchiveError;

/// Why a chart could not be had. URLs in it are masked, and it never holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The repository has no such chart, or not in this version. The beginning is helm's.
    #[error("chart {chart:?} version {version:?} not found in {repository} repository{hint}")]
    Missing {
        /// The chart's name.
        chart: String,
        /// As it was asked for.
        version: String,
        /// The repository.
        repository: String,
        /// What there is; empty or beginning with a separator.
        hint: String,
    },
    /// The target revision is no version and no range, or no version is in the range. The words are Argo CD's.
    #[error("invalid revision: {reason}")]
    Revision {
        /// What is wrong.
        reason: String,
    },
    /// The repository's URL is none that charts are fetched from.
    #[error("repository {repository:?} cannot be fetched from: {reason}")]
    Address {
        /// The URL.
        repository: String,
        /// What is wrong, and what to write.
        reason: &'static str,
    },
    /// The repository's `index.yaml`, or what a registry answered, is not what it should be.
    #[error("{what} of repository {repository} cannot be used: {problem}")]
    Answer {
        /// `index.yaml`, or what was asked for.
        what: String,
        /// The repository.
        repository: String,
        /// What is wrong.
        problem: String,
    },
    /// Another server than the repository's own took too long.
    #[error(
        "{action} repository {repository} did not end within {timeout:?}; see {option}: it waited for {server}"
    )]
    Timeout {
        /// The repository.
        repository: String,
        /// What was done.
        action: &'static str,
        /// The bound.
        timeout: Duration,
        /// The option that sets it.
        option: &'static str,
        /// The server, and who led there.
        server: String,
    },
    /// More bytes than are allowed.
    #[error("{what} of repository {repository} has more than {max} bytes; see {option}")]
    TooLarge {
        /// What.
        what: String,
        /// The repository.
        repository: String,
        /// The bound.
        max: u64,
        /// The option that sets it.
        option: &'static str,
    },
    /// What came is not what the repository says it is.
    #[error(
        "{what} of repository {repository} has the digest {found}, and should have {expected}; it was changed, or did not come whole"
    )]
    Digest {
        /// What.
        what: String,
        /// The repository.
        repository: String,
        /// The digest that was found.
        found: String,
        /// The digest that the repository names.
        expected: String,
    },
    /// A link in the chart leads out of it. The words are Argo CD's.
    #[error("{what} contains out-of-bounds symlinks. file: {file}")]
    LinkOutside {
        /// `chart`, or `oci image`.
        what: &'static str,
        /// The link's path.
        file: String,
    },
    /// The archive has nothing below the folder that the chart is in.
    #[error("{what} has no folder {folder:?} with the chart; it is no chart that `helm package` made")]
    NoFolder {
        /// The archive.
        what: String,
        /// The folder.
        folder: String,
    },
    /// A file with logins of the person who asks.
    #[error("logins for repository {repository}")]
    LoginFile {
        /// The repository.
        repository: String,
        /// Why.
        #[source]
        source: Arc<FileError>,
    },
    /// A credential helper of the person who asks.
    #[error("login to repository {repository}")]
    Helper {
        /// The repository.
        repository: String,
        /// Why.
        #[source]
        source: Arc<HelperError>,
    },
    /// The archive cannot be unpacked.
    #[error("cannot unpack {what}")]
    Archive {
        /// The archive.
        what: String,
        /// Why.
        #[source]
        source: ArchiveError,
    },
}
