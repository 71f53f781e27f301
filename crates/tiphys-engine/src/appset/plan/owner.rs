//! Owner references of Applications.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tiphys_model::resources::{ApplicationSet, GROUP};

use super::{PlanSettings, non_empty, text};

const API_VERSION: &str = "argoproj.io/v1alpha1";
const KIND: &str = "ApplicationSet";

/// Returns the existing Applications that a set owns, by name.
pub fn owned_applications<'a>(
    set: &ApplicationSet,
    existing: &'a [Value],
    settings: &PlanSettings,
) -> Vec<&'a Value> {
    existing_by_name(set, existing, settings).into_values().filter(|one| is_owned(one, set)).collect()
}

/// Returns the existing Applications of the set's namespace by name.
pub(super) fn existing_by_name<'a>(
    set: &ApplicationSet,
    existing: &'a [Value],
    settings: &PlanSettings,
) -> BTreeMap<&'a str, &'a Value> {
    let namespace = namespace(set, settings);
    let default = settings.controller_namespace.as_str();
    let is_here =
        |application: &&Value| non_empty(text(application, "namespace")).unwrap_or(default) == namespace;
    existing.iter().filter(is_here).map(|application| (text(application, "name"), application)).collect()
}

/// Returns the namespace of a set and of its Applications.
pub(super) fn namespace<'a>(set: &'a ApplicationSet, settings: &'a PlanSettings) -> &'a str {
    non_empty(&set.metadata.namespace).unwrap_or(&settings.controller_namespace)
}

/// Returns whether the controller of an existing Application of the set's namespace is the set, by name.
pub(super) fn is_owned(application: &Value, set: &ApplicationSet) -> bool {
    controller(application).is_some_and(|owner| {
        owner["apiVersion"] == API_VERSION && owner["kind"] == KIND && owner["name"] == *set.metadata.name
    })
}

/// Makes the set the controller of a canonical Application. Another controller is an error, in Argo CD's words.
pub(super) fn set_controller(application: &mut Value, set: &ApplicationSet) -> Result<(), String> {
    if let Some(owner) = controller(application).filter(|owner| !refers_to(owner, set)) {
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let metadata = &application["metadata"];
        return Err(format!(
            "error while wrapping using MutateFn: Object {}/{} is already owned by another {} controller {}",
            text(metadata, "namespace"),
            text(metadata, "name"),
            text(owner, "kind"),
            text(owner, "name"),
        ));
    }
    let mut reference = json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": set.metadata.name,
        "uid": set.uid,
        "controller": true,
        "blockOwnerDeletion": true,
    });
    let references = &mut application["metadata"]["ownerReferences"];
    let mut owners = references.as_array().cloned().unwrap_or_default();
    match owners.iter_mut().find(|owner| refers_to(owner, set)) {
        Some(owner) => {
            // The document of a set in git has no UID.
            if set.uid.is_empty() {
                reference["uid"] = owner["uid"].clone();
            }
            *owner = reference;
        }
        None => owners.push(reference),
    }
    *references = Value::Array(owners);
    Ok(())
}

fn controller(application: &Value) -> Option<&Value> {
    let owners = application["metadata"]["ownerReferences"].as_array()?;
    owners.iter().find(|owner| owner["controller"] == true)
}

/// As in Kubernetes, the version and the UID do not matter.
fn refers_to(owner: &Value, set: &ApplicationSet) -> bool {
    let group =
        owner["apiVersion"].as_str().and_then(|version| version.split_once('/')).map(|(group, _)| group);
    group == Some(GROUP) && owner["kind"] == KIND && owner["name"] == *set.metadata.name
}
