//! The destination clusters that a request may read.

mod live;
mod unusable;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_engine::{Manifest, Scope, Scopes, ServedKind};
use tiphys_kube::cluster_reader::{ClusterError, ClusterReader, Clusters, FolderCluster};
use tiphys_model::project_rules::{Cluster, ProjectCluster};
use tiphys_model::resources::{IN_CLUSTER_NAME, IN_CLUSTER_SERVER};
use tiphys_render::ClusterVersions;
use tiphys_store::StoredSecret;
use tokio::sync::OnceCell;

use crate::context::options::Setting;
use crate::context::service::Service;
use crate::error::{ErrorKind, Input, Remedy, ServiceError};

use live::NamedConnection;
pub(crate) use live::{cluster_secrets, read_cluster_secrets};

/// The clusters of the options, opened on first use. Each object is read once.
pub(crate) struct DestinationClusters {
    service: Service,
    secrets: Vec<StoredSecret>,
    connections: Vec<NamedConnection>,
    clusters: Mutex<Option<Arc<Clusters>>>,
    objects: Mutex<HashMap<ObjectId, CachedObject>>,
}

/// An object, `None` if it does not exist, or the failure of reading it.
type CachedObject = Arc<OnceCell<Result<Option<Manifest>, ClusterError>>>;

/// A cluster that can be read.
#[derive(Clone)]
pub(crate) struct OpenCluster {
    /// Its name or URL in the destination.
    pub(crate) name: String,
    /// The first of its names and URLs in the options, which is the same for every destination.
    pub(crate) id: String,
    pub(crate) reader: Arc<dyn ClusterReader>,
}

