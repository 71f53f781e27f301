//! `ConfigMaps` and Secrets of the store that sets name.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_generators::{ConfigObject, ConfigObjects, ObjectOrigin};
use tiphys_model::access::Secret;
use tiphys_model::resources::decode_base64;
use tiphys_store::{Documents, Origin, Place};
use tiphys_yaml::{Data, Node};

use crate::context::trust::FileOrigins;

/// Finds objects in the files of a store, when a set names them.
pub(crate) struct StoreObjects {
    documents: Documents,
    origins: Arc<FileOrigins>,
    control_plane: String,
    /// The base of a comparison, from which the files are.
    pub(crate) base: Option<String>,
    /// Objects that were asked for, by kind, namespace and name.
    found: Mutex<HashMap<(&'static str, String, String), Found>>,
}

/// An object, `None` if it does not exist, or why it cannot be used.
type Found = Result<Option<ConfigObject>, String>;

impl ConfigObjects for StoreObjects {
    fn config_map(&self, namespace: &str, name: &str) -> Result<Option<ConfigObject>, String> {
        self.once("ConfigMap", namespace, name)
    }

    fn secret(&self, namespace: &str, name: &str) -> Result<Option<ConfigObject>, String> {
        self.once("Secret", namespace, name)
    }
}

impl StoreObjects {
    /// Finds the objects of a store, that of `base` in a comparison. Nothing is read yet.
    pub(crate) fn new(
        documents: Documents,
        origins: Arc<FileOrigins>,
        control_plane: &str,
        base: Option<String>,
    ) -> Self {
        let control_plane = control_plane.to_owned();
        Self { documents, origins, control_plane, base, found: Mutex::default() }
    }

    /// Returns the object of this name. The files are searched once for it.
    fn once(&self, kind: &'static str, namespace: &str, name: &str) -> Found {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (kind, namespace.to_owned(), name.to_owned());
        found.entry(key).or_insert_with(|| self.object(kind, namespace, name)).clone()
    }

    /// Returns the object of this name. That of the caller comes before those of rendered repositories.
    fn object(&self, kind: &str, namespace: &str, name: &str) -> Found {
        let is_here = |node: &Node| match node.at(["metadata", "namespace"]).and_then(Node::as_str) {
            None | Some("") => namespace == self.control_plane,
            Some(written) => written == namespace,
        };
        let mut found: Vec<(ObjectOrigin, Node, Place)> = self
            .documents
            .objects(kind, name)
            .into_iter()
            .filter(|(node, _)| is_here(node))
            .map(|(node, place)| (object_origin(self.origins.of(&place.file)), node, place))
            .collect();
        let best = found.iter().map(|(origin, ..)| *origin).max();
        found.retain(|(origin, ..)| Some(*origin) == best);
        match found.as_slice() {
            [] => match &self.base {
                None => Ok(None),
                Some(base) => Err(format!(
                    "{}s {name:?} not found at {base}; in a comparison, such objects are those of the base",
                    kind.to_lowercase()
                )),
            },
            [(origin, node, place)] => Ok(Some(ConfigObject {
                data: data(node),
                origin: *origin,
                name: format!("{kind} {namespace}/{name} ({place})"),
            })),
            several => {
                let places: Vec<String> = several.iter().map(|(.., place)| place.to_string()).collect();
                Err(format!("{kind} {namespace}/{name} is defined more than once: {}", places.join(", ")))
            }
        }
    }
}

/// Returns who wrote a document.
pub(crate) fn object_origin(origin: Origin) -> ObjectOrigin {
    if origin.receives_secrets() { ObjectOrigin::Caller } else { ObjectOrigin::Repository }
}

/// Returns the strings of `data`, decoded if it is a Secret's, overridden by `stringData`. Others are left out.
fn data(object: &Node) -> BTreeMap<String, Secret> {
    let is_secret = object.get("kind").and_then(Node::as_str) == Some("Secret");
    let entries = |field: &str| match object.get(field).map(|node| &node.data) {
        Some(Data::Mapping(entries)) => entries.as_slice(),
        _ => &[],
    };
    let decoded = |text: &str| {
        if is_secret {
            decode_base64(text).and_then(|bytes| String::from_utf8(bytes).ok())
        } else {
            Some(text.to_owned())
        }
    };
    let of_data = entries("data")
        .iter()
        .filter_map(|entry| Some((entry.key.text.clone(), Secret::new(decoded(entry.value.as_str()?)?))));
    let plain = entries("stringData").iter().filter(|_| is_secret);
    let plain = plain.filter_map(|entry| Some((entry.key.text.clone(), Secret::new(entry.value.as_str()?))));
    of_data.chain(plain).collect()
}

#[cfg(test)]
mod tests;
