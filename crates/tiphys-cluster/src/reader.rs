//! What can be asked of a cluster.

use tiphys_engine::{Manifest, ObjectKey};

/// Reads live objects of one cluster.
#[async_trait::async_trait]
pub trait ClusterReader: Send + Sync {
    /// The object of a key; `None` if there is none. The key's namespace is empty for cluster-scoped kinds.
    async fn get(&self, key: &ObjectKey) -> Result<Option<Manifest>, ClusterError>;

    /// The objects of a kind in one namespace, or in all and in none, in the order of namespace and name.
    async fn list(
        &self,
        group: &str,
        kind: &str,
        namespace: Option<&str>,
    ) -> Result<Vec<Manifest>, ClusterError>;

    /// Every object, in the order of group, kind, namespace and name.
    async fn all(&self) -> Result<Vec<Manifest>, ClusterError>;
}

/// A cluster that does not answer. A folder always does; this is for those that are asked over a network.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {what} from the cluster")]
pub struct ClusterError {
    /// What was asked for.
    pub what: String,
    /// Why it failed.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}
