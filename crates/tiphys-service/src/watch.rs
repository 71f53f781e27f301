//! Watching the objects of dynamic parameters.

mod fingerprint;
mod folders;
mod objects;
mod store;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use futures_util::future;
use tiphys_engine::LookUp;
use tiphys_model::limits::Limit;
use tiphys_render::{SourceLookUps, ValueResolver as _};
use tiphys_store::StoredApplication;

use crate::context::clusters::ObjectId;
use crate::context::dynamic::PermittedLookUp;
use crate::context::workspace::Workspace;
use crate::error::{ServiceError, chain};
use crate::warning::Warning;

use fingerprint::{Fingerprint, FingerprintKey};
use folders::FolderWatch;
use objects::{ObjectEvent, ObjectGroups, ObjectWatch};
pub use store::StoreWatch;

/// The values of the dynamic parameters of applications, and the objects that they come from. Of values, only keyed hashes are held.
pub struct ValueWatch<'a> {
    workspace: &'a Workspace,
    key: FingerprintKey,
    applications: Vec<WatchedApplication>,
    objects: ObjectWatch,
    folders: FolderWatch,
}

/// Effect of a change of objects, or of a directory.
#[derive(Debug, Default)]
pub struct ValueChange {
    /// The applications of which a value changed, in their order.
    pub applications: Vec<Arc<StoredApplication>>,
    /// Values that cannot be read, and objects that cannot be watched.
    pub warnings: Vec<Warning>,
}

/// Numbers of what is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchCounts {
    /// Applications with dynamic parameters.
    pub applications: usize,
    /// Objects in live clusters.
    pub objects: usize,
    /// Watches of API servers.
    pub watches: usize,
}

struct WatchedApplication {
    stored: Arc<StoredApplication>,
    /// The dynamic parameters of each source, with its position.
    sources: Vec<(usize, Vec<LookUp>)>,
    /// The objects of live clusters.
    objects: Vec<ObjectId>,
    /// The fingerprint of the last values that could be read.
    values: Option<Fingerprint>,
    /// Why the values cannot be read now.
    problem: Option<String>,
}

impl fmt::Debug for ValueWatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueWatch({:?})", self.counts())
    }
}

impl<'a> ValueWatch<'a> {
    /// Prepares a watch before anything is rendered in a workspace, so that no later change of a directory is missed.
    pub async fn prepare(workspace: &'a Workspace) -> Result<Self, ServiceError> {
        let (options, host) = (workspace.service.options(), workspace.service.host());
        let paths = options.cluster_state.iter().map(|argument| host.absolute(&argument.folder)).collect();
        Ok(Self {
            workspace,
            key: FingerprintKey::random()?,
            applications: Vec::new(),
            objects: ObjectWatch::default(),
            folders: FolderWatch::begin(paths).await,
        })
    }

    /// Watches the objects that applications refer to. The applications have been rendered in the workspace, with the values that changes
    /// are compared with. A missing permission, or more watches than the limit, is an error.
    pub async fn begin(&mut self, applications: &[Arc<StoredApplication>]) -> Result<(), ServiceError> {
        let workspace = self.workspace;
        let mut groups = ObjectGroups::default();
        for stored in applications {
            // Rendering has reported the error of an application that cannot be prepared.
            let Ok(sources) = workspace.renderer.prepare_all(&stored.application).await else { continue };
            let sources: Vec<_> =
                sources.iter().map(|source| (source.position, source.look_ups().to_vec())).collect();
            if sources.iter().all(|(_, look_ups)| look_ups.is_empty()) {
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
                groups.add(look_up);
            }
            // The application was rendered with these values, or its error was reported.
            application.refresh(workspace, &self.key).await;
            self.applications.push(application);
        }
        // The first event of each watch has its objects again, and they should not be in memory twice.
        workspace.clusters.forget_objects();
        self.objects = groups.watch(workspace.service.options().limits.size(Limit::KUBE_WATCHES_MAX)).await?;
        Ok(())
    }

    /// Returns the numbers of what is watched.
    pub fn counts(&self) -> WatchCounts {
        let (objects, watches) = self.objects.counts();
        WatchCounts { applications: self.applications.len(), objects, watches }
    }

    /// Waits for a change of objects or of a directory, which may change no value. Changes that are known at the same time are one.
    pub async fn next(&mut self) -> ValueChange {
        let events = tokio::select! {
            events = self.objects.next() => Some(events),
            () = self.folders.changed() => None,
        };
        match events {
            Some(events) => self.apply(events).await,
            None => self.reload_folders().await,
        }
    }

    async fn apply(&mut self, events: Vec<ObjectEvent>) -> ValueChange {
        let mut changed = BTreeSet::new();
        let mut warnings = Vec::new();
        for ObjectEvent { group, event } in events {
            match event {
                Ok(event) => {
                    for (id, object) in group.states(event) {
                        self.workspace.clusters.replace(&id, object);
                        changed.insert(id);
                    }
                }
                Err(error) => {
                    let message =
                        format!("{group}: {}; changes are missed until it can be watched", chain(&error));
                    warnings.push(Warning::new(message));
                }
            }
        }
        let is_concerned =
            |application: &WatchedApplication| application.objects.iter().any(|id| changed.contains(id));
        let mut change = self.refresh(is_concerned).await;
        change.warnings.splice(..0, warnings);
        change
    }

    async fn reload_folders(&mut self) -> ValueChange {
        let clusters = Arc::clone(&self.workspace.clusters);
        let reloaded = tokio::task::spawn_blocking(move || clusters.reload_folders()).await;
        let reloaded = reloaded.map_err(|error| ServiceError::bug(error.to_string()));
        match reloaded.and_then(|reloaded| reloaded) {
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
            match application.refresh(self.workspace, &self.key).await {
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
        let look_ups = self.sources.iter().flat_map(|(_, look_ups)| look_ups);
        let permitted =
            look_ups.map(|look_up| workspace.values.permit(&self.stored.application, look_up, &[]));
        future::join_all(permitted).await.into_iter().flatten().collect()
    }

    async fn refresh(&mut self, workspace: &Workspace, key: &FingerprintKey) -> Refreshed {
        let sources: Vec<SourceLookUps<'_>> = self
            .sources
            .iter()
            .map(|(position, look_ups)| SourceLookUps { position: *position, look_ups, base: &[] })
            .collect();
        match workspace.values.resolve(&self.stored.application, &sources).await {
            Ok(values) => {
                self.problem = None;
                let values = Some(key.fingerprint(&values));
                if self.values == values {
                    return Refreshed::Same;
                }
                self.values = values;
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
