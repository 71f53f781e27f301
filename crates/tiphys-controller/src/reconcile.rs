//! The reconcile of one set: plan, writes, status.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tiphys_engine::appset::{
    ALLOW_DELETIONS_ANNOTATION, FailureReason, Outcome, Plan, PlanError, StatusInput, refresh_patch, status,
};
use tiphys_kube::{
    KubeCluster, KubeConnection, KubeOptions, Leadership, ObjectPart, WriteError, WriteErrorKind,
};
use tiphys_model::resources::ApplicationSet;
use tiphys_service::{DecodedSet, Service, ServiceError, plan_deletion};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::apply::Stopped;
use crate::generations::{Epoch, Generation};
use crate::metrics::Metrics;
use crate::object::{ObjectName, Watched, metadata};
use crate::options::ControllerOptions;
use crate::queue::Ended;
use crate::state::{OTHER_CONTROLLER_TIME, State};
use crate::time::rfc3339;
use crate::turn::Turn;

/// Time until the next attempt after an error of generators or of the document, which may go away by itself.
const AFTER_ERROR: Duration = Duration::from_mins(3);

/// Reconciles sets.
pub(crate) struct Reconciler {
    pub(crate) service: Service,
    pub(crate) reader: Arc<KubeCluster>,
    pub(crate) writer: Arc<KubeCluster>,
    /// How the cluster is reached, and with which limits.
    pub(crate) connection: KubeConnection,
    pub(crate) limits: KubeOptions,
    pub(crate) options: ControllerOptions,
    pub(crate) state: Arc<State>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) leadership: Leadership,
    /// When this process started.
    pub(crate) started: Timestamp,
}

impl Reconciler {
    /// Reconciles a set of the cache.
    pub(crate) async fn reconcile(
        &self,
        name: &ObjectName,
        turn: &mut Turn,
        stop: &CancellationToken,
    ) -> Ended {
        // Before the set is read: a change after this makes the result of its generators outdated.
        let epoch = self.state.generations.begin(name);
        let Some(set) = self.state.cache.set(name) else {
            self.state.generations.remove(name);
            return Ended::Gone;
        };
        match self.try_reconcile(name, &set, epoch, (turn, stop)).await {
            Ok(ended) => ended,
            Err(Stopped::NotLeader) => {
                tracing::warn!(applicationset = %name, "the reconcile ended early: this process does not lead any more");
                Ended::Failed
            }
            Err(Stopped::Outdated) => {
                tracing::info!(applicationset = %name, "the set has changed meanwhile; the reconcile is repeated");
                Ended::Failed
            }
            Err(Stopped::Bug(error)) => {
                tracing::error!(applicationset = %name, "the plan ended unexpectedly: {error}");
                Ended::Failed
            }
            Err(Stopped::Write(error)) => {
                tracing::warn!(applicationset = %name, "the set is not updated: {error}");
                Ended::Failed
            }
        }
    }

    async fn try_reconcile(
        &self,
        name: &ObjectName,
        set: &Value,
        epoch: Epoch,
        (turn, stop): (&mut Turn, &CancellationToken),
    ) -> Result<Ended, Stopped> {
        self.find_other_controller(name).await;
        if let Some(manager) = self.state.other_controller() {
            let outcome = Outcome::OtherController(manager);
            log_outcome(name, &outcome);
            self.write_status(name, set, &outcome).await?;
            return Ok(Ended::Succeeded(Some(OTHER_CONTROLLER_TIME)));
        }
        let decoded = match DecodedSet::decode(set) {
            Ok(decoded) => decoded,
            Err(error) => return self.invalid(name, set, &error).await,
        };
        if !metadata(set, "deletionTimestamp").is_empty() {
            return self.delete(name, set, decoded.set()).await;
        }
        if let Some(outcome) = Outcome::of_strategy(decoded.set()) {
            self.write_status(name, set, &outcome).await?;
            return Ok(Ended::Succeeded(None));
        }
        if let Some(message) = self.state.refused_for(set) {
            let outcome = Outcome::Failed { reason: FailureReason::Permission, message };
            log_outcome(name, &outcome);
            self.write_status(name, set, &outcome).await?;
            return Ok(Ended::Succeeded(None));
        }
        let generation = match self.generate(name, (set, &decoded), epoch, (turn, stop)).await {
            Ok(generation) => generation,
            // The process ends.
            Err(_) if stop.is_cancelled() => return Ok(Ended::Failed),
            Err(error) => return self.invalid(name, set, &error).await,
        };
        let plan = self.plan(name, set, &generation).await?;
        for warning in &plan.warnings {
            tracing::warn!(applicationset = %name, "{warning}");
        }
        let failures = self.execute(name, set, &plan, epoch).await?;
        let mut outcome = Outcome::of_plan(&plan, &failures);
        let mut is_failed = !failures.is_empty() || matches!(plan.error, Some(PlanError::Application(_)));
        let refresh = refresh_patch(decoded.set());
        if refresh.is_some() {
            self.require_leadership()?;
        }
        if let Some(patch) = refresh
            && let Err(error) = self.patch_set(name, ObjectPart::Main, &patch).await
        {
            is_failed = true;
            outcome = match outcome {
                Outcome::UpToDate => {
                    Outcome::Failed { reason: FailureReason::Refresh, message: message_of(&error) }
                }
                failed => failed,
            };
        }
        if outcome == Outcome::UpToDate {
            self.record_parameters(name, set, &generation).await;
        }
        log_outcome(name, &outcome);
        self.write_status(name, set, &outcome).await?;
        let pause = pause(&plan, &generation);
        Ok(if is_failed { Ended::Failed } else { Ended::Succeeded(pause) })
    }

