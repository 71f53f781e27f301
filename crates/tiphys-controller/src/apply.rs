//! Carries out the actions of a plan.

use serde_json::Value;
use tiphys_engine::Manifest;
use tiphys_engine::appset::{Action, ApplicationError, Event, Plan, PlannedApplication};
use tiphys_kube::cluster_reader::{ClusterReader as _, ListContent};
use tiphys_kube::{ObjectPart, Preconditions, WriteError};

use crate::events;
use crate::generations::Generation;
use crate::object::{ObjectName, Watched, metadata};
use crate::reconcile::{Reconciler, message_of};

/// Why a reconcile ends before its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// Another process may write now.
    NotLeader,
    /// The cached set is not the current one.
    Outdated,
    /// A bug of this program.
    Bug(String),
    /// The set itself cannot be written.
    Write(WriteError),
}

impl Reconciler {
    /// Sends the requests of a plan in its order. Returns those that failed. Nothing is deleted after a failure, as in Argo CD, and nothing if
    /// the plan is guarded.
    pub(crate) async fn execute(
        &self,
        name: &ObjectName,
        set: &Value,
        plan: &Plan,
    ) -> Result<Vec<ApplicationError>, Stopped> {
        let mut failures: Vec<ApplicationError> = Vec::new();
        // A guarded plan has no actions.
        for planned in plan.to_apply().unwrap_or_default() {
            let is_deletion = matches!(planned.action, Action::Delete { .. });
            let before = planned.before.as_ref();
            // It waits for its finalizers.
            if is_deletion && before.is_some_and(|before| !metadata(before, "deletionTimestamp").is_empty()) {
                continue;
            }
            if is_deletion && !failures.is_empty() {
                break;
            }
            self.require_leadership()?;
            let events = planned.action.events(&planned.name);
            let application = ObjectName { namespace: name.namespace.clone(), name: planned.name.clone() };
            self.state.cache.begin_write(Watched::Applications, &application);
            let acted = self.act(name, &planned.name, &planned.action, before).await;
            self.state.cache.end_write(Watched::Applications, &application);
            match acted {
                Ok(()) => self.report(name, set, &events).await,
                Err(error) => {
                    tracing::debug!(applicationset = %name, application = planned.name, "{error}");
                    failures
                        .push(ApplicationError { name: planned.name.clone(), message: message_of(&error) });
                }
            }
        }
        Ok(failures)
    }

    async fn act(
        &self,
        set: &ObjectName,
        application: &str,
        action: &Action,
        before: Option<&Value>,
    ) -> Result<(), WriteError> {
        let (kind, namespace) = (Watched::Applications.kind(), &set.namespace);
        let patch = async |patch: &Value| {
            self.writer.merge_patch(&kind, namespace, application, ObjectPart::Main, patch).await
        };
        match action {
            Action::None => {}
            Action::Create(object) => self.remember(self.writer.create(&kind, namespace, object).await?),
            Action::Patch(change) => self.remember(patch(change).await?),
            Action::Delete { finalizers_patch } => {
                let mut before = before.cloned().unwrap_or_default();
                if let Some(change) = finalizers_patch {
                    before = patch(change).await?;
                    self.remember(before.clone());
                }
                // One that was changed meanwhile may have another owner.
                let preconditions = Preconditions {
                    uid: Some(metadata(&before, "uid")),
                    resource_version: Some(metadata(&before, "resourceVersion")),
                };
                self.writer.delete(&kind, namespace, application, preconditions).await?;
            }
        }
        Ok(())
    }

    /// Logs what was done, and writes the events.
    async fn report(&self, name: &ObjectName, set: &Value, events: &[Event]) {
        for Event { reason, message } in events {
            tracing::info!(applicationset = %name, "{message}");
            // The process may have been paused during the write before.
            if self.require_leadership().is_err() {
                continue;
            }
            events::write(&self.writer, set, reason, message).await;
        }
    }

    /// Plans from the state of the API server instead of the cache, if Applications would be deleted: a watch may be late, a deletion cannot be
    /// taken back, and the guard must count all Applications.
    pub(crate) async fn confirm_deletions(
        &self,
        name: &ObjectName,
        set: &Value,
        plan: Plan,
        generation: &Generation,
    ) -> Result<Plan, Stopped> {
        let deletes = |planned: &PlannedApplication| matches!(planned.action, Action::Delete { .. });
        if plan.guard.is_some() || !plan.applications.iter().any(deletes) {
            return Ok(plan);
        }
        self.require_current(name, set).await?;
        let kind = Watched::Applications.kind();
        let listed = self.reader.list(&kind, Some(&name.namespace), ListContent::Objects).await;
        let listed = listed.map_err(|error| {
            tracing::warn!(applicationset = %name, "nothing is deleted: {error}");
            Stopped::Outdated
        })?;
        let existing = listed.into_iter().map(Manifest::into_value).collect();
        self.plan_with(set, generation, move |_| existing).await
    }

    /// Checks with the API server that a set is the one that was planned: a watch may be late, and a deletion cannot be taken back.
    async fn require_current(&self, name: &ObjectName, set: &Value) -> Result<(), Stopped> {
        let found = self.reader.get(&Watched::Sets.kind(), &name.namespace, &name.name).await;
        let is_same = |found: &Value| {
            ["uid", "generation", "deletionTimestamp"]
                .iter()
                .all(|field| found["metadata"][field] == set["metadata"][field])
        };
        match found.map(|found| found.is_some_and(|found| is_same(&found.into_value()))) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Stopped::Outdated),
            Err(error) => {
                tracing::warn!(applicationset = %name, "nothing is deleted: {error}");
                Err(Stopped::Outdated)
            }
        }
    }
}