/// An object of a cluster in one version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId {
    cluster: String,
    group: String,
    version: String,
    kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl ObjectId {
    pub(crate) fn new(cluster: &OpenCluster, kind: &ServedKind, namespace: &str, name: &str) -> Self {
        Self {
            cluster: cluster.id.clone(),
            group: kind.group.clone(),
            version: kind.version.clone(),
            kind: kind.kind.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

impl fmt::Debug for DestinationClusters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DestinationClusters").finish_non_exhaustive()
    }
}

impl DestinationClusters {
    /// `secrets` are the cluster Secrets of the options. Invalid options of live clusters are an error. A Secret that cannot be used is one
    /// only for the applications of its cluster.
    pub(crate) fn new(service: Service, secrets: Vec<StoredSecret>) -> Result<Self, ServiceError> {
        let connections = live::connections(&service)?;
        live::check_secrets(&secrets)?;
        Ok(Self { service, secrets, connections, clusters: Mutex::default(), objects: Mutex::default() })
    }

    /// Returns those of a process that reads only the cluster of Argo CD.
    pub(crate) fn of_own(service: Service, reader: Option<Arc<dyn ClusterReader>>) -> Self {
        let mut clusters = Clusters::default();
        if let Some(reader) = reader {
            clusters.insert(IN_CLUSTER_SERVER, Arc::clone(&reader));
        }
        let clusters = Mutex::new(Some(Arc::new(clusters)));
        Self { service, secrets: Vec::new(), connections: Vec::new(), clusters, objects: Mutex::default() }
    }

    /// Returns whether the options give access to a live cluster.
    pub(crate) fn has_live(&self) -> bool {
        !(self.connections.is_empty() && self.secrets.is_empty())
    }

    /// Returns the names and URLs of the live clusters: those of cluster Secrets, then those of contexts.
    pub(crate) fn known(&self) -> Vec<ProjectCluster> {
        live::known(&self.secrets, &self.connections)
    }

    /// Returns a cluster. None if the options name none with its name or URL.
    pub(crate) fn open(&self, cluster: &Cluster) -> Result<Option<OpenCluster>, ServiceError> {
        let clusters = self.all()?;
        Ok(find(&clusters, cluster))
    }

    /// Returns the cluster of Argo CD itself. None if the options do not name it.
    pub(crate) fn open_own(&self) -> Result<Option<OpenCluster>, ServiceError> {
        let (server, name) = (Some(IN_CLUSTER_SERVER.to_owned()), Some(IN_CLUSTER_NAME.to_owned()));
        self.open(&Cluster { server, name })
    }

    /// Returns the cluster of Argo CD itself. An error if the options do not name it.
    pub(crate) fn require_own(&self) -> Result<OpenCluster, ServiceError> {
        self.open_own()?.ok_or_else(|| {
            ServiceError::invalid_input("the cluster of Argo CD is not given")
                .with_remedy(Remedy::AddClusterState(None))
        })
    }

    /// Returns all clusters of the options.
    pub(crate) fn all(&self) -> Result<Arc<Clusters>, ServiceError> {
        let mut clusters = self.clusters.lock().unwrap_or_else(PoisonError::into_inner);
        match &*clusters {
            Some(clusters) => Ok(Arc::clone(clusters)),
            None => Ok(Arc::clone(clusters.insert(Arc::new(self.open_all()?)))),
        }
    }

    /// Drops cached failures, so that the objects and kinds are requested again.
    pub(crate) fn forget_failures(&self) {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        objects.retain(|_, cell| !cell.get().is_some_and(Result::is_err));
        drop(objects);
        let clusters = self.clusters.lock().unwrap_or_else(PoisonError::into_inner);
        clusters.iter().flat_map(|clusters| clusters.readers()).for_each(|reader| reader.forget_failures());
    }

    /// Reads the directories again, and drops cached failures. After an error, the objects that were read before stay.
    pub(crate) fn reload_folders(&self) -> Result<(), ServiceError> {
        self.forget_failures();
        let mut clusters = Clusters::clone(&*self.all()?);
        add_folders(&mut clusters, &self.service)?;
        *self.clusters.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(clusters));
        Ok(())
    }

    /// Drops all objects, before watches report them again.
    pub(crate) fn forget_objects(&self) {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Replaces an object by a state that a watch has reported; `None` if it was deleted.
    pub(crate) fn replace(&self, id: &ObjectId, object: Option<Manifest>) {
        let object = object.map(Manifest::without_managed_fields);
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        objects.insert(id.clone(), Arc::new(OnceCell::from(Ok(object))));
    }

    /// Returns the Kubernetes version and the API versions of a live cluster.
    pub(crate) async fn versions(&self, cluster: &OpenCluster) -> Result<ClusterVersions, ServiceError> {
        let kinds = cluster.reader.kinds().await.map_err(unread)?;
        let version = cluster.reader.version().await.map_err(unread)?;
        Ok(ClusterVersions { kube_version: version.unwrap_or_default(), api_versions: kinds.api_versions() })
    }

    /// Returns the scopes of kinds: those of Kubernetes, those that objects define, and the others as the cluster serves them, if it can
    /// be read.
    pub(crate) async fn scopes(
        &self,
        cluster: &Cluster,
        manifests: &[Manifest],
    ) -> Result<Scopes, ServiceError> {
        let scopes = Scopes::of(manifests);
        let is_unknown = |manifest: &Manifest| {
            let (group, kind) = manifest.group_kind();
            scopes.scope(group, kind) == Scope::Unknown
        };
        // Without an unknown kind, the cluster is not asked.
        if !manifests.iter().any(is_unknown) {
            return Ok(scopes);
        }
        let Some(open) = self.open(cluster)? else { return Ok(scopes) };
        let kinds = open.reader.kinds().await.map_err(unread)?;
        Ok(scopes.with_served(&kinds))
    }

    /// Returns an object. It is requested once, and further requests wait for the answer. A failure is cached, too: other applications need
    /// not wait for the same time-out.
    pub(crate) async fn get(
        &self,
        cluster: &OpenCluster,
        kind: &ServedKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Manifest>, ClusterError> {
        if !cluster.reader.is_live() {
            return cluster.reader.get(kind, namespace, name).await;
        }
        let id = ObjectId::new(cluster, kind, namespace, name);
        let cell = {
            let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(objects.entry(id).or_default())
        };
        // Look-ups must not read the managed fields, and comparisons leave them out.
        let read = async || {
            Ok(cluster.reader.get(kind, namespace, name).await?.map(Manifest::without_managed_fields))
        };
        cell.get_or_init(read).await.clone()
    }

    /// Opens the clusters of the options. Directories of the same cluster are merged, and are used instead of the cluster itself.
    fn open_all(&self) -> Result<Clusters, ServiceError> {
        let mut clusters = Clusters::default();
        add_folders(&mut clusters, &self.service)?;
        live::add(&mut clusters, &self.service, &self.secrets, &self.connections);
        Ok(clusters)
    }
}

fn unread(error: ClusterError) -> ServiceError {
    ServiceError::caused(ErrorKind::Rendering, error)
}

/// Returns the cluster with this URL or name.
pub(crate) fn find(clusters: &Clusters, cluster: &Cluster) -> Option<OpenCluster> {
    let names = [&cluster.server, &cluster.name].into_iter().flatten();
    let (name, reader) = names.filter(|name| !name.is_empty()).find_map(|name| clusters.named(name))?;
    let id = clusters.first_name(reader).unwrap_or(name).to_owned();
    Some(OpenCluster { name: name.to_owned(), id, reader: Arc::clone(reader) })
}

/// Reads the directories of the options. Those of the same cluster are merged.
fn add_folders(clusters: &mut Clusters, service: &Service) -> Result<(), ServiceError> {
    let mut folders: BTreeMap<String, FolderCluster> = BTreeMap::new();
    for argument in service.options().cluster_state.clone() {
        folders
            .entry(argument.cluster)
            .or_default()
            .extend(&service.host().absolute(&argument.folder))
            .map_err(|error| {
                ServiceError::invalid_input_from(error).of_input(Input::Setting(&Setting::CLUSTER_STATE.key))
            })?;
    }
    for (name, folder) in folders {
        clusters.insert(&name, Arc::new(folder));
    }
    Ok(())
}

/// Returns the name of a cluster for messages, and whether it is that of Argo CD itself.
pub(crate) fn shown(cluster: &Cluster) -> (&str, bool) {
    let is_known = |name: &&String| !name.is_empty();
    let name = cluster.server.as_ref().filter(is_known).or(cluster.name.as_ref().filter(is_known));
    let name = name.map(String::as_str).unwrap_or_default();
    (name, name == IN_CLUSTER_SERVER || name == IN_CLUSTER_NAME)
}

#[cfg(test)]
mod tests;
