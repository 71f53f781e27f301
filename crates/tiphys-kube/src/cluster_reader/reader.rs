//! The interface for reading a cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use tiphys_engine::{Manifest, ServedKind, ServedKinds};

use crate::cluster_reader::ClusterError;

/// Concurrent requests to one cluster. Readers of servers enforce it, and callers need not have more in flight.
pub const REQUESTS_MAX: usize = 8;

/// A reader of the live objects of one cluster. Namespaces are empty for cluster-scoped kinds.
#[async_trait::async_trait]
pub trait ClusterReader: Send + Sync {
    /// Returns the kinds that the cluster serves. A reader asks for them once and caches them. A failure is cached, too, so that not every
    /// application waits for it.
    async fn kinds(&self) -> Result<Arc<ServedKinds>, ClusterError>;

    /// Drops cached failures, so that the next request is sent.
    fn forget_failures(&self) {}

    /// Whether this is a cluster, and not files that stand for one.
    fn is_live(&self) -> bool {
        true
    }

    /// Returns an object; `None` if it does not exist.
    async fn get(
        &self,
        kind: &ServedKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Manifest>, ClusterError>;

    /// Returns the objects of a kind in a namespace, by default in all, sorted by namespace and name.
    async fn list(
        &self,
        kind: &ServedKind,
        namespace: Option<&str>,
        content: ListContent,
    ) -> Result<Vec<Manifest>, ClusterError>;

    /// Returns the objects of a kind, in a namespace if it is given and with one of these names if there are any, and then their changes.
    /// Other objects are dropped as soon as they are read, and `metadata.managedFields` of these, which is most of an object's memory. With
    /// one name, other objects are not requested.
    ///
    /// An error is returned if the objects cannot be listed or their changes cannot be requested. After that, the stream does not end: it
    /// reports an error once, and the watch begins anew after a pause, with [`WatchEvent::Listed`].
    async fn watch(
        &self,
        kind: &ServedKind,
        namespace: Option<&str>,
        names: &BTreeSet<String>,
    ) -> Result<BoxStream<'static, Result<WatchEvent, ClusterError>>, ClusterError>;

    /// Returns the Kubernetes version of the cluster, such as `v1.36.3`; `None` if it is unknown. It is cached as the kinds are.
    async fn version(&self) -> Result<Option<String>, ClusterError>;
}

/// The part of each object that a list contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListContent {
    /// The whole object.
    Objects,
    /// API version, kind and `metadata`.
    Metadata,
}

/// An event of a watch.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    /// All objects at the beginning, or after changes may have been missed. Objects of an earlier event that are not in it are deleted.
    Listed(Vec<Manifest>),
    /// An object was created or changed.
    Changed(Manifest),
    /// An object was deleted. This is its last state.
    Deleted(Manifest),
}
