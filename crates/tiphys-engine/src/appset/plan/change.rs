//! The Application that a reconcile wants to exist.

use serde_json::{Map, Value, json};
use tiphys_model::resources::{APPLICATION, ApplicationSet, decode_value};

use super::owner::{is_owned, set_controller};
use super::{PlanSettings, text};
use crate::appset::normalize_spec;

/// Annotations of Argo CD's other controllers, which every set preserves.
const PRESERVED_ANNOTATIONS: [&str; 3] =
    ["notified.notifications.argoproj.io", "argocd.argoproj.io/refresh", "argocd.argoproj.io/hydrate"];

/// Finalizers of hooks, with or without a `/` and a stage behind them, which every set preserves.
const PRESERVED_FINALIZERS: [&str; 2] =
    ["pre-delete-finalizer.argocd.argoproj.io", "post-delete-finalizer.argocd.argoproj.io"];

/// The objects of a comparison, in canonical form with normalised specs.
pub(super) enum Comparison {
    /// An object that does not exist.
    New(Value),
    /// An object that exists.
    Existing { live: Value, desired: Value },
}

/// Returns what a generated Application is to be. The error is that of one that may not be touched.
pub(super) fn desired(
    generated: &Value,
    before: Option<&Value>,
    set: &ApplicationSet,
    settings: &PlanSettings,
    namespace: &str,
) -> Result<Comparison, String> {
    let name = text(generated, "name");
    let empty = json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {},
    });
    let found = decode_value(&APPLICATION, before.unwrap_or(&empty));
    let mut live = found.map_err(|error| format!("application {namespace}/{name}: {}", error.go))?.value;
    let mut desired = live.clone();
    set_controller(&mut desired, set)?;
    if before.is_some_and(|before| !is_owned(before, set)) && !settings.adoptions.contains(name) {
        return Err(format!(
            "application {namespace}/{name} exists and is not owned by ApplicationSet {}; rename one of them, or make the set its owner",
            set.metadata.name
        ));
    }
    desired["spec"] = generated["spec"].clone();
    if let Some(operation) = generated.get("operation") {
        desired["operation"] = operation.clone();
    }
    let metadata = &mut desired["metadata"];
    let annotations = set.preserved_annotations.iter().chain(&settings.preserved_annotations);
    let annotations = annotations.map(String::as_str).chain(PRESERVED_ANNOTATIONS);
    replace_map(metadata, &generated["metadata"], "annotations", annotations);
    let labels = set.preserved_labels.iter().chain(&settings.preserved_labels).map(String::as_str);
    replace_map(metadata, &generated["metadata"], "labels", labels);
    replace_finalizers(metadata, &generated["metadata"]);
    normalize_spec(&mut desired["spec"]);
    normalize_spec(&mut live["spec"]);
    Ok(match before {
        None => Comparison::New(desired),
        Some(before) => {
            // Expressions may look at the status. It is not compared.
            if let Some(status) = before.get("status") {
                live["status"] = status.clone();
                desired["status"] = status.clone();
            }
            Comparison::Existing { live, desired }
        }
    })
}

/// Replaces a map of strings with the generated one, except for preserved keys.
fn replace_map<'a>(
    metadata: &mut Value,
    generated: &Value,
    field: &str,
    preserved: impl Iterator<Item = &'a str>,
) {
    let mut map = generated[field].as_object().cloned().unwrap_or_default();
    for key in preserved {
        if let Some(value) = metadata[field].get(key) {
            map.insert(key.to_owned(), value.clone());
        }
    }
    set_field(metadata, field, (!map.is_empty()).then_some(Value::Object(map)));
}

/// Replaces the finalizers with the generated ones and those of hooks. In Argo CD, one that is both is added at each reconcile.
fn replace_finalizers(metadata: &mut Value, generated: &Value) {
    let mut finalizers = generated["finalizers"].as_array().cloned().unwrap_or_default();
    for prefix in PRESERVED_FINALIZERS {
        let found = metadata["finalizers"].as_array().into_iter().flatten();
        for finalizer in found.filter(|one| one.as_str().is_some_and(|text| text.starts_with(prefix))) {
            if !finalizers.contains(finalizer) {
                finalizers.push(finalizer.clone());
            }
        }
    }
    set_field(metadata, "finalizers", (!finalizers.is_empty()).then_some(Value::Array(finalizers)));
}

fn set_field(object: &mut Value, field: &str, value: Option<Value>) {
    let Some(object): Option<&mut Map<String, Value>> = object.as_object_mut() else { return };
    match value {
        Some(value) => drop(object.insert(field.to_owned(), value)),
        None => drop(object.remove(field)),
    }
}
