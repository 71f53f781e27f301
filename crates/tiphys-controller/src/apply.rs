//! Carries out the actions of a plan.

use serde_json::Value;
use tiphys_engine::Manifest;
use tiphys_engine::appset::{Action, ApplicationError, Event, Plan, PlannedApplication};
use tiphys_kube::cluster_reader::{ClusterReader as _, ListContent};
use tiphys_kube::{ObjectPart, Preconditions, WriteError, WriteErrorKind};

use crate::events;
use crate::generations::{Epoch, Generation};
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
        epoch: Epoch,
    ) -> Result<Vec<ApplicationError>, Stopped> {
        let mut failures: Vec<ApplicationError> = Vec::new();
        let mut is_set_confirmed = false;
        // A guarded plan has no actions.
        for planned in plan.to_apply().unwrap_or_default() {
            let before = planned.before.as_ref();
            if planned.is_deleted() {
                // It waits for its finalizers.
                if !planned.is_deleted_anew() {
                    continue;
                }
                if !failures.is_empty() {
                    break;
                }
                // The writes before may have taken minutes.
                if self.state.generations.begin(name) != epoch {
                    return Err(Stopped::Outdated);
                }
                if !is_set_confirmed {
                    self.require_current(name, set).await?;
                    is_set_confirmed = true;
                }
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
                let before = before.unwrap_or(&Value::Null);
                return self.delete_application(set, before, finalizers_patch.as_ref()).await;
            }
        }
        Ok(())
    }

    /// Deletes an Application in the version that was planned, or in a later one that differs only in its status, which Argo CD writes often.
    async fn delete_application(
        &self,
        set: &ObjectName,
        before: &Value,
        finalizers_patch: Option<&Value>,
    ) -> Result<(), WriteError> {
        let deleted = self.delete_version(set, before, finalizers_patch).await;
        let Err(conflict) = deleted else { return Ok(()) };
        if conflict.kind != WriteErrorKind::Conflict {
            return Err(conflict);
        }
        let kind = Watched::Applications.kind();
        let found = self.reader.get(&kind, &set.namespace, metadata(before, "name")).await;
        let is_same = |found: &Value| {
            let is_equal = |field: &&str| found["metadata"][*field] == before["metadata"][*field];
            found["spec"] == before["spec"] && ["uid", "ownerReferences", "finalizers"].iter().all(is_equal)
        };
        match found.ok().flatten().map(Manifest::into_value).filter(is_same) {
            None => Err(conflict),
            Some(found) => self.delete_version(set, &found, finalizers_patch).await,
        }
    }

    async fn delete_version(
        &self,
        set: &ObjectName,
        planned: &Value,
        finalizers_patch: Option<&Value>,
    ) -> Result<(), WriteError> {
        let (kind, name) = (Watched::Applications.kind(), metadata(planned, "name"));
        let patched;
        let version = match finalizers_patch {
            None => planned,
            Some(change) => {
                let mut change = change.clone();
                change["metadata"]["resourceVersion"] = planned["metadata"]["resourceVersion"].clone();
                patched =
                    self.writer.merge_patch(&kind, &set.namespace, name, ObjectPart::Main, &change).await?;
                self.remember(patched.clone());
                &patched
            }
        };
        // One that was changed meanwhile may have another owner.
        let preconditions = Preconditions {
            uid: Some(metadata(version, "uid")),
            resource_version: Some(metadata(version, "resourceVersion")),
        };
        self.writer.delete(&kind, &set.namespace, name, preconditions).await.map(|_| ())
    }

    /// Logs what was done, and writes the events.
    async fn report(&self, name: &ObjectName, set: &Value, events: &[Event]) {
        for Event { reason, message } in events {
            let dry_run = self.options.is_dry_run.then_some(true);
            tracing::info!(applicationset = %name, dry_run, "{message}");
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
        if plan.guard.is_some() || !plan.applications.iter().any(PlannedApplication::is_deleted_anew) {
            return Ok(plan);
        }
        let existing = self.list_applications(name).await?;
        self.plan_with(set, generation, move |_| existing).await
    }

    /// Returns the Applications in the namespace of a set from the API server.
    pub(crate) async fn list_applications(&self, set: &ObjectName) -> Result<Vec<Value>, Stopped> {
        let kind = Watched::Applications.kind();
        let listed = self.reader.list(&kind, Some(&set.namespace), ListContent::Objects).await;
        let listed = listed.map_err(|error| {
            tracing::warn!(applicationset = %set, "nothing is deleted: {error}");
            Stopped::Outdated
        })?;
        Ok(listed.into_iter().map(Manifest::into_value).collect())
    }

    /// Checks with the API server that a set is the one that was planned: a watch may be late, and a deletion cannot be taken back.
    async fn require_current(&self, name: &ObjectName, set: &Value) -> Result<(), Stopped> {
        let found = self.reader.get(&Watched::Sets.kind(), &name.namespace, &name.name).await;
        let is_same = |found: &Value| {
            // A restored API server may have another set of this generation.
            let is_equal = |field: &&str| found["metadata"][*field] == set["metadata"][*field];
            ["uid", "generation", "deletionTimestamp"].iter().all(is_equal) && found["spec"] == set["spec"]
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
