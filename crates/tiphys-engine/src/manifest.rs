//! A rendered object.

use std::fmt;

use serde_json::{Map, Value};

/// A rendered or live object, which is always a JSON object. `Debug` writes only its key.
#[derive(Clone, PartialEq)]
pub struct Manifest {
    object: Map<String, Value>,
}

impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Manifest({})", self.key())
    }
}

/// The identity of an object in a cluster. It has no version, because one object may be read in several.
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

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
    /// Returns the manifest of an object. The kind is not checked, because items of lists need not have one.
    pub fn new(object: Map<String, Value>) -> Self {
        Self { object }
    }

    /// Returns the object.
    pub fn object(&self) -> &Map<String, Value> {
        &self.object
    }

    pub(crate) fn object_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.object
    }

    /// Returns the object as a JSON value.
    pub fn into_value(self) -> Value {
        Value::Object(self.object)
    }

    /// Returns group and kind. As in Kubernetes' own parser, both are empty if the API version is invalid.
    pub fn group_kind(&self) -> (&str, &str) {
        let api_version = self.object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        match group_of(api_version) {
            Some(group) => (group, self.object.get("kind").and_then(Value::as_str).unwrap_or_default()),
            None => ("", ""),
        }
    }

    /// Returns the name; empty if there is none.
    pub fn name(&self) -> &str {
        self.metadata_string("name")
    }

    /// Returns the namespace; empty if there is none.
    pub fn namespace(&self) -> &str {
        self.metadata_string("namespace")
    }

    /// Returns the object with this namespace; an empty one removes it.
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

    /// Returns the object without `metadata.managedFields`, which are most of a live object's memory.
    #[must_use]
    pub fn without_managed_fields(mut self) -> Self {
        if let Some(Value::Object(metadata)) = self.object.get_mut("metadata") {
            metadata.remove("managedFields");
        }
        self
    }

    /// Returns whether this is a custom resource definition.
    pub fn is_crd(&self) -> bool {
        self.group_kind() == ("apiextensions.k8s.io", "CustomResourceDefinition")
    }

    /// Returns an annotation.
    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.object.get("metadata")?.get("annotations")?.get(key).and_then(Value::as_str)
    }

    /// Returns whether the comma-separated list in an annotation has this item.
    pub(crate) fn has_annotation_item(&self, key: &str, item: &str) -> bool {
        self.annotation(key).is_some_and(|list| list.split(',').any(|one| one.trim() == item))
    }

    /// Returns the identity of the object, with its namespace as written.
    pub fn key(&self) -> ObjectKey {
        let (group, kind) = self.group_kind();
        ObjectKey {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: self.namespace().to_owned(),
            name: self.name().to_owned(),
        }
    }

    fn metadata_string(&self, key: &str) -> &str {
        self.object
            .get("metadata")
            .and_then(|metadata| metadata.get(key))
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// Returns the group of an API version; empty for `v1`. `None` for more than one slash.
pub(crate) fn group_of(api_version: &str) -> Option<&str> {
    match api_version.split_once('/') {
        None | Some(("", "")) => Some(""),
        Some((_, rest)) if rest.contains('/') => None,
        Some((group, _)) => Some(group),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::Value;

    use super::Manifest;

    /// Returns the manifest of a JSON object.
    pub(crate) fn manifest(object: Value) -> Manifest {
        let Value::Object(object) = object else { panic!("not an object: {object}") };
        Manifest::new(object)
    }
}
