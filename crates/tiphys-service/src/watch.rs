//! Watching the objects of dynamic parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, SelectAll};
use futures_util::{StreamExt as _, TryStreamExt as _, future};
use tiphys_cluster::{ClusterError, WatchEvent};
use tiphys_engine::ServedKind;
use tiphys_params::ResolvedParameter;
use tiphys_render::{Prepared, SourceLookUps, ValueResolver as _};
use tiphys_store::StoredApplication;

use crate::clusters::{ObjectId, OpenCluster};
use crate::dynamic::PermittedLookUp;
use crate::error::{ServiceError, chain};
use crate::warning::Warning;
use crate::workspace::Workspace;

/// Watches that are opened at the same time.
const OPENINGS_MAX: usize = 8;

/// The values of the dynamic parameters of applications, and the objects that they come from. Values are compared in memory and never
/// written.
pub struct ValueWatch<'a> {
    workspace: &'a Workspace,
    applications: Vec<WatchedApplication>,
    events: SelectAll<Events>,
}

/// What a change of an object, or of a directory, means.
#[derive(Debug, Default)]
pub struct ValueChange {
    /// The applications of which a value changed, in their order.
    pub applications: Vec<Arc<StoredApplication>>,
    /// Values that cannot be read, and objects that cannot be watched.
    pub warnings: Vec<Warning>,
}

/// An event of a watched object.
#[derive(Debug)]
pub struct ValueEvent {
    id: ObjectId,
    event: Result<WatchEvent, ClusterError>,
}

type Events = BoxStream<'static, (ObjectId, Result<WatchEvent, ClusterError>)>;
type Values = Vec<Vec<ResolvedParameter>>;

struct WatchedApplication {
    stored: Arc<StoredApplication>,
    sources: Vec<(usize, Prepared)>,
    /// The objects of live clusters.
    objects: Vec<ObjectId>,
    /// The last values that could be read.
    values: Option<Values>,
    /// Why the values cannot be read now.
    problem: Option<String>,
}

impl fmt::Debug for ValueWatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueWatch({} applications)", self.applications.len())
    }
}

impl<'a> ValueWatch<'a> {
    /// Watches the objects that applications refer to. The applications have been rendered in this workspace, with the values that changes
    /// are compared with.
    pub async fn begin(
        workspace: &'a Workspace,
        applications: &[Arc<StoredApplication>],
    ) -> Result<Self, ServiceError> {
        let mut watched = Vec::new();
        let mut objects = BTreeMap::new();
        for stored in applications {
            // Rendering has reported the error of an application that cannot be prepared.
            let Ok(sources) = workspace.renderer.prepare_all(&stored.application).await else { continue };
            if sources.iter().all(|(_, prepared)| prepared.look_ups().is_empty()) {
                continue;
            }
            let mut application = WatchedApplication {
                stored: Arc::clone(stored),
                sources,
                objects: Vec::new(),
                values: None,
                problem: None,
            };
            let permitted = application.permitted(workspace).await;
            for look_up in permitted.iter().filter(|look_up| look_up.cluster().reader.is_live()) {
                application.objects.push(look_up.id());
                objects.entry(look_up.id()).or_insert_with(|| look_up.watched());
            }
            // The application was rendered with these values, or its error was reported.
            application.refresh(workspace).await;
            watched.push(application);
        }
        let opening =
            stream::iter(objects).map(async |(id, (cluster, kind))| open(id, &cluster, &kind).await);
        let opened: Result<Vec<Events>, ClusterError> = opening.buffered(OPENINGS_MAX).try_collect().await;
        let opened = opened.map_err(|error| ServiceError::rendering(chain(&error)))?;
        Ok(Self { workspace, applications: watched, events: stream::select_all(opened) })
    }

    /// Returns the numbers of watched applications and of watched objects in live clusters.
    pub fn counts(&self) -> (usize, usize) {
        (self.applications.len(), self.events.len())
    }

