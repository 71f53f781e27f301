//! The `kustomize` block of a source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tiphys_yaml::{Data, DecodeError, Object};

use crate::Findings;
use crate::decode::{items, switch, text};
use crate::source::is_false;

/// Everything that Argo CD's kustomize block has. Which of it is honoured is decided where it is translated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "these are Argo CD's fields")]
pub struct KustomizeSource {
    /// Prefix of names.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name_prefix: String,
    /// Suffix of names.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name_suffix: String,
    /// Images: `[old=]new[:tag][@digest]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// Labels for all objects.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub common_labels: BTreeMap<String, String>,
    /// Version of kustomize.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Annotations for all objects.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub common_annotations: BTreeMap<String, String>,
    /// Whether a label that is there already is overwritten.
    #[serde(skip_serializing_if = "is_false")]
    pub force_common_labels: bool,
    /// Whether an annotation that is there already is overwritten.
    #[serde(skip_serializing_if = "is_false")]
    pub force_common_annotations: bool,
    /// Namespace for all objects.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Whether variables in annotations are replaced.
    #[serde(skip_serializing_if = "is_false")]
    pub common_annotations_envsubst: bool,
    /// Numbers of replicas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<KustomizeReplica>,
    /// Patches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<KustomizePatch>,
    /// Components.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<String>,
    /// Whether a component that is not there is left out.
    #[serde(skip_serializing_if = "is_false")]
    pub ignore_missing_components: bool,
    /// Whether labels stay out of selectors.
    #[serde(skip_serializing_if = "is_false")]
    pub label_without_selector: bool,
    /// Kubernetes version for Helm charts inside.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kube_version: String,
    /// API versions for Helm charts inside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_versions: Vec<String>,
    /// Whether labels go into templates too.
    #[serde(skip_serializing_if = "is_false")]
    pub label_include_templates: bool,
}

/// The number of replicas of one workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KustomizeReplica {
    /// Name of the workload.
    pub name: String,
    /// The number.
    pub count: ReplicaCount,
}

/// A number that may be written as a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ReplicaCount {
    /// A number.
    Number(i64),
    /// A text, which is to hold a number.
    Text(String),
}

impl Default for ReplicaCount {
    fn default() -> Self {
        Self::Number(0)
    }
}

/// One patch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KustomizePatch {
    /// File with the patch.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The patch itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub patch: String,
    /// What it applies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<PatchTarget>,
    /// Switches of the patch.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, bool>,
}

/// What a patch applies to; empty texts mean any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PatchTarget {
    /// API group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// API version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Selector over annotations.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub annotation_selector: String,
    /// Selector over labels.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label_selector: String,
}

impl KustomizeSource {
    pub(crate) fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let block = Self {
            name_prefix: text(&mut object, "namePrefix")?,
            name_suffix: text(&mut object, "nameSuffix")?,
            images: object.texts("images")?.unwrap_or_default(),
            common_labels: object.text_map("commonLabels")?.unwrap_or_default(),
            version: text(&mut object, "version")?,
            common_annotations: object.text_map("commonAnnotations")?.unwrap_or_default(),
            force_common_labels: switch(&mut object, "forceCommonLabels")?,
            force_common_annotations: switch(&mut object, "forceCommonAnnotations")?,
            namespace: text(&mut object, "namespace")?,
            common_annotations_envsubst: switch(&mut object, "commonAnnotationsEnvsubst")?,
            replicas: items(&mut object, "replicas", |node, path| {
                KustomizeReplica::decode(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            patches: items(&mut object, "patches", |node, path| {
                KustomizePatch::decode(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            components: object.texts("components")?.unwrap_or_default(),
            ignore_missing_components: switch(&mut object, "ignoreMissingComponents")?,
            label_without_selector: switch(&mut object, "labelWithoutSelector")?,
            kube_version: text(&mut object, "kubeVersion")?,
            api_versions: object.texts("apiVersions")?.unwrap_or_default(),
            label_include_templates: switch(&mut object, "labelIncludeTemplates")?,
        };
        findings.note_unknown(&object);
        Ok(block)
    }
}

impl KustomizeReplica {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let name = text(&mut object, "name")?;
        let count = match object.get("count") {
            None => ReplicaCount::default(),
            Some(node) => match &node.data {
                Data::Integer(number) => ReplicaCount::Number(*number),
                Data::String(text) => ReplicaCount::Text(text.clone()),
                _ => {
                    return Err(DecodeError::mismatch(
                        node,
                        &object.path_of("count"),
                        "a number or a string",
                    ));
                }
            },
        };
        findings.note_unknown(&object);
        Ok(Self { name, count })
    }
}

impl KustomizePatch {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let patch = Self {
            path: text(&mut object, "path")?,
            patch: text(&mut object, "patch")?,
            target: match object.object("target")? {
                Some(target) => Some(PatchTarget::decode(target, findings)?),
                None => None,
            },
            options: switches(&mut object, "options")?,
        };
        findings.note_unknown(&object);
        Ok(patch)
    }
}

impl PatchTarget {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let target = Self {
            group: text(&mut object, "group")?,
            version: text(&mut object, "version")?,
            kind: text(&mut object, "kind")?,
            name: text(&mut object, "name")?,
            namespace: text(&mut object, "namespace")?,
            annotation_selector: text(&mut object, "annotationSelector")?,
            label_selector: text(&mut object, "labelSelector")?,
        };
        findings.note_unknown(&object);
        Ok(target)
    }
}

/// A mapping from text to boolean; a `null` value is off, as in Go.
fn switches(object: &mut Object<'_>, key: &'static str) -> Result<BTreeMap<String, bool>, DecodeError> {
    let Some(node) = object.get(key) else { return Ok(BTreeMap::new()) };
    let Data::Mapping(entries) = &node.data else {
        return Err(DecodeError::mismatch(node, &object.path_of(key), "an object"));
    };
    entries
        .iter()
        .map(|entry| match entry.value.data {
            Data::Bool(value) => Ok((entry.key.text.clone(), value)),
            Data::Null => Ok((entry.key.text.clone(), false)),
            _ => {
                let path = format!("{}.{}", object.path_of(key), entry.key.text);
                Err(DecodeError::mismatch(&entry.value, &path, "a boolean"))
            }
        })
        .collect()
}
