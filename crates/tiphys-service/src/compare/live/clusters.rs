//! The live objects of clusters.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::Value;
use tiphys_engine::diff::LeftOutReason;
use tiphys_engine::{Manifest, Ownership, Scopes, ServedKind, ServedKinds, UnknownKind};
use tiphys_kube::cluster_reader::{ClusterError, ClusterErrorKind, Clusters, ListContent};
use tiphys_model::project_rules::Cluster;

use crate::context::clusters::{DestinationClusters, OpenCluster, find};
use crate::context::workspace::Workspace;
use crate::error::ServiceError;
use crate::text::listed;
use crate::warning::Warning;

/// Concurrent requests to one cluster.
pub(super) const REQUESTS_MAX: usize = 8;

/// The live objects of clusters. Each cluster is listed once and not for every application.
pub struct LiveClusters {
    shared: Arc<DestinationClusters>,
    clusters: Arc<Clusters>,
    known: Mutex<HashMap<String, Arc<LiveCluster>>>,
}

/// The live objects of one cluster.
pub(super) struct LiveCluster {
    shared: Arc<DestinationClusters>,
    open: OpenCluster,
    kinds: Arc<ServedKinds>,
    /// API version, kind and metadata of the objects of each application.
    removable: HashMap<String, Vec<Manifest>>,
    /// Warnings that were not reported yet.
    warnings: Mutex<Vec<Warning>>,
}

/// The metadata of all objects that applications own.
#[derive(Default)]
struct Owned {
    removable: HashMap<String, Vec<Manifest>>,
    /// Kinds that the user may not list.
    forbidden: Vec<String>,
    /// Kinds that the server could not list.
    failed: Vec<String>,
}

impl LiveClusters {
    /// Opens the clusters of a request.
    pub fn open(workspace: &Workspace) -> Result<Self, ServiceError> {
        let clusters = workspace.clusters.all()?;
        Ok(Self { shared: Arc::clone(&workspace.clusters), clusters, known: Mutex::default() })
    }

    /// Returns the cluster of a destination. None if it has no reader.
    pub(super) async fn of(
        &self,
        cluster: &Cluster,
        ownership: &Ownership,
    ) -> Result<Option<Arc<LiveCluster>>, ClusterError> {
        let Some(open) = find(&self.clusters, cluster) else { return Ok(None) };
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&open.id).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let id = open.id.clone();
        let cluster = Arc::new(LiveCluster::read(Arc::clone(&self.shared), open, ownership).await?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(Arc::clone(known.entry(id).or_insert(cluster))))
    }

    /// Returns the names of the clusters for a message.
    pub(super) fn names(&self) -> String {
        self.clusters.names().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
    }
}

impl LiveCluster {
    async fn read(
        shared: Arc<DestinationClusters>,
        open: OpenCluster,
        ownership: &Ownership,
    ) -> Result<Self, ClusterError> {
        let kinds = open.reader.kinds().await?;
        let Owned { removable, forbidden, mut failed } = Owned::list(&open, &kinds, ownership).await?;
        failed.extend(kinds.failed_groups().map(|group| format!("all kinds of the group {group:?}")));
        let warnings = [
            (forbidden, "permission denied; grant the user of this cluster the verb \"list\""),
            (failed, "the server failed; check its APIServices"),
        ];
        let warnings = warnings.into_iter().filter(|(kinds, _)| !kinds.is_empty()).map(|(kinds, reason)| {
            Warning::new(format!(
                "cluster {:?}: cannot list {}, whose objects are never reported as removed: {reason}",
                open.name,
                listed(&kinds)
            ))
        });
        let warnings = Mutex::new(warnings.collect());
        Ok(Self { shared, open, kinds, removable, warnings })
    }

    /// Returns the warnings about the cluster, once.
    pub(super) fn take_warnings(&self) -> Vec<Warning> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the live object of a rendered one in a namespace, in the same version if the cluster serves it. None if it does not exist,
    /// or its kind does not.
    pub(super) async fn get(
        &self,
        rendered: &Manifest,
        namespace: &str,
    ) -> Result<Option<Manifest>, ClusterError> {
        let (group, kind) = rendered.group_kind();
        let api_version = rendered.object().get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let version = api_version.rsplit('/').next();
        let found = self.kinds.find(group, kind, version).or_else(|_| self.kinds.find(group, kind, None));
        match found {
            Ok(kind) => self.shared.get(&self.open, kind, namespace, rendered.name()).await,
            Err(unknown @ UnknownKind::DiscoveryFailed { .. }) => Err(ClusterError {
                cluster: self.open.name.clone(),
                request: format!("get {kind}.{group}"),
                kind: ClusterErrorKind::Failed,
                source: Some(Arc::new(unknown)),
            }),
            Err(_) => Ok(None),
        }
    }

    /// Returns the scopes of kinds: the built-in ones, those that the rendered objects define, and those of the cluster.
    pub(super) fn scopes(&self, rendered: &[Manifest]) -> Scopes {
        Scopes::of(rendered).with_served(&self.kinds)
    }

    /// Returns API version, kind and metadata of the live objects that a sync of an application would remove if it did not render them.
    pub(super) fn removable(&self, application: &str) -> &[Manifest] {
        self.removable.get(application).map_or(&[], Vec::as_slice)
    }

    /// Reads the objects whole that are compared. Objects that may be listed only stay as they are, and deleted ones are left out.
    pub(super) async fn completed(&self, objects: &[&Manifest]) -> Result<Vec<Manifest>, ClusterError> {
        let reading = stream::iter(objects).map(async |object| {
            if LeftOutReason::of_live(object).is_some() {
                return Ok(Some((*object).clone()));
            }
            match self.get(object, object.namespace()).await {
                Err(error) if error.kind == ClusterErrorKind::Forbidden => Ok(Some((*object).clone())),
                read => read,
            }
        });
        let objects: Vec<Option<Manifest>> = reading.buffered(REQUESTS_MAX).try_collect().await?;
        Ok(objects.into_iter().flatten().collect())
    }
}

impl Owned {
    async fn list(
        open: &OpenCluster,
        kinds: &ServedKinds,
        ownership: &Ownership,
    ) -> Result<Self, ClusterError> {
        // Kinds of a directory may be known by their objects only, without verbs.
        let is_listable = |kind: &&ServedKind| !open.reader.is_live() || kind.has_verb("list");
        let owned =
            kinds.iter().filter(is_listable).filter(|kind| Ownership::prunes(&kind.group, &kind.kind));
        let lists = stream::iter(owned)
            .map(async |kind| (kind, open.reader.list(kind, None, ListContent::Metadata).await));
        let mut lists = std::pin::pin!(lists.buffered(REQUESTS_MAX));
        let mut found = Self::default();
        while let Some((kind, objects)) = lists.next().await {
            match objects {
                Ok(objects) => {
                    for object in objects {
                        if let Some(application) = ownership.removed_by(&object).map(str::to_owned) {
                            found.removable.entry(application).or_default().push(object);
                        }
                    }
                }
                Err(error) => match error.kind {
                    ClusterErrorKind::Forbidden => found.forbidden.push(kind.full_name()),
                    ClusterErrorKind::Failed => found.failed.push(kind.full_name()),
                    _ => return Err(error),
                },
            }
        }
        Ok(found)
    }
}
