//! Which application a live object belongs to.

use serde_json::Value;

use crate::tracking::TrackingId;
use crate::{INSTALLATION_ID_ANNOTATION, Manifest, TRACKING_ANNOTATION, TrackingMethod};

/// How live objects say which application they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ownership {
    /// How objects are marked.
    pub method: TrackingMethod,
    /// Key of the label.
    pub label_key: String,
    /// The Argo CD installation; empty if it has no name.
    pub installation_id: String,
}

/// Kinds that controllers make and mark with the labels of what they stem from, without an owner. Argo CD does not look at them either
/// (`resource.exclusions` as it comes).
const MADE_BY_CONTROLLERS: [(&str, &str); 3] =
    [("", "Endpoints"), ("coordination.k8s.io", "Lease"), ("discovery.k8s.io", "EndpointSlice")];

impl Ownership {
    /// The application that an object is marked for, by its instance name. Nothing is said of custom resource definitions, which several
    /// applications may bring, nor of objects of another Argo CD installation.
    pub fn owner<'a>(&self, live: &'a Manifest) -> Option<&'a str> {
        if live.is_crd() {
            return None;
        }
        match self.method {
            TrackingMethod::None => None,
            TrackingMethod::Label => {
                metadata_text(live, "labels", &self.label_key).filter(|name| !name.is_empty())
            }
            TrackingMethod::Annotation | TrackingMethod::AnnotationAndLabel => {
                self.mark(live).map(|mark| mark.application)
            }
        }
    }

    /// The application that would remove the object if it did not render it. An object that another object owns is that one's, and a
    /// mark for another object was copied.
    pub fn removed_by<'a>(&self, live: &'a Manifest) -> Option<&'a str> {
        let is_owned = live.object().get("metadata").and_then(|metadata| metadata.get("ownerReferences"));
        if is_owned.and_then(Value::as_array).is_some_and(|owners| !owners.is_empty())
            || MADE_BY_CONTROLLERS.contains(&live.group_kind())
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
            && metadata_text(live, "annotations", INSTALLATION_ID_ANNOTATION) != Some(&self.installation_id)
        {
            return None;
        }
        TrackingId::parse(metadata_text(live, "annotations", TRACKING_ANNOTATION)?)
    }
}

/// Whether a mark names this object. A cluster-scoped object's mark has the namespace of the application's destination.
fn is_of(mark: &TrackingId<'_>, live: &Manifest) -> bool {
    let namespace = live.namespace();
    live.group_kind() == (mark.group, mark.kind)
        && mark.name == live.name()
        && (namespace.is_empty() || namespace == mark.namespace)
}

fn metadata_text<'a>(live: &'a Manifest, field: &str, key: &str) -> Option<&'a str> {
    live.object().get("metadata")?.get(field)?.get(key).and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
