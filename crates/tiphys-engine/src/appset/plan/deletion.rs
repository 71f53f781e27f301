//! Deletion of a set. Kubernetes deletes the Applications that the set owns.

use serde_json::{Value, json};
use tiphys_model::resources::ApplicationSet;

use super::{PlanSettings, Policy, owned_applications, text};
use crate::appset::{Outcome, RESOURCES_FINALIZER};

/// The requests of the deletion of a set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetDeletion {
    /// JSON merge patches of owned Applications, by name. They remove the owner references, so that the Applications survive the set.
    pub owner_patches: Vec<(String, Value)>,
    /// The JSON merge patch that removes Argo CD's finalizer from the set, if it has that. It is only sent after all others succeeded.
    pub finalizers_patch: Option<Value>,
}

/// Returns what a reconcile of a set with a `deletionTimestamp` does. A policy that forbids deletions, or an unknown one, keeps the
/// Applications. The error is the outcome for a set whose Applications would have to be deleted in an order, which is not supported.
pub fn plan_set_deletion(
    set: &ApplicationSet,
    existing: &[Value],
    settings: &PlanSettings,
) -> Result<SetDeletion, Outcome> {
    if is_deletion_ordered(set) {
        return Err(Outcome::RollingSync);
    }
    let owned = match Policy::of(set, settings) {
        Ok(policy) if policy.permits_deletions() => Vec::new(),
        _ => owned_applications(set, existing, settings),
    };
    let finalizers: Vec<Value> = set.finalizers.iter().cloned().map(Value::from).collect();
    let patch = |application: &Value| {
        (text(application, "name").to_owned(), json!({"metadata": {"ownerReferences": null}}))
    };
    Ok(SetDeletion {
        owner_patches: owned.into_iter().map(patch).collect(),
        finalizers_patch: finalizers_patch(&finalizers),
    })
}

/// Whether the Applications are deleted one after the other, from the last step of a rolling sync to the first.
fn is_deletion_ordered(set: &ApplicationSet) -> bool {
    let Some(strategy) = set.strategy.as_ref().filter(|_| Outcome::of_strategy(set).is_some()) else {
        return false;
    };
    let has_steps = strategy["rollingSync"]["steps"].as_array().is_some_and(|steps| !steps.is_empty());
    has_steps && strategy["deletionOrder"].as_str().is_some_and(|order| order.eq_ignore_ascii_case("reverse"))
}

/// Returns the JSON merge patch that removes the resources finalizer.
pub(super) fn finalizers_patch(finalizers: &[Value]) -> Option<Value> {
    let left: Vec<&Value> =
        finalizers.iter().filter(|finalizer| **finalizer != RESOURCES_FINALIZER).collect();
    if left.len() == finalizers.len() {
        return None;
    }
    let left = if left.is_empty() { Value::Null } else { json!(left) };
    Some(json!({"metadata": {"finalizers": left}}))
}

#[cfg(test)]
mod tests;
