//! A cached Application: what the controller compares, in little memory.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};
use tiphys_engine::appset::CompactValue;

use super::version;
use crate::object::ObjectName;

/// An Application.
#[derive(Debug)]
pub(super) struct CachedApplication {
    object: CompactValue,
    pub(super) version: u64,
    /// Hash of what the owning set decides.
    pub(super) fingerprint: u64,
    /// Name of the set that is its controller.
    pub(super) owner: Option<String>,
}

impl CachedApplication {
    pub(super) fn new(mut object: Value) -> Self {
        // Histories and lists of resources are most of an Application.
        if let Some(status) = object.get_mut("status") {
            *status = json!({"sync": {"status": status["sync"]["status"]}, "health": status["health"]});
        }
        let mut hasher = DefaultHasher::new();
        let metadata = &object["metadata"];
        let decided = [
            &object["spec"],
            &metadata["labels"],
            &metadata["annotations"],
            &metadata["finalizers"],
            &metadata["ownerReferences"],
            &metadata["uid"],
        ];
        json!(decided).to_string().hash(&mut hasher);
        let owner = owner(&object);
        let (version, fingerprint) = (version(&object), hasher.finish());
        Self { object: object.into(), version, fingerprint, owner }
    }

    pub(super) fn value(&self) -> Value {
        self.object.value()
    }

    /// Returns the set that owns it.
    pub(super) fn owning_set(&self, name: &ObjectName) -> Option<ObjectName> {
        let set = self.owner.clone()?;
        Some(ObjectName { namespace: name.namespace.clone(), name: set })
    }
}

/// Returns the set that is the controller of an Application.
fn owner(application: &Value) -> Option<String> {
    let owners = application["metadata"]["ownerReferences"].as_array()?;
    let controller = owners.iter().find(|owner| owner["controller"] == true)?;
    let is_set = controller["apiVersion"] == "argoproj.io/v1alpha1" && controller["kind"] == "ApplicationSet";
    controller["name"].as_str().filter(|_| is_set).map(str::to_owned)
}
