//! The interface for reading a cluster.

use tiphys_engine::{Manifest, ObjectKey};

/// A reader of the live objects of one cluster.
#[async_trait::async_trait]
pub trait ClusterReader: Send + Sync {
    /// Returns the object with this key; `None` if it does not exist. The namespace is empty for cluster-scoped kinds.
    async fn get(&self, key: &ObjectKey) -> Result<Option<Manifest>, ClusterError>;

    /// Returns all objects, sorted by group, kind, namespace and name.
    async fn all(&self) -> Result<Vec<Manifest>, ClusterError>;
}

/// A cluster cannot be read. Directories never fail; this is for readers that use the network.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {what} from the cluster")]
pub struct ClusterError {
    /// The objects that were requested.
    pub what: String,
    /// The cause.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}
