//! The live objects of clusters.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_cluster::{ClusterError, ClusterReader, Clusters, ListContent};
use tiphys_engine::{Manifest, ObjectKey, Ownership, Scopes};
use tiphys_project::Cluster;

use crate::clusters::find;
use crate::error::ServiceError;
use crate::workspace::Workspace;

/// The live objects of clusters. Each cluster is read once and not for every application.
pub struct LiveClusters {
    clusters: Clusters,
    known: Mutex<HashMap<String, Arc<LiveCluster>>>,
}

/// The live objects of one cluster.
pub(super) struct LiveCluster {
    reader: Arc<dyn ClusterReader>,
    definitions: Vec<Manifest>,
    removable: HashMap<String, Vec<Manifest>>,
}

impl LiveClusters {
    /// Opens the clusters of a request.
    pub async fn open(workspace: &Workspace) -> Result<Self, ServiceError> {
        Ok(Self { clusters: workspace.clusters.all().await?.clone(), known: Mutex::default() })
    }

    /// Returns the cluster of a destination. None if it has no directory.
    pub(super) async fn of(
        &self,
        cluster: &Cluster,
        ownership: &Ownership,
    ) -> Result<Option<Arc<LiveCluster>>, ClusterError> {
        let Some(open) = find(&self.clusters, cluster) else { return Ok(None) };
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&open.name).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let cluster = Arc::new(LiveCluster::read(open.reader, ownership).await?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(Arc::clone(known.entry(open.name).or_insert(cluster))))
    }

    /// Returns the names of the clusters for a message.
    pub(super) fn names(&self) -> String {
        self.clusters.names().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
    }
}

impl LiveCluster {
    async fn read(reader: Arc<dyn ClusterReader>, ownership: &Ownership) -> Result<Self, ClusterError> {
        let mut definitions = Vec::new();
        let mut removable: HashMap<String, Vec<Manifest>> = HashMap::new();
        for kind in reader.kinds().await?.iter() {
            for manifest in reader.list(kind, None, ListContent::Objects).await? {
                if manifest.is_crd() {
                    definitions.push(manifest);
                } else if let Some(application) = ownership.removed_by(&manifest).map(str::to_owned) {
                    removable.entry(application).or_default().push(manifest);
                }
            }
        }
        Ok(Self { reader, definitions, removable })
    }

    /// Returns the live object with a key. None if it does not exist, or its kind does not.
    pub(super) async fn get(&self, key: &ObjectKey) -> Result<Option<Manifest>, ClusterError> {
        let kinds = self.reader.kinds().await?;
        let Ok(kind) = kinds.find(&key.group, &key.kind, None) else { return Ok(None) };
        self.reader.get(kind, &key.namespace, &key.name).await
    }

    /// Returns the scopes of kinds: the built-in ones, and those that the rendered or the live objects define.
    pub(super) fn scopes(&self, rendered: &[Manifest]) -> Scopes {
        Scopes::of(self.definitions.iter().chain(rendered))
    }

    /// Returns the live objects that a sync of an application would remove if it did not render them.
    pub(super) fn removable(&self, application: &str) -> &[Manifest] {
        self.removable.get(application).map_or(&[], Vec::as_slice)
    }
}
