//! Which application a live object belongs to.

use serde_json::Value;

use crate::tracking::TrackingId;
use crate::{INSTALLATION_ID_ANNOTATION, Manifest, TRACKING_ANNOTATION, TrackingMethod};

/// How live objects are assigned to applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ownership {
    /// The tracking method.
    pub method: TrackingMethod,
    /// The label key for tracking.
    pub label_key: String,
    /// The ID of the Argo CD installation; empty if it has none.
    pub installation_id: String,
}

/// Kinds that controllers create with their parent's labels, but without an owner reference. The default `resource.exclusions` of Argo CD
/// lists them too.
const CREATED_BY_CONTROLLERS: [(&str, &str); 3] =
    [("", "Endpoints"), ("coordination.k8s.io", "Lease"), ("discovery.k8s.io", "EndpointSlice")];

/// Groups whose objects no application contains. Argo CD never reads them, as little as the events of the core group.
const UNTRACKED_GROUPS: [&str; 2] = ["events.k8s.io", "metrics.k8s.io"];

impl Ownership {
    /// Returns whether an application may prune objects of a kind. Other kinds need not be listed.
    pub fn prunes(group: &str, kind: &str) -> bool {
        !UNTRACKED_GROUPS.contains(&group)
            && !CREATED_BY_CONTROLLERS.contains(&(group, kind))
            && !matches!((group, kind), ("", "Event") | ("apiextensions.k8s.io", "CustomResourceDefinition"))
    }

    /// Returns the instance name of the application that tracks an object. `None` for custom resource definitions, which several
    /// applications may contain, and for objects of another Argo CD installation.
    pub fn owner<'a>(&self, live: &'a Manifest) -> Option<&'a str> {
        if live.is_crd() {
            return None;
        }
        match self.method {
            TrackingMethod::None => None,
            TrackingMethod::Label => {
                metadata_string(live, "labels", &self.label_key).filter(|name| !name.is_empty())
            }
            TrackingMethod::Annotation | TrackingMethod::AnnotationAndLabel => {
                self.mark(live).map(|mark| mark.application)
            }
        }
    }

    /// Returns the application that would prune the object if it did not render it. `None` if the object has an owner reference, or if its
    /// tracking ID names another object, from which it was copied.
    pub fn removed_by<'a>(&self, live: &'a Manifest) -> Option<&'a str> {
        let is_owned = live.object().get("metadata").and_then(|metadata| metadata.get("ownerReferences"));
        if is_owned.and_then(Value::as_array).is_some_and(|owners| !owners.is_empty())
            || CREATED_BY_CONTROLLERS.contains(&live.group_kind())
        {
            return None;
        }
        let owner = self.owner(live)?;
        match self.mark(live) {
            Some(mark) if self.method != TrackingMethod::Label && !is_of(&mark, live) => None,
            _ => Some(owner),
        }
    }

    fn mark<'a>(&self, live: &'a Manifest) -> Option<TrackingId<'a>> {
        if !self.installation_id.is_empty()
            && metadata_string(live, "annotations", INSTALLATION_ID_ANNOTATION) != Some(&self.installation_id)
        {
            return None;
        }
        TrackingId::parse(metadata_string(live, "annotations", TRACKING_ANNOTATION)?)
    }
}

/// Returns whether a tracking ID names this object. For a cluster-scoped object, the ID has the namespace of the application's destination.
fn is_of(mark: &TrackingId<'_>, live: &Manifest) -> bool {
    let namespace = live.namespace();
    live.group_kind() == (mark.group, mark.kind)
        && mark.name == live.name()
        && (namespace.is_empty() || namespace == mark.namespace)
}

fn metadata_string<'a>(live: &'a Manifest, field: &str, key: &str) -> Option<&'a str> {
    live.object().get("metadata")?.get(field)?.get(key).and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
