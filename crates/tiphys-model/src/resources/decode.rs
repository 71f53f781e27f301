//! Common types and functions of the decoders: unknown fields, warnings, list items.

use std::fmt;

use crate::params::{Warning, suggest};
use tiphys_yaml::{DecodeError, Key, Node, Object, Position, names_equal};

use crate::resources::ObjectRef;
use crate::resources::fields::{APPLICATION, DecodedFields, GoStruct, decode_fields};

/// The beginning of the paths of sources, and of the source hydrator.
const OF_SOURCES: &str = "spec.source";

/// An unknown field of a resource. It is ignored, because Argo CD has no such field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// Its path, such as `spec.source.plugin.parametres`.
    pub path: String,
    /// Position of its key.
    pub position: Position,
    /// The most similar field that the object can have.
    pub suggestion: Option<String>,
}

/// Unknown fields and warnings for a valid resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Fields that are ignored.
    pub unknown: Vec<UnknownField>,
    /// Input that Argo CD accepts although it is probably a mistake: duplicate keys, suspicious parameters.
    pub warnings: Vec<Warning>,
    /// Reasons why Argo CD refuses the resource.
    pub refused: Vec<Warning>,
}

impl UnknownField {
    /// Returns the finding about a key of an object that may have the known ones.
    pub(crate) fn new<'n>(
        path: String,
        key: &str,
        position: Position,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Self {
        let suggestion = suggest(key, known).first().map(|name| (*name).to_owned());
        Self { path, position, suggestion }
    }
}

impl fmt::Display for UnknownField {
    /// Writes the message about the field.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not known and ignored", self.path)?;
        match &self.suggestion {
            Some(name) => write!(f, "; did you mean {name}?"),
            None => Ok(()),
        }
    }
}

/// A resource with the findings from decoding.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded<T> {
    /// The resource.
    pub value: T,
    /// The findings.
    pub findings: Findings,
}

impl Findings {
    /// Records duplicate keys. Kubernetes' conversion of YAML to JSON keeps the last value.
    pub(crate) fn add_repeated_keys(&mut self, document: &Node) {
        self.warnings.extend(document.repeated_keys().into_iter().map(|(path, key)| Warning {
            message: format!("{path} is given twice; the last one counts"),
            position: Some(key.position),
        }));
    }

    /// Records unknown fields and wrong types of an Application by the table of Argo CD's fields. Those of sources are known more exactly.
    pub(crate) fn add_by_table(&mut self, application: &Node) {
        match decode_fields(&APPLICATION, application) {
            Ok(DecodedFields { unknown, .. }) => {
                let is_new = |field: &UnknownField| {
                    !field.path.starts_with(OF_SOURCES)
                        && self.unknown.iter().all(|known| known.position != field.position)
                };
                let new: Vec<UnknownField> = unknown.into_iter().filter(is_new).collect();
                self.unknown.extend(new);
            }
            Err(error) => {
                let DecodeError { position, path, message } = error.at;
                self.refused
                    .push(Warning { message: format!("{path}: {message}"), position: Some(position) });
            }
        }
    }

    /// Returns the findings in document order; they are collected in decoding order.
    pub(crate) fn sorted(mut self) -> Self {
        self.unknown.sort_by_key(|field| field.position);
        self.warnings.sort_by_key(|warning| warning.position);
        self
    }

    /// Records the fields of an object that a struct does not have.
    pub(crate) fn add_unknown(&mut self, object: &Object<'_>, of: &'static GoStruct) {
        let known = || of.fields.iter().chain(of.own).map(|field| field.name);
        let keys = object.entries().iter().map(|entry| &entry.key);
        let unknown = keys.filter(|key| !known().any(|name| names_equal(&key.text, name)));
        self.unknown.extend(
            unknown.map(|Key { text, position }| {
                UnknownField::new(object.path_of(text), text, *position, known())
            }),
        );
    }
}

impl ObjectRef {
    /// Returns the identity of a document as written, without validation.
    pub fn of(node: &Node) -> Self {
        let text = |path: &[&str]| {
            node.at(path.iter().copied()).and_then(Node::as_str).unwrap_or_default().to_owned()
        };
        Self {
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"]),
        }
    }
}

/// Returns a string; empty if missing.
pub(crate) fn text(object: &mut Object<'_>, key: &'static str) -> Result<String, DecodeError> {
    Ok(object.text(key)?.unwrap_or_default().to_owned())
}

/// Decodes the items of a list, each with its path. `None` if the list is missing or `null`.
pub(crate) fn items<'a, T>(
    object: &mut Object<'a>,
    key: &'static str,
    mut decode: impl FnMut(&'a Node, String) -> Result<T, DecodeError>,
) -> Result<Option<Vec<T>>, DecodeError> {
    let path = object.path_of(key);
    let Some(nodes) = object.list(key)? else { return Ok(None) };
    nodes
        .iter()
        .enumerate()
        .map(|(index, node)| decode(node, format!("{path}[{index}]")))
        .collect::<Result<_, _>>()
        .map(Some)
}
