//! Watches of the objects of live clusters: one for all objects of a kind in a namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, ReadyChunks, SelectAll};
use futures_util::{StreamExt as _, TryStreamExt as _, future};
use tiphys_engine::{Manifest, ServedKind};
use tiphys_kube::cluster_reader::{ClusterError, ClusterErrorKind, REQUESTS_MAX, WatchEvent};
use tiphys_model::limits::Limit;

use crate::context::clusters::{ObjectId, OpenCluster};
use crate::context::dynamic::PermittedLookUp;
use crate::error::{ServiceError, chain};

/// Events that are handled as one change.
const EVENTS_MAX: usize = 10_000;

/// Referenced objects of one kind in one namespace of one cluster.
#[derive(Clone)]
pub(super) struct ObjectGroup {
    cluster: OpenCluster,
    kind: ServedKind,
    /// Empty for a cluster-scoped kind.
    namespace: String,
    names: BTreeSet<String>,
}

/// The referenced objects.
#[derive(Default)]
pub(super) struct ObjectGroups {
    groups: BTreeMap<ObjectId, ObjectGroup>,
}

/// An event of a watch.
pub(super) struct ObjectEvent {
    pub(super) group: Arc<ObjectGroup>,
    pub(super) event: Result<WatchEvent, ClusterError>,
}

type Events = BoxStream<'static, ObjectEvent>;

/// The open watches.
#[derive(Default)]
pub(super) struct ObjectWatch {
    events: Option<ReadyChunks<SelectAll<Events>>>,
    objects: usize,
    watches: usize,
}

impl ObjectGroups {
    /// Adds the object of a look-up.
    pub(super) fn add(&mut self, look_up: &PermittedLookUp) {
        let (cluster, kind) = look_up.watched();
        let object = look_up.object();
        // The identity without a name is that of all objects of the kind in the namespace.
        let group = self.groups.entry(ObjectId::new(&cluster, &kind, &object.namespace, ""));
        let group = group.or_insert_with(|| ObjectGroup {
            cluster,
            kind,
            namespace: object.namespace,
            names: BTreeSet::new(),
        });
        group.names.insert(object.name);
    }

    /// Opens a watch for each kind and namespace. Where the cluster permits none of them, each object is watched by its name.
    pub(super) async fn watch(self, watches_max: usize) -> Result<ObjectWatch, ServiceError> {
        let groups: Vec<ObjectGroup> = self.groups.into_values().collect();
        let objects = groups.iter().map(|group| group.names.len()).sum();
        let mut watches = groups.len();
        if watches > watches_max {
            let message = format!(
                "the dynamic parameters refer to objects in {watches} namespaces and kinds, which need a watch each; at most {watches_max} \
                 watches are permitted"
            );
            return Err(ServiceError::limit_exceeded(message, Limit::KUBE_WATCHES_MAX));
        }
        let (mut opened, mut by_name) = (Vec::with_capacity(watches), Vec::new());
        let mut opening = stream::iter(groups).map(open).buffered(REQUESTS_MAX);
        while let Some((group, events)) = opening.next().await {
            match events {
                Ok(events) => opened.push(events),
                Err(error) if group.names.len() > 1 && error.kind == ClusterErrorKind::Forbidden => {
                    watches += group.names.len() - 1;
                    if watches > watches_max {
                        let message = format!(
                            "{}: {}; a watch for each object would make {watches} watches, at most {watches_max} are permitted",
                            group.unwatched(),
                            chain(&error)
                        );
                        let error = ServiceError::limit_exceeded(message, Limit::KUBE_WATCHES_MAX);
                        return Err(error.with_hint(group.permission()));
                    }
                    by_name.extend(group.by_name());
                }
                Err(error) => return Err(group.error(&error)),
            }
        }
        let opening = stream::iter(by_name).map(open).map(async |opened| {
            let (group, events) = opened.await;
            events.map_err(|error| group.error(&error))
        });
        opened.extend(opening.buffered(REQUESTS_MAX).try_collect::<Vec<_>>().await?);
        let events = stream::select_all(opened).ready_chunks(EVENTS_MAX);
        Ok(ObjectWatch { events: Some(events).filter(|_| watches > 0), objects, watches })
    }
}

/// Opens the watch of a group.
async fn open(group: ObjectGroup) -> (Arc<ObjectGroup>, Result<Events, ClusterError>) {
    let group = Arc::new(group);
    let namespace = Some(group.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    let events = group.cluster.reader.watch(&group.kind, namespace, &group.names).await;
    let source = Arc::clone(&group);
    let events = events
        .map(|events| events.map(move |event| ObjectEvent { group: Arc::clone(&source), event }).boxed());
    (group, events)
}

impl ObjectWatch {
    /// Returns the numbers of objects and of watches.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.objects, self.watches)
    }

    /// Waits for events. Without watches, this waits forever.
    pub(super) async fn next(&mut self) -> Vec<ObjectEvent> {
        match &mut self.events {
            Some(events) => events.next().await.unwrap_or_default(),
            None => future::pending().await,
        }
    }
}

impl ObjectGroup {
    /// Returns the objects that an event reports; none for those that do not exist.
    pub(super) fn states(&self, event: WatchEvent) -> Vec<(ObjectId, Option<Manifest>)> {
        let id = |name: &str| ObjectId::new(&self.cluster, &self.kind, &self.namespace, name);
        match event {
            WatchEvent::Changed(object) => vec![(id(object.name()), Some(object))],
            WatchEvent::Deleted(object) => vec![(id(object.name()), None)],
            WatchEvent::Listed(objects) => {
                let mut listed: BTreeMap<String, Manifest> =
                    objects.into_iter().map(|object| (object.name().to_owned(), object)).collect();
                self.names.iter().map(|name| (id(name), listed.remove(name))).collect()
            }
        }
    }

    fn by_name(&self) -> impl Iterator<Item = Self> {
        self.names.iter().map(|name| Self { names: BTreeSet::from([name.clone()]), ..self.clone() })
    }

    fn unwatched(&self) -> String {
        format!("{self} cannot be watched")
    }

    /// Returns the permission that a watch needs.
    fn permission(&self) -> String {
        let place = match self.namespace.as_str() {
            "" => "in the cluster".to_owned(),
            namespace => format!("in namespace {namespace}"),
        };
        format!("grant the verbs get, list and watch for {} {place} (RBAC)", self.kind.full_name())
    }

    fn error(&self, error: &ClusterError) -> ServiceError {
        let message = format!("{}: {}", self.unwatched(), chain(error));
        match error.kind {
            ClusterErrorKind::Forbidden => ServiceError::forbidden(message).with_hint(self.permission()),
            _ => ServiceError::rendering(message),
        }
    }
}

impl fmt::Display for ObjectGroup {
    /// Writes the kind, the name if there is one, and the namespace.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.full_name())?;
        match self.names.first() {
            Some(name) if self.names.len() == 1 => write!(f, " {name}")?,
            _ => write!(f, " ({} objects)", self.names.len())?,
        }
        if self.namespace.is_empty() { Ok(()) } else { write!(f, " in namespace {}", self.namespace) }
    }
}
