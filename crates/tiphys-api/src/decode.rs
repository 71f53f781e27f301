//! What all decoders share: collecting fields that nobody knows, and items of lists.

use tiphys_params::{Parameter, Parameters, Warning};
use tiphys_yaml::{Data, DecodeError, Node, Object, Position};

use crate::ObjectRef;

/// A field of a resource that is not kept, because Argo CD has no such field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// Its path, as `spec.source.plugin.parametres`.
    pub path: String,
    /// Where its key begins.
    pub position: Position,
}

/// What a person should know of a resource that holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Fields that were left out.
    pub unknown: Vec<UnknownField>,
    /// What is taken as Argo CD takes it, but is hardly meant so: keys that are given twice, odd parameters.
    pub warnings: Vec<Warning>,
}

/// A resource and what was found while it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded<T> {
    /// The resource.
    pub value: T,
    /// What was found.
    pub findings: Findings,
}

impl Findings {
    /// Notes the keys of which Kubernetes' conversion of YAML to JSON keeps only the last.
    pub(crate) fn note_repeated_keys(&mut self, document: &Node) {
        self.warnings.extend(document.repeated_keys().into_iter().map(|(path, key)| Warning {
            message: format!("{path} is given twice; the last one counts"),
            position: Some(key.position),
        }));
    }

    /// Everything in the order of the document, which is not the order in which it was found.
    pub(crate) fn in_order(mut self) -> Self {
        self.unknown.sort_by_key(|field| field.position);
        self.warnings.sort_by_key(|warning| warning.position);
        self
    }

    /// Notes the fields of an object that no decoder asked for. To be called once all known ones were read.
    pub(crate) fn note_unknown(&mut self, object: &Object<'_>) {
        self.unknown.extend(object.unknown().into_iter().map(|entry| UnknownField {
            path: object.path_of(&entry.key.text),
            position: entry.key.position,
        }));
    }
}

impl ObjectRef {
    /// Names a document by what it says of itself, without judging any of it.
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

/// A text that is the same absent or empty.
pub(crate) fn text(object: &mut Object<'_>, key: &'static str) -> Result<String, DecodeError> {
    Ok(object.text(key)?.unwrap_or_default().to_owned())
}

/// A switch that is off where it is absent.
pub(crate) fn switch(object: &mut Object<'_>, key: &'static str) -> Result<bool, DecodeError> {
    Ok(object.boolean(key)?.unwrap_or_default())
}

/// The items of a list, each decoded with its path. `None` if the list is absent or `null`.
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

/// The plugin's parameters; what looks like a mistake is noted.
pub(crate) fn parameters(
    object: &mut Object<'_>,
    findings: &mut Findings,
) -> Result<Option<Vec<Parameter>>, DecodeError> {
    let path = object.path_of("parameters");
    let Some(node) = object.get("parameters") else { return Ok(None) };
    let parameters = Parameters::decode(node, &path)?;
    findings.warnings.extend(parameters.warnings);
    Ok(parameters.list)
}

/// Refuses a value that is neither absent, `null` nor an object, where any object is taken as it is.
pub(crate) fn raw_object(
    object: &mut Object<'_>,
    key: &'static str,
) -> Result<Option<serde_json::Value>, DecodeError> {
    let Some(node) = object.get(key) else { return Ok(None) };
    match node.data {
        Data::Mapping(_) => Ok(Some(node.to_value())),
        _ => Err(DecodeError::mismatch(node, &object.path_of(key), "an object")),
    }
}
