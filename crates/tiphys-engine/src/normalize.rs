//! Converts the output of a plugin to objects: requires a kind, flattens lists, adds tracking (Argo CD's `GenerateManifests`).
//!
//! Objects that Argo CD would lose without a message are rejected (see `docs/differences.md`): a resource with a top-level `items`, which
//! Argo CD replaces with those items or drops, and an object whose `metadata` is `null`, which would not be tracked.

use serde_json::Value;
use tiphys_yaml::{Data, Node, Position};

use crate::manifest::group_of;
use crate::tracking::Unmarkable;
use crate::{Manifest, Tracking};

/// A document of a plugin's output that is not an object to deploy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("document {document} of the output (line {}, column {}): {problem}", position.line, position.column)]
pub struct NormalizeError {
    /// The number of the document, from 1.
    pub document: usize,
    /// The position of its first character.
    pub position: Position,
    /// The problem.
    pub problem: NormalizeProblem,
}

/// A problem of a document. Messages contain keys, names, kinds and API versions, no other values, because the output may contain secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NormalizeProblem {
    /// The document is not an object.
    #[error("expected an object, found {found}")]
    NotAnObject {
        /// The type that was found.
        found: &'static str,
    },
    /// `kind` is missing, or not a non-empty string.
    #[error("Object 'Kind' is missing{}", keys_of(keys))]
    NoKind {
        /// The keys of the document.
        keys: Vec<String>,
    },
    /// An API version that is neither `version` nor `group/version`.
    #[error("apiVersion {api_version:?} of the {kind} is neither `version` nor `group/version`")]
    ApiVersion {
        /// The API version as written.
        api_version: String,
        /// Kind of the object.
        kind: String,
    },
    /// An item of a list is not an object.
    #[error("item {item} of the {kind} is {found}, not an object")]
    Item {
        /// The number of the item, from 1.
        item: usize,
        /// Kind of the list.
        kind: String,
        /// The type that was found.
        found: &'static str,
    },
    /// A resource that would be treated as a list.
    #[error(
        "{kind} {name:?} has a top-level `items`: Argo CD would take it for a list and lose the object itself; \
         move `items` below another field, or print its items instead"
    )]
    ItemsOfResource {
        /// Kind of the object.
        kind: String,
        /// Its name.
        name: String,
    },
    /// An object to which tracking cannot be added.
    #[error("{kind} {name:?} cannot be tracked: {reason}")]
    Tracking {
        /// Kind of the object.
        kind: String,
        /// Its name.
        name: String,
        /// The reason.
        reason: String,
    },
}

fn keys_of(keys: &[String]) -> String {
    if keys.is_empty() {
        " in an empty object".to_owned()
    } else {
        format!(" in an object with the keys {}", keys.join(", "))
    }
}

/// Converts documents to objects, in order. Lists are flattened one level deep, and those with `items: null` are dropped. Items need no
/// kind. Tracking is added to every object except custom resource definitions.
pub fn normalize(documents: &[Node], tracking: &Tracking) -> Result<Vec<Manifest>, NormalizeError> {
    let mut manifests = Vec::with_capacity(documents.len());
    for (index, document) in documents.iter().enumerate() {
        flatten(document, &mut manifests)
            .and_then(|first| manifests[first..].iter_mut().try_for_each(|manifest| mark(manifest, tracking)))
            .map_err(|problem| NormalizeError {
                document: index + 1,
                position: document.position,
                problem,
            })?;
    }
    Ok(manifests)
}

/// Adds the objects of a document. Returns the index of the first one.
fn flatten(document: &Node, manifests: &mut Vec<Manifest>) -> Result<usize, NormalizeProblem> {
    let first = manifests.len();
    if !matches!(document.data, Data::Mapping(_)) {
        return Err(NormalizeProblem::NotAnObject { found: document.type_words() });
    }
    let kind = checked_kind(document)?;
    match document.get("items").map(|items| &items.data) {
        Some(Data::Sequence(items)) => {
            require_list(document, kind)?;
            for (index, item) in items.iter().enumerate() {
                let Value::Object(object) = item.to_value() else {
                    return Err(NormalizeProblem::Item {
                        item: index + 1,
                        kind: kind.to_owned(),
                        found: item.type_words(),
                    });
                };
                manifests.push(Manifest::new(object));
            }
        }
        Some(Data::Null) if document.get("spec").is_none() && document.get("status").is_none() => {
            require_list(document, kind)?;
        }
        _ => {
            if let Value::Object(object) = document.to_value() {
                manifests.push(Manifest::new(object));
            }
        }
    }
    Ok(first)
}

fn checked_kind(document: &Node) -> Result<&str, NormalizeProblem> {
    let Some(kind) = document.get("kind").and_then(Node::as_str).filter(|kind| !kind.is_empty()) else {
        let keys = match &document.data {
            Data::Mapping(entries) => entries.iter().map(|entry| entry.key.text.clone()).collect(),
            _ => Vec::new(),
        };
        return Err(NormalizeProblem::NoKind { keys });
    };
    match document.get("apiVersion").and_then(Node::as_str) {
        Some(version) if group_of(version).is_none() => {
            Err(NormalizeProblem::ApiVersion { api_version: version.to_owned(), kind: kind.to_owned() })
        }
        _ => Ok(kind),
    }
}

/// Rejects a resource with `items` that is not a list. The kind of a list ends in `List`, and a list has no name. `List` itself may have a
/// name, since Kubernetes has no other kind with that name.
fn require_list(document: &Node, kind: &str) -> Result<(), NormalizeProblem> {
    let name = document.at(["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
    if kind == "List" || (kind.ends_with("List") && name.is_empty()) {
        Ok(())
    } else {
        Err(NormalizeProblem::ItemsOfResource { kind: kind.to_owned(), name: name.to_owned() })
    }
}

fn mark(manifest: &mut Manifest, tracking: &Tracking) -> Result<(), NormalizeProblem> {
    tracking.mark(manifest).map_err(|unmarkable| NormalizeProblem::Tracking {
        kind: manifest.group_kind().1.to_owned(),
        name: manifest.name().to_owned(),
        reason: match unmarkable {
            Unmarkable::Metadata(found) => format!("its `metadata` is {found}; give it at least a name"),
            Unmarkable::NotAnObject(field) => format!("its `{field}` is not an object"),
            Unmarkable::Value { field, key } => {
                format!("the value of {key:?} in its `metadata.{field}` must be a string; quote it")
            }
            Unmarkable::LabelValue(value) => format!("{value:?} cannot be shortened to a label's value"),
        },
    })
}

#[cfg(test)]
mod tests;
