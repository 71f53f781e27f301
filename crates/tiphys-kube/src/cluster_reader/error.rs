//! Failures of reading a cluster.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A cluster cannot be read. The message names the cluster and the request, never an object's values. Clones share the cause.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cluster {cluster}: cannot {request}: {kind}")]
pub struct ClusterError {
    /// Name or URL of the cluster.
    pub cluster: String,
    /// The request: a verb and a kind, such as `list Deployment.apps`.
    pub request: String,
    /// The kind of the failure.
    pub kind: ClusterErrorKind,
    /// The cause.
    #[source]
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterErrorKind {
    /// The caller is known and has no permission.
    Forbidden,
    /// The server refused the credentials: they are missing, invalid or expired.
    Unauthorized,
    /// The server cannot be reached: connection, TLS or time-out.
    Unreachable,
    /// The server failed, or it is overloaded.
    Failed,
    /// The connection was lost, or the response is incomplete or malformed.
    Interrupted,
    /// The connection settings cannot be used, or their credentials cannot be obtained.
    Settings,
    /// The reader has no such request.
    Unsupported,
}

impl fmt::Display for ClusterErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forbidden => "permission denied; grant the user of this cluster the verb (RBAC)",
            Self::Unauthorized => "the server refused the credentials; renew them",
            Self::Unreachable => "the server cannot be reached; check its address, CA certificate and proxy",
            Self::Failed => "the server failed; try again later",
            Self::Interrupted => "the response is incomplete or malformed; try again",
            Self::Settings => "its connection settings cannot be used",
            Self::Unsupported => "a folder cannot be watched; read it again",
        })
    }
}
