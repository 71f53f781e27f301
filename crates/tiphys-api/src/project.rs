//! The `AppProject` resource, as far as it is needed before its rules are enforced.

use serde_json::Value;
use tiphys_yaml::{DecodeError, Node, Object};

use crate::{Metadata, ObjectRef, ResourceError};

/// An `AppProject`: that it is there, and which of its fields restrict something.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppProject {
    /// Name, namespace, labels, annotations.
    pub metadata: Metadata,
    /// The names of the fields that restrict what an Application of the project may do, those that allow first. Empty: it allows all.
    pub restrictions: Vec<&'static str>,
    /// The repositories that it permits (`spec.sourceRepos`), patterns of Argo CD's; none permits none.
    pub source_repos: Vec<String>,
    /// `spec` as it was written, for the rules that a later issue brings.
    pub spec: Value,
}

/// Whether an item of a list stands for everything.
type ItemTest = fn(&Node) -> bool;

/// Lists that allow nothing but what they name: without an item for everything they restrict, absent ones included.
const ALLOWING: [(&str, ItemTest); 3] = [
    ("sourceRepos", |item| item.as_str() == Some("*")),
    ("destinations", is_every_destination),
    ("clusterResourceWhitelist", is_every_kind),
];

/// Lists that forbid something as soon as they have an item.
const FORBIDDING: [&str; 3] = ["namespaceResourceBlacklist", "signatureKeys", "clusterResourceBlacklist"];

impl AppProject {
    /// Reads an `AppProject` that was written as YAML by Go's rules: of a key that is given twice the last one counts.
    pub fn decode(node: &Node) -> Result<Self, ResourceError> {
        Self::decode_fields(&node.clone().deduplicated())
            .map_err(|source| ResourceError { object: ObjectRef::of(node), source: Box::new(source) })
    }

    fn decode_fields(node: &Node) -> Result<Self, DecodeError> {
        let mut object = Object::new(node, "")?;
        let metadata = match object.object("metadata")? {
            Some(metadata) => Metadata::decode(metadata)?,
            None => Metadata::default(),
        };
        let spec = object.get("spec").map_or(Value::Null, Node::to_value);
        let restrictions = restrictions(&mut object)?;
        let source_repos = match object.object("spec")? {
            Some(mut spec) => spec.texts("sourceRepos")?.unwrap_or_default(),
            None => Vec::new(),
        };
        Ok(Self { metadata, restrictions, source_repos, spec })
    }
}

fn restrictions(project: &mut Object<'_>) -> Result<Vec<&'static str>, DecodeError> {
    let Some(mut spec) = project.object("spec")? else { return Ok(ALLOWING.map(|(key, _)| key).to_vec()) };
    let mut found = Vec::new();
    for (key, is_everything) in ALLOWING {
        if !spec.list(key)?.unwrap_or_default().iter().any(is_everything) {
            found.push(key);
        }
    }
    for key in FORBIDDING {
        if spec.list(key)?.is_some_and(|items| !items.is_empty()) {
            found.push(key);
        }
    }
    // This list allows everything while it is absent or empty.
    let kinds = spec.list("namespaceResourceWhitelist")?.unwrap_or_default();
    if !kinds.is_empty() && !kinds.iter().any(is_every_kind) {
        found.push("namespaceResourceWhitelist");
    }
    if spec.boolean("permitOnlyProjectScopedClusters")? == Some(true) {
        found.push("permitOnlyProjectScopedClusters");
    }
    Ok(found)
}

fn is_every_destination(item: &Node) -> bool {
    let text = |key| item.get(key).and_then(Node::as_str);
    text("namespace") == Some("*") && (text("server") == Some("*") || text("name") == Some("*"))
}

fn is_every_kind(item: &Node) -> bool {
    ["group", "kind"].iter().all(|key| item.get(key).and_then(Node::as_str) == Some("*"))
}
