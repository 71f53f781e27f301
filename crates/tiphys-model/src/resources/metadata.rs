//! The fields of `metadata` that tiphys uses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tiphys_yaml::{DecodeError, Node, Object};

use crate::resources::{ObjectRef, ResourceError};

/// Name, namespace, labels and annotations of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Name; empty if the document has none.
    pub name: String,
    /// Namespace; empty if the document has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Metadata {
    /// Decodes the metadata of any resource; other fields are not checked.
    pub fn of(node: &Node) -> Result<Self, ResourceError> {
        let read = || match Object::new(node, "")?.object("metadata")? {
            Some(metadata) => Self::decode(metadata),
            None => Ok(Self::default()),
        };
        read().map_err(|source| ResourceError { object: ObjectRef::of(node), source: Box::new(source) })
    }

    /// Decodes the known fields of a `metadata` object. The API server owns the others, so they are ignored.
    pub(crate) fn decode(mut object: Object<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            name: object.text("name")?.unwrap_or_default().to_owned(),
            namespace: object.text("namespace")?.unwrap_or_default().to_owned(),
            labels: object.text_map("labels")?.unwrap_or_default(),
            annotations: object.text_map("annotations")?.unwrap_or_default(),
        })
    }
}