    /// Compares what was generated with the Applications of the cache.
    async fn plan(&self, name: &ObjectName, set: &Value, generation: &Generation) -> Result<Plan, Stopped> {
        let (state, set_name) = (Arc::clone(&self.state), name.clone());
        let plan = self.plan_with(set, generation, move |names| state.cache.applications(&set_name, names));
        self.confirm_deletions(name, set, plan.await?, generation).await
    }

    /// Compares what was generated with existing Applications, on a thread that may take long. `existing` gets the generated names.
    pub(crate) async fn plan_with(
        &self,
        set: &Value,
        generation: &Generation,
        existing: impl FnOnce(&[&str]) -> Vec<Value> + Send + 'static,
    ) -> Result<Plan, Stopped> {
        let generated = Arc::clone(&generation.generated);
        let permits_deletions = permits_deletions(set);
        let plan = move || {
            let names = generated.names();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            generated.plan(&existing(&names), permits_deletions)
        };
        spawn_blocking(plan).await.map_err(|error| Stopped::Bug(error.to_string()))
    }

    /// Reports a set that cannot be planned.
    async fn invalid(&self, name: &ObjectName, set: &Value, error: &ServiceError) -> Result<Ended, Stopped> {
        let message = error.message();
        let outcome = Outcome::Failed { reason: FailureReason::Generator, message };
        log_outcome(name, &outcome);
        self.write_status(name, set, &outcome).await?;
        Ok(Ended::Succeeded(Some(AFTER_ERROR)))
    }

    /// Finishes the deletion of a set: its Applications are kept or left to Kubernetes.
    async fn delete(
        &self,
        name: &ObjectName,
        set: &Value,
        decoded: &ApplicationSet,
    ) -> Result<Ended, Stopped> {
        // Kubernetes deletes an Application that is left out here.
        let existing = self.list_applications(name).await?;
        let namespace = self.options.namespaces.own();
        let deletion = match plan_deletion(decoded, &existing, &self.options.settings, namespace) {
            Ok(deletion) => deletion,
            Err(outcome) => {
                self.write_status(name, set, &outcome).await?;
                return Ok(Ended::Succeeded(None));
            }
        };
        let applications = Watched::Applications.kind();
        for (application, patch) in &deletion.owner_patches {
            self.require_leadership()?;
            let patched =
                self.writer.merge_patch(&applications, &name.namespace, application, ObjectPart::Main, patch);
            match patched.await {
                Ok(object) => self.remember(object),
                Err(error) if error.kind == WriteErrorKind::NotFound => {}
                Err(error) => return Err(Stopped::Write(error)),
            }
        }
        if let Some(patch) = &deletion.finalizers_patch {
            self.require_leadership()?;
            match self.patch_set(name, ObjectPart::Main, patch).await {
                Err(error) if error.kind != WriteErrorKind::NotFound => return Err(Stopped::Write(error)),
                _ => {}
            }
        }
        Ok(Ended::Succeeded(None))
    }

