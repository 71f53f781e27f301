//! The part of `metadata` that decisions need.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tiphys_yaml::{DecodeError, Node, Object};

use crate::{ObjectRef, ResourceError};

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
    /// Reads the metadata of any resource, whatever else it holds.
    pub fn of(node: &Node) -> Result<Self, ResourceError> {
        let read = || match Object::new(node, "")?.object("metadata")? {
            Some(metadata) => Self::decode(metadata),
            None => Ok(Self::default()),
        };
        read().map_err(|source| ResourceError { object: ObjectRef::of(node), source: Box::new(source) })
    }

    /// Takes the known fields out of a `metadata` object. The others belong to the API server and are not looked at.
    pub(crate) fn decode(mut object: Object<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            name: object.text("name")?.unwrap_or_default().to_owned(),
            namespace: object.text("namespace")?.unwrap_or_default().to_owned(),
            labels: object.text_map("labels")?.unwrap_or_default(),
            annotations: object.text_map("annotations")?.unwrap_or_default(),
        })
    }
}
