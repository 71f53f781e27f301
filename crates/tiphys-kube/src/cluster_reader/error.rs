//! Failures of reading a cluster.

use std::error::Error;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ClusterErrorKind {
    /// The caller is known and has no permission.
    #[error("permission denied; grant the user of this cluster the verb (RBAC)")]
    Forbidden,
    /// The server refused the credentials: they are missing, invalid or expired.
    #[error("the server refused the credentials; renew them")]
    Unauthorized,
    /// The server cannot be reached: connection, TLS or time-out.
    #[error("the server cannot be reached; check its address, CA certificate and proxy")]
    Unreachable,
    /// The server failed, or it is overloaded.
    #[error("the server failed; try again later")]
    Failed,
    /// The connection was lost, or the response is incomplete or malformed.
    #[error("the response is incomplete or malformed; try again")]
    Interrupted,
    /// The connection settings cannot be used, or their credentials cannot be obtained.
    #[error("its connection settings cannot be used")]
    Settings,
    /// The reader has no such request.
    #[error("a folder cannot be watched; read it again")]
    Unsupported,
}
