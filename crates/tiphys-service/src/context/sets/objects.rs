//! `ConfigMaps` and Secrets of the store that sets name.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tiphys_generators::{ConfigObject, ConfigObjects, ObjectOrigin};
use tiphys_model::access::Secret;
use tiphys_model::resources::{SECRET_TYPE_LABEL, decode_base64};
use tiphys_store::{Documents, Origin, Place};
use tiphys_yaml::{Data, Node, read_json};

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
                    "{kind} {name:?} not found at {base}; in a comparison, such objects are those of the base"
                )),
            },
            [(origin, node, place)] => Ok(Some(ConfigObject {
                data: data(node),
                secret_type: secret_type(node),
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

/// The `ConfigMaps` and Secrets of a cluster.
#[derive(Clone)]
pub(crate) struct ClusterObjects(HashMap<(String, String, String), Arc<Value>>);

impl ClusterObjects {
    /// Finds these objects by kind, namespace and name.
    pub(crate) fn new(objects: &[Arc<Value>]) -> Self {
        let key = |object: &Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let metadata = &object["metadata"];
            (text(&object["kind"]), text(&metadata["namespace"]), text(&metadata["name"]))
        };
        Self(objects.iter().map(|object| (key(object), Arc::clone(object))).collect())
    }

    /// Returns these objects and others.
    pub(crate) fn and(&self, others: &[Arc<Value>]) -> Self {
        let mut all = self.clone();
        all.0.extend(Self::new(others).0);
        all
    }

    fn object(&self, kind: &str, namespace: &str, name: &str) -> Found {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let Some(object) = self.0.get(&key) else { return Ok(None) };
        let node = read_json(object.to_string().as_bytes()).map_err(|error| error.to_string())?;
        Ok(Some(ConfigObject {
            data: data(&node),
            secret_type: secret_type(&node),
            origin: ObjectOrigin::Caller,
            name: format!("{kind} {namespace}/{name}"),
        }))
    }
}

impl ConfigObjects for ClusterObjects {
    fn config_map(&self, namespace: &str, name: &str) -> Result<Option<ConfigObject>, String> {
        self.object("ConfigMap", namespace, name)
    }

    fn secret(&self, namespace: &str, name: &str) -> Result<Option<ConfigObject>, String> {
        self.object("Secret", namespace, name)
    }
}

/// Returns who wrote a document.
pub(crate) fn object_origin(origin: Origin) -> ObjectOrigin {
    if origin.receives_secrets() { ObjectOrigin::Caller } else { ObjectOrigin::Repository }
}

fn secret_type(object: &Node) -> String {
    let label = object.at(["metadata", "labels", SECRET_TYPE_LABEL]).and_then(Node::as_str);
    label.unwrap_or_default().to_owned()
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