    /// Writes the status of a set, unless it is the same.
    async fn write_status(&self, name: &ObjectName, set: &Value, outcome: &Outcome) -> Result<(), Stopped> {
        let applications = self.state.cache.applications(name, &[]);
        let applications: Vec<&Value> = applications.iter().collect();
        // A write of this reconcile may have returned a status that an earlier one stored and that seemed to fail.
        let current = self.state.cache.set(name);
        let before = &current.as_deref().unwrap_or(set)["status"];
        let after = status(&StatusInput {
            status: before,
            outcome,
            applications: &applications,
            max_resources: self.options.max_resources_status_count,
            now: &rfc3339(Timestamp::now()),
        });
        let Some(patch) = difference(before, &after) else { return Ok(()) };
        self.require_leadership()?;
        match self.patch_set(name, ObjectPart::Status, &json!({"status": patch})).await {
            // The set was deleted meanwhile.
            Err(error) if error.kind == WriteErrorKind::NotFound => Ok(()),
            Err(error) => Err(Stopped::Write(error)),
            // An earlier write that seemed to fail may have changed the other fields.
            Ok(written) if differs_beside(&patch, &written["status"], &after) => Err(Stopped::Outdated),
            Ok(_) => Ok(()),
        }
    }

    async fn patch_set(
        &self,
        name: &ObjectName,
        part: ObjectPart,
        patch: &Value,
    ) -> Result<Value, WriteError> {
        let kind = Watched::Sets.kind();
        let cache = &self.state.cache;
        cache.begin_write(Watched::Sets, name);
        let written = self.writer.merge_patch(&kind, &name.namespace, &name.name, part, patch).await;
        if let Ok(written) = &written
            && !self.options.is_dry_run
        {
            self.state.remember(Watched::Sets, written.clone());
        }
        cache.end_write(Watched::Sets, name);
        written
    }

    /// Stores an Application that was written.
    pub(crate) fn remember(&self, application: Value) {
        if !self.options.is_dry_run {
            self.state.remember(Watched::Applications, application);
        }
    }

    /// Checks before each write that no other process may write.
    pub(crate) fn require_leadership(&self) -> Result<(), Stopped> {
        if self.leadership.is_leader() { Ok(()) } else { Err(Stopped::NotLeader) }
    }
}

/// Returns the server's message about a failed write, as Argo CD's conditions have it.
pub(crate) fn message_of(error: &WriteError) -> String {
    if error.message.is_empty() { error.to_string() } else { error.message.clone() }
}

/// Whether the deletion guard is released for this generation of the set.
fn permits_deletions(set: &Value) -> bool {
    let allowed = set["metadata"]["annotations"][ALLOW_DELETIONS_ANNOTATION].as_str();
    let generation = set["metadata"]["generation"].as_u64();
    generation.is_some_and(|generation| allowed == Some(generation.to_string().as_str()))
}

/// Returns the time until the next reconcile of a set whose plan was carried out.
fn pause(plan: &Plan, generation: &Generation) -> Option<Duration> {
    let of_plan = plan.requeue_after_seconds.map(Duration::from_secs);
    let of_generators = generation.pause(Instant::now()).filter(|_| generation.generated.is_complete());
    of_generators.or(of_plan)
}

/// Whether a written status differs from the expected one in a field that was not part of the patch.
fn differs_beside(patch: &Value, written: &Value, expected: &Value) -> bool {
    let expected = expected.as_object().into_iter().flatten();
    let unsent = expected.filter(|(key, _)| patch.get(key.as_str()).is_none());
    unsent.into_iter().any(|(key, value)| written[key.as_str()] != *value)
}

/// Returns the merge patch from one status to another; `None` if they are equal.
pub(crate) fn difference(before: &Value, after: &Value) -> Option<Value> {
    let empty = Map::new();
    let (before, after) = (before.as_object().unwrap_or(&empty), after.as_object().unwrap_or(&empty));
    let changed = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
    let changed = changed.map(|(key, value)| (key.clone(), value.clone()));
    let removed = before.keys().filter(|key| !after.contains_key(*key));
    let patch: Map<String, Value> = changed.chain(removed.map(|key| (key.clone(), Value::Null))).collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn log_outcome(name: &ObjectName, outcome: &Outcome) {
    if *outcome != Outcome::UpToDate {
        tracing::warn!(applicationset = %name, "{}", outcome.message());
    }
}

#[cfg(test)]
mod tests;
