//! The writes of a reconcile into the ApplicationSet itself: its status, and the removal of the refresh annotation.

mod condition;
mod outcome;

use serde_json::{Map, Value, json};
use tiphys_model::resources::{ApplicationSet, GROUP};

pub use outcome::{ALLOW_DELETIONS_ANNOTATION, FailureReason, Outcome};

/// Default of [`StatusInput::max_resources`], as in Argo CD.
pub const DEFAULT_MAX_STATUS_RESOURCES: usize = 5000;

/// The annotation that requests a reconcile of a set.
pub const REFRESH_ANNOTATION: &str = "argocd.argoproj.io/application-set-refresh";

/// Inputs of a status.
#[derive(Clone, Copy, Debug)]
pub struct StatusInput<'a> {
    /// The current `status` of the set; null if it has none.
    pub status: &'a Value,
    /// The outcome of the reconcile.
    pub outcome: &'a Outcome,
    /// The Applications that the set owns after the reconcile, with their status.
    pub applications: &'a [&'a Value],
    /// Maximum number of entries of `resources`; 0 means no limit.
    pub max_resources: usize,
    /// The current time (RFC 3339, seconds).
    pub now: &'a str,
}

/// Returns the whole new `status` of a set. It is equal to the current one if nothing changed. Fields and types of conditions that Argo CD does
/// not have are kept, and so is `applicationStatus`.
///
/// As in Argo CD, `resources` are those of the last reconcile that came to its end.
pub fn status(input: &StatusInput<'_>) -> Value {
    let mut status = input.status.as_object().cloned().unwrap_or_default();
    status.insert("conditions".to_owned(), Value::Array(condition::merged(input)));
    if input.outcome.has_current_resources() {
        insert_resources(&mut status, input);
    }
    if let Some(health) = health(input.outcome) {
        status.insert("health".to_owned(), health);
    }
    Value::Object(status)
}

/// Returns the JSON merge patch that removes the refresh annotation from a set that has it, whatever its value.
pub fn refresh_patch(set: &ApplicationSet) -> Option<Value> {
    let is_set = set.metadata.annotations.contains_key(REFRESH_ANNOTATION);
    is_set.then(|| json!({"metadata": {"annotations": {REFRESH_ANNOTATION: null}}}))
}

fn insert_resources(status: &mut Map<String, Value>, input: &StatusInput<'_>) {
    let mut resources: Vec<Value> =
        input.applications.iter().map(|application| resource(application)).collect();
    resources.sort_by(|one, other| one["name"].as_str().cmp(&other["name"].as_str()));
    let count = resources.len();
    if input.max_resources > 0 {
        resources.truncate(input.max_resources);
    }
    // Go omits an empty list and the number zero.
    for (field, value) in [("resources", Value::Array(resources)), ("resourcesCount", Value::from(count))] {
        if count == 0 {
            status.remove(field);
        } else {
            status.insert(field.to_owned(), value);
        }
    }
}

/// Returns an entry of `resources`. Of the health, it has the status alone.
fn resource(application: &Value) -> Value {
    let (metadata, status) = (&application["metadata"], &application["status"]);
    let mut resource = json!({
        "group": GROUP,
        "version": "v1alpha1",
        "kind": "Application",
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "health": {},
    });
    if let Some(sync) = non_empty(&status["sync"]["status"]) {
        resource["status"] = sync.clone();
    }
    if let Some(health) = non_empty(&status["health"]["status"]) {
        resource["health"]["status"] = health.clone();
    }
    resource
}

fn non_empty(text: &Value) -> Option<&Value> {
    text.as_str().is_some_and(|text| !text.is_empty()).then_some(text)
}

/// Returns the health that follows from the conditions. Without rolling syncs, an error occurred or the resources are up to date.
fn health(outcome: &Outcome) -> Option<Value> {
    let status = match outcome {
        Outcome::RollingSync | Outcome::OtherController(_) => return None,
        Outcome::UpToDate => "Healthy",
        Outcome::Failed { .. } | Outcome::Guarded(_) => "Degraded",
    };
    Some(json!({"status": status, "message": outcome.message()}))
}

#[cfg(test)]
mod tests;
