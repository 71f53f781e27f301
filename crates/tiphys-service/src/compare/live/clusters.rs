//! Directories of live objects that are used instead of clusters.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_api::{Destination, IN_CLUSTER_SERVER};
use tiphys_cluster::{ClusterError, ClusterReader, Clusters, FolderCluster, IN_CLUSTER_NAME, ListContent};
use tiphys_engine::{Manifest, ObjectKey, Ownership, Scopes};

use crate::error::{Input, ServiceError};
use crate::service::Service;

/// Directories of live objects, by cluster. Each cluster is read once and not for every application.
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
    /// Reads the directories. Those of the same cluster are merged.
    pub fn load(service: &Service) -> Result<Self, ServiceError> {
        let (options, host) = (service.options(), service.host());
        let mut folders: BTreeMap<String, FolderCluster> = BTreeMap::new();
        for argument in options.cluster_state.clone() {
            folders
                .entry(argument.cluster)
                .or_default()
                .extend(&host.absolute(&argument.folder))
                .map_err(|error| ServiceError::invalid_input_from(&error).of_input(Input::ClusterState))?;
        }
        let mut clusters = Clusters::default();
        for (name, folder) in folders {
            clusters.insert(&name, Arc::new(folder));
        }
        Ok(Self { clusters, known: Mutex::default() })
    }

    /// Returns the cluster of a destination. None if it has no directory.
    pub(super) async fn of(
        &self,
        destination: &Destination,
        ownership: &Ownership,
    ) -> Result<Option<Arc<LiveCluster>>, ClusterError> {
        let Some((name, reader)) = self.clusters.of(destination) else { return Ok(None) };
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let cluster = Arc::new(LiveCluster::read(Arc::clone(reader), ownership).await?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(Arc::clone(known.entry(name.to_owned()).or_insert(cluster))))
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

/// Returns the name or URL of a destination's cluster, and whether it is that of Argo CD itself.
pub(super) fn named(destination: &Destination) -> (&str, bool) {
    let cluster =
        if destination.server.is_empty() { destination.name.as_str() } else { destination.server.as_str() };
    (cluster, cluster == IN_CLUSTER_SERVER || cluster == IN_CLUSTER_NAME)
}
