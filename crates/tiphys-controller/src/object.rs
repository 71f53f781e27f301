//! Names and kinds of the objects that the controller reads and writes.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;
use tiphys_engine::{Scope, ServedKind};
use tiphys_model::resources::GROUP;

/// Namespace and name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// A kind of objects that the controller watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Watched {
    Sets,
    Applications,
    Projects,
    Secrets,
    ConfigMaps,
}

impl Watched {
    /// All kinds.
    pub(crate) const ALL: [Self; 5] =
        [Self::Sets, Self::Applications, Self::Projects, Self::Secrets, Self::ConfigMaps];

    /// Returns the kind as the API server serves it.
    pub(crate) fn kind(self) -> ServedKind {
        match self {
            Self::Sets => argo_cd("ApplicationSet", "applicationsets"),
            Self::Applications => argo_cd("Application", "applications"),
            Self::Projects => argo_cd("AppProject", "appprojects"),
            Self::Secrets => core("Secret", "secrets"),
            Self::ConfigMaps => core("ConfigMap", "configmaps"),
        }
    }

    /// Whether its objects are those of the sets' namespaces, and not only of the controller's.
    pub(crate) fn is_of_sets(self) -> bool {
        matches!(self, Self::Sets | Self::Applications)
    }
}

/// Returns the kind of core Events.
pub(crate) fn event_kind() -> ServedKind {
    core("Event", "events")
}

/// Returns the kind of Leases.
pub(crate) fn lease_kind() -> ServedKind {
    served("coordination.k8s.io", "v1", "Lease", "leases")
}

fn argo_cd(kind: &str, plural: &str) -> ServedKind {
    served(GROUP, "v1alpha1", kind, plural)
}

fn core(kind: &str, plural: &str) -> ServedKind {
    served("", "v1", kind, plural)
}

fn served(group: &str, version: &str, kind: &str, plural: &str) -> ServedKind {
    let text = str::to_owned;
    ServedKind {
        group: text(group),
        version: text(version),
        kind: text(kind),
        plural: text(plural),
        scope: Scope::Namespaced,
        verbs: BTreeSet::new(),
    }
}

impl ObjectName {
    /// Returns the name of an object.
    pub(crate) fn of(object: &Value) -> Self {
        Self {
            namespace: metadata(object, "namespace").to_owned(),
            name: metadata(object, "name").to_owned(),
        }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// Returns a string of an object's metadata; empty if missing.
pub(crate) fn metadata<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
}
