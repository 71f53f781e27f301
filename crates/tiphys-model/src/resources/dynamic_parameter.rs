//! `dynamicParameters` of a `helm` or `plugin` block: parameters whose values are read from the destination cluster.

use std::fmt;

use serde_json::Value;
use tiphys_yaml::{Data, DecodeError, Node, Object, read_document};

use crate::resources::fields::{GoFields, go_struct};
use crate::resources::{ApplicationSpec, Findings};

/// The annotation of an Application with the same entries. Argo CD's CRDs remove the field, and keep annotations.
///
/// Its value is YAML: the list of the only source, or a mapping from the positions of sources, from 1, to their lists.
pub const DYNAMIC_PARAMETERS_ANNOTATION: &str = "tiphys/dynamic-parameters";

go_struct! {
    /// A parameter whose value is read from an object of the destination cluster when manifests are rendered.
    pub struct DynamicParameter = "DynamicParameter" {
        /// Name: a path of `--set` for Helm, the name of a parameter for plugins.
        pub name: String = "name",
        /// Whether the value is always a string (`--set-string`).
        pub force_string: bool = "forceString",
        /// The object and its field.
        pub resource_ref: ResourceReference = "resourceRef".always(),
        /// The value if the object or the field does not exist. None: that is an error.
        pub default: Option<Value> = "default",
        /// How the field's string is decoded. Only `base64` is known; empty for none.
        pub decode: String = "decode",
    }
}

go_struct! {
    /// A field of an object in the destination cluster.
    #[derive(Eq)]
    pub struct ResourceReference = "ResourceReference" {
        /// API group; empty for the core group.
        pub group: String = "group",
        /// Version of the API; the cluster's preferred one if empty.
        pub version: String = "version",
        /// Kind.
        pub kind: String = "kind",
        /// Namespace; the destination's if empty.
        pub namespace: String = "namespace",
        /// Name.
        pub name: String = "name",
        /// Path of the field in kubectl's `JSONPath`. If empty, the value is whether the object exists.
        pub path: String = "path",
    }
}

impl fmt::Display for ResourceReference {
    /// Writes `KIND[.GROUP] [NAMESPACE/]NAME` and the path, or that the value is whether the object exists.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, kind, namespace, name, path, .. } = self;
        f.write_str(kind)?;
        if !group.is_empty() {
            write!(f, ".{group}")?;
        }
        f.write_str(" ")?;
        if !namespace.is_empty() {
            write!(f, "{namespace}/")?;
        }
        f.write_str(name)?;
        if path.is_empty() { f.write_str(" (existence)") } else { write!(f, " {path}") }
    }
}

/// Adds the entries of an annotation's value to the sources of an Application. `node` is the annotation.
pub(crate) fn add_annotated(
    spec: &mut ApplicationSpec,
    value: &str,
    node: &Node,
    findings: &mut Findings,
) -> Result<(), DecodeError> {
    let path = format!("metadata.annotations[{DYNAMIC_PARAMETERS_ANNOTATION}]");
    let at_annotation =
        |message: String| DecodeError { position: node.position, path: path.clone(), message };
    let document = read_document(value.as_bytes())
        .map_err(|error| at_annotation(format!("expected YAML: {error}")))?
        .map(Node::deduplicated);
    let sources =
        if spec.sources.is_empty() { spec.source.as_mut_slice() } else { spec.sources.as_mut_slice() };
    let count = sources.len();
    let lists: Vec<(usize, &Node)> = match document.as_ref().map(|document| &document.data) {
        None | Some(Data::Null) => Vec::new(),
        Some(Data::Sequence(_)) if count == 1 => document.iter().map(|list| (0, list)).collect(),
        Some(Data::Mapping(entries)) => entries
            .iter()
            .map(|entry| match entry.key.text.parse::<usize>() {
                Ok(position) if (1..=count).contains(&position) => Ok((position - 1, &entry.value)),
                _ => Err(at_annotation(format!(
                    "{:?} is not the position of a source; there are {count}, counted from 1",
                    entry.key.text
                ))),
            })
            .collect::<Result<_, _>>()?,
        Some(Data::Sequence(_)) => {
            return Err(at_annotation(format!(
                "the Application has {count} sources: expected a mapping from their positions to lists, found a list"
            )));
        }
        Some(_) => return Err(at_annotation("expected a list of dynamic parameters".to_owned())),
    };
    for (index, list) in lists {
        let Data::Sequence(entries) = &list.data else {
            return Err(at_annotation(format!(
                "source {}: expected a list of dynamic parameters",
                index + 1
            )));
        };
        for (entry, parameter) in entries.iter().enumerate() {
            // Positions inside of the annotation's string are not those of the file.
            let decoded = Object::new(parameter, format!("[{entry}]"))
                .and_then(|object| DynamicParameter::read(object, findings))
                .map_err(|error| at_annotation(format!("{}: {}", error.path, error.message)))?;
            sources[index].annotated_parameters.push(decoded);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