    /// Waits for an event of a live cluster. Without objects in live clusters, this waits forever. An event is lost only if it was returned
    /// and not applied.
    pub async fn event(&mut self) -> ValueEvent {
        match self.events.next().await {
            Some((id, event)) => ValueEvent { id, event },
            None => future::pending().await,
        }
    }

    /// Applies an event, which may change nothing.
    pub async fn apply(&mut self, ValueEvent { id, event }: ValueEvent) -> ValueChange {
        let object = match event {
            Ok(WatchEvent::Listed(objects)) => objects
                .into_iter()
                .find(|object| object.name() == id.name && object.namespace() == id.namespace),
            Ok(WatchEvent::Changed(object)) => Some(object),
            Ok(WatchEvent::Deleted(_)) => None,
            Err(error) => {
                let message = format!("{}; its changes are missed until it can be watched", chain(&error));
                return ValueChange { warnings: vec![Warning::new(message)], ..ValueChange::default() };
            }
        };
        self.workspace.clusters.replace(&id, object);
        self.refresh(|application| application.objects.contains(&id)).await
    }

    /// Reads the directories of live objects again.
    pub async fn reload_folders(&mut self) -> ValueChange {
        match self.workspace.clusters.reload_folders() {
            Ok(()) => self.refresh(|_| true).await,
            Err(error) => {
                let warning = Warning::new(error.message());
                ValueChange { warnings: vec![warning], ..ValueChange::default() }
            }
        }
    }

    async fn refresh(&mut self, is_concerned: impl Fn(&WatchedApplication) -> bool) -> ValueChange {
        let mut change = ValueChange::default();
        for application in self.applications.iter_mut().filter(|application| is_concerned(application)) {
            match application.refresh(self.workspace).await {
                Refreshed::Same => {}
                Refreshed::Changed => change.applications.push(Arc::clone(&application.stored)),
                Refreshed::Unreadable(warning) => change.warnings.push(warning),
            }
        }
        change
    }
}

/// The result of reading the values of an application again.
enum Refreshed {
    Same,
    Changed,
    /// The values cannot be read, for a new reason.
    Unreadable(Warning),
}

impl WatchedApplication {
    async fn permitted(&self, workspace: &Workspace) -> Vec<PermittedLookUp> {
        let look_ups = self.sources.iter().flat_map(|(_, prepared)| prepared.look_ups());
        let permitted =
            look_ups.map(|look_up| workspace.values.permit(&self.stored.application, look_up, &[]));
        future::join_all(permitted).await.into_iter().flatten().collect()
    }

    async fn refresh(&mut self, workspace: &Workspace) -> Refreshed {
        let sources: Vec<SourceLookUps<'_>> = self
            .sources
            .iter()
            .map(|(position, prepared)| SourceLookUps {
                position: *position,
                look_ups: prepared.look_ups(),
                base: &[],
            })
            .collect();
        match workspace.values.resolve(&self.stored.application, &sources).await {
            Ok(values) => {
                self.problem = None;
                if self.values.as_ref() == Some(&values) {
                    return Refreshed::Same;
                }
                self.values = Some(values);
                Refreshed::Changed
            }
            Err(error) => {
                let problem = error.to_string();
                if self.problem.as_ref() == Some(&problem) {
                    return Refreshed::Same;
                }
                self.problem = Some(problem.clone());
                Refreshed::Unreadable(Warning::of_application(&self.stored, problem))
            }
        }
    }
}

/// Opens the watch of one object.
async fn open(id: ObjectId, cluster: &OpenCluster, kind: &ServedKind) -> Result<Events, ClusterError> {
    let namespace = Some(id.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    let names = BTreeSet::from([id.name.clone()]);
    let events = cluster.reader.watch(kind, namespace, &names).await?;
    Ok(events.map(move |event| (id.clone(), event)).boxed())
}
