//! Errors of charts.

use std::sync::Arc;
use std::time::Duration;

use tiphys_logins::{FileError, HelperError};
use tiphys_model::limits::Limit;
use tiphys_tree::archive::ArchiveError;

/// The error of a chart that could not be resolved or downloaded. URLs are redacted, and it contains no secrets.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The chart, or its version, was not found. The beginning of the message is helm's.
    #[error("chart {chart:?} version {version:?} not found in {repository} repository{hint}")]
    Missing {
        /// The chart's name.
        chart: String,
        /// The requested version.
        version: String,
        /// The repository.
        repository: String,
        /// Existing versions; empty or beginning with a separator.
        hint: String,
    },
    /// The revision of an artefact was not found.
    #[error("repository {repository} has no tag or digest {revision:?}; check targetRevision")]
    MissingRevision {
        /// The requested revision.
        revision: String,
        /// The repository.
        repository: String,
    },
    /// The target revision is not a version or range, or no version matches the range. The message is Argo CD's.
    #[error("invalid revision: {reason}")]
    Revision {
        /// The problem.
        reason: String,
    },
    /// Charts cannot be fetched from the URL.
    #[error("repository {repository:?} cannot be fetched from: {reason}")]
    Address {
        /// The URL.
        repository: String,
        /// The problem and the expected form.
        reason: &'static str,
    },
    /// The repository's `index.yaml`, or the response of a registry, is invalid.
    #[error("{what} of repository {repository} cannot be used: {problem}")]
    Answer {
        /// `index.yaml`, or the requested object.
        what: String,
        /// The repository.
        repository: String,
        /// The problem.
        problem: String,
    },
    /// A server other than the repository's own timed out.
    #[error("{action} repository {repository} did not end within {timeout:?}: it waited for {server}")]
    Timeout {
        /// The repository.
        repository: String,
        /// The operation.
        action: &'static str,
        /// The maximum duration.
        timeout: Duration,
        /// The server, and the server that redirects to it.
        server: String,
        /// The limit that sets the duration.
        #[source]
        limit: Limit,
    },
    /// A response that is too large.
    #[error("{what} of repository {repository} has more than {max} {unit}")]
    TooLarge {
        /// The object.
        what: String,
        /// The repository.
        repository: String,
        /// The maximum number.
        max: u64,
        /// The unit of the maximum.
        unit: &'static str,
        /// The limit that sets the maximum.
        #[source]
        limit: Limit,
    },
    /// The content has another digest than the repository names.
    #[error(
        "{what} of repository {repository} has the digest {found}, and should have {expected}; it was changed, or did not come whole"
    )]
    Digest {
        /// The object.
        what: String,
        /// The repository.
        repository: String,
        /// The digest of the content.
        found: String,
        /// The digest that the repository names.
        expected: String,
    },
    /// A link leads out of the chart. The message is Argo CD's.
    #[error("{what} contains out-of-bounds symlinks. file: {file}")]
    LinkOutside {
        /// `chart`, or `oci image`.
        what: &'static str,
        /// The link's path.
        file: String,
    },
    /// The archive has no directory of the chart's name.
    #[error("{what} has no {folder} with the chart; it was not made with `helm package`")]
    NoFolder {
        /// The archive.
        what: String,
        /// `folder`, with the name that it must have.
        folder: String,
    },
    /// A file with the user's credentials.
    #[error("logins for repository {repository}")]
    LoginFile {
        /// The repository.
        repository: String,
        /// The cause.
        #[source]
        source: Arc<FileError>,
    },
    /// A credential helper of the user.
    #[error("login to repository {repository}")]
    Helper {
        /// The repository.
        repository: String,
        /// The cause.
        #[source]
        source: Arc<HelperError>,
    },
    /// The archive cannot be unpacked.
    #[error("cannot unpack {what}")]
    Archive {
        /// The archive.
        what: String,
        /// The cause.
        #[source]
        source: ArchiveError,
    },
}
