//! What was rendered against what is live.

mod projection;

use serde_json::{Map, Value};

use super::Comparison;
use super::mask::LAST_APPLIED_ANNOTATION;
use crate::Manifest;

/// An object that was rendered, with the namespace that it goes to, and what is live of it.
#[derive(Clone, Debug)]
pub struct LivePair {
    /// As it was rendered.
    pub rendered: Manifest,
    /// As it is in the cluster.
    pub live: Option<Manifest>,
}

/// Fields of `metadata` that only the server sets.
const SERVER_METADATA: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Compares what was rendered with what is live, in three ways: a live field counts only if it was rendered, or if it was applied before
/// (`kubectl.kubernetes.io/last-applied-configuration`) and is not rendered any more. What only the server sets does not count. The live
/// side is shown without what does not count. `not_rendered` are live objects that a sync would remove.
pub fn compare_live(pairs: &[LivePair], not_rendered: &[Manifest]) -> Comparison {
    let mut comparison = Comparison::default();
    for pair in pairs {
        let rendered = without_server_fields(&pair.rendered);
        match &pair.live {
            None => comparison.note(None, Some(&Manifest::new(rendered))),
            Some(live) => {
                let applied = last_applied(live);
                let shown = projection::of(&rendered, &without_server_fields(live), applied.as_ref());
                comparison.note(Some(&Manifest::new(shown)), Some(&Manifest::new(rendered)));
            }
        }
    }
    for live in not_rendered {
        comparison.note(Some(&Manifest::new(without_server_fields(live))), None);
    }
    comparison
}

/// The object as it was last applied by `kubectl apply`, or by Argo CD on the client's side.
fn last_applied(live: &Manifest) -> Option<Map<String, Value>> {
    let annotations = live.object().get("metadata")?.get("annotations")?;
    match serde_json::from_str(annotations.get(LAST_APPLIED_ANNOTATION)?.as_str()?) {
        Ok(Value::Object(applied)) => Some(without_server_fields(&Manifest::new(applied))),
        _ => None,
    }
}

/// The object without what only the server sets.
fn without_server_fields(manifest: &Manifest) -> Map<String, Value> {
    let mut object = manifest.object().clone();
    object.remove("status");
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        for field in SERVER_METADATA {
            metadata.remove(field);
        }
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
            && annotations.remove(LAST_APPLIED_ANNOTATION).is_some()
            && annotations.is_empty()
        {
            metadata.remove("annotations");
        }
    }
    object
}

#[cfg(test)]
mod tests;
