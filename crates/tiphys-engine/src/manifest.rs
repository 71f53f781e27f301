//! One rendered object.

use serde_json::{Map, Value};
use tiphys_yaml::write_go_json;

/// A rendered object: always a JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    object: Map<String, Value>,
}

/// What tells one object from another in a cluster. The version is no part of it: one object may be read in several.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl std::fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        if self.namespace.is_empty() {
            write!(f, " {}", self.name)
        } else {
            write!(f, " {}/{}", self.namespace, self.name)
        }
    }
}

impl Manifest {
    /// An object. Whether it has a kind is not asked here: items of lists need not have one (`spec/cmp.md` 14, row 6.6).
    pub fn new(object: Map<String, Value>) -> Self {
        Self { object }
    }

    /// The object.
    pub fn object(&self) -> &Map<String, Value> {
        &self.object
    }

    pub(crate) fn object_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.object
    }

    /// The object as a JSON value.
    pub fn into_value(self) -> Value {
        Value::Object(self.object)
    }

    /// The object as Go's `json.Marshal` writes it.
    pub fn to_go_json(&self) -> String {
        write_go_json(&Value::Object(self.object.clone()))
    }

    /// Group and kind; both are empty if the API version is not one, as for Kubernetes' own reader.
    pub fn group_kind(&self) -> (&str, &str) {
        let api_version = self.object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        match group_of(api_version) {
            Some(group) => (group, self.object.get("kind").and_then(Value::as_str).unwrap_or_default()),
            None => ("", ""),
        }
    }

    /// Name; empty if there is none.
    pub fn name(&self) -> &str {
        self.metadata_text("name")
    }

    /// Namespace; empty if there is none.
    pub fn namespace(&self) -> &str {
        self.metadata_text("namespace")
    }

    /// The object in a namespace; with an empty one, in none.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.set_namespace(namespace);
        self
    }

    pub(crate) fn set_namespace(&mut self, namespace: &str) {
        if namespace.is_empty() {
            if let Some(Value::Object(metadata)) = self.object.get_mut("metadata") {
                metadata.remove("namespace");
            }
            return;
        }
        let metadata = self.object.entry("metadata").or_insert(Value::Null);
        if metadata.is_null() {
            *metadata = Value::Object(Map::new());
        }
        if let Value::Object(metadata) = metadata {
            metadata.insert("namespace".to_owned(), namespace.into());
        }
    }

    /// Whether this is a custom resource definition.
    pub fn is_crd(&self) -> bool {
        self.group_kind() == ("apiextensions.k8s.io", "CustomResourceDefinition")
    }

    /// What tells the object from others, its namespace as it is written.
    pub fn key(&self) -> ObjectKey {
        let (group, kind) = self.group_kind();
        ObjectKey {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: self.namespace().to_owned(),
            name: self.name().to_owned(),
        }
    }

    fn metadata_text(&self, key: &str) -> &str {
        self.object
            .get("metadata")
            .and_then(|metadata| metadata.get(key))
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// The group of an API version: `v1` has the empty one. `None` for more than one slash.
pub(crate) fn group_of(api_version: &str) -> Option<&str> {
    match api_version.split_once('/') {
        None | Some(("", "")) => Some(""),
        Some((_, rest)) if rest.contains('/') => None,
        Some((group, _)) => Some(group),
    }
}
