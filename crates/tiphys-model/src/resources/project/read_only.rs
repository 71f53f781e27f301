//! The read-only lists of a project: which objects dynamic parameters may read, in addition to what its Applications may manage.

use tiphys_yaml::{Data, DecodeError, Node, Object, read_document};

use super::KindPattern;
use crate::resources::decode::{items, text};
use crate::resources::fields::GoFields;
use crate::resources::{Findings, Metadata};

/// Annotation of an `AppProject` with the read-only lists, in YAML: Argo CD's CRD removes fields that it does not know.
pub const READ_ONLY_ANNOTATION: &str = "tiphys/read-only";

/// The two read-only lists. An empty list permits nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOnlyLists {
    /// `namespaceReadOnlyAllowlist`: namespaced objects.
    pub namespaced: Vec<ReadOnlyKind>,
    /// `clusterReadOnlyAllowList`: cluster-scoped objects.
    pub cluster: Vec<KindPattern>,
}

/// Patterns of namespaced objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOnlyKind {
    /// Patterns of group, kind and name.
    pub object: KindPattern,
    /// Pattern of the namespace; empty if the entry has none, which is an error of the project.
    pub namespace: String,
}

impl ReadOnlyLists {
    /// Decodes the two fields of a `spec`.
    pub(super) fn decode(spec: &mut Object<'_>) -> Result<Self, DecodeError> {
        Self::decode_items(spec)
    }

    /// Decodes the annotation of a project. Unlike in `spec`, unknown keys are errors, because nothing else checks the annotation.
    pub(super) fn of_annotation(metadata: &Metadata, project: &Node) -> Result<Self, DecodeError> {
        let Some(yaml) = metadata.annotations.get(READ_ONLY_ANNOTATION) else { return Ok(Self::default()) };
        let position = project
            .at(["metadata", "annotations", READ_ONLY_ANNOTATION])
            .map_or(project.position, |node| node.position);
        let path = format!("metadata.annotations[{READ_ONLY_ANNOTATION}]");
        let failed = |path: String, message: String| DecodeError { position, path, message };
        let document = read_document(yaml.as_bytes())
            .map_err(|error| failed(path.clone(), format!("expected YAML: {error}")))?;
        let Some(document) = document.map(Node::deduplicated) else { return Ok(Self::default()) };
        let decoded = match document.data {
            Data::Mapping(_) => Object::new(&document, path.clone()).and_then(|mut lists| {
                let decoded = Self::decode_items(&mut lists)?;
                refuse_unknown(&lists)?;
                Ok(decoded)
            }),
            _ => Err(DecodeError::mismatch(&document, &path, "a mapping")),
        };
        // The position within the annotation would be read as one in the file.
        decoded.map_err(|error| failed(error.path, error.message))
    }

    /// An unknown key of an entry is an error, because without the intended restriction the entry permits more.
    fn decode_items(lists: &mut Object<'_>) -> Result<Self, DecodeError> {
        let pattern = |object: &mut Object<'_>| KindPattern::read_fields(object, &mut Findings::default());
        let namespaced = items(lists, "namespaceReadOnlyAllowlist", |node, path| {
            let mut object = Object::new(node, path)?;
            let item =
                ReadOnlyKind { object: pattern(&mut object)?, namespace: text(&mut object, "namespace")? };
            refuse_unknown(&object).map(|()| item)
        })?;
        let cluster = items(lists, "clusterReadOnlyAllowList", |node, path| {
            let mut object = Object::new(node, path)?;
            let item = pattern(&mut object)?;
            refuse_unknown(&object).map(|()| item)
        })?;
        Ok(Self { namespaced: namespaced.unwrap_or_default(), cluster: cluster.unwrap_or_default() })
    }
}

fn refuse_unknown(object: &Object<'_>) -> Result<(), DecodeError> {
    object.unknown().first().map_or(Ok(()), |entry| {
        Err(DecodeError {
            position: entry.key.position,
            path: object.path_of(&entry.key.text),
            message: format!("unknown field; known fields are {}", object.known().join(", ")),
        })
    })
}
