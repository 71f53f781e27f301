//! The `kustomize` block of a source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tiphys_yaml::{Data, DecodeError, Object};

use crate::resources::Findings;
use crate::resources::decode::{boolean, items, text};
use crate::resources::source::is_false;

/// Argo CD's `ApplicationSourceKustomize`, with all fields. The code that translates it decides which are supported.
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
    /// Image overrides: `[old=]new[:tag][@digest]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// Labels for all objects.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub common_labels: BTreeMap<String, String>,
    /// Kustomize version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Annotations for all objects.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub common_annotations: BTreeMap<String, String>,
    /// Whether existing labels are overwritten.
    #[serde(skip_serializing_if = "is_false")]
    pub force_common_labels: bool,
    /// Whether existing annotations are overwritten.
    #[serde(skip_serializing_if = "is_false")]
    pub force_common_annotations: bool,
    /// Namespace for all objects.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Whether variables in common annotations are replaced.
    #[serde(skip_serializing_if = "is_false")]
    pub common_annotations_envsubst: bool,
    /// Replica counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<KustomizeReplica>,
    /// Patches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<KustomizePatch>,
    /// Components.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<String>,
    /// Whether missing components are ignored.
    #[serde(skip_serializing_if = "is_false")]
    pub ignore_missing_components: bool,
    /// Whether common labels are not added to selectors.
    #[serde(skip_serializing_if = "is_false")]
    pub label_without_selector: bool,
    /// Kubernetes version for Helm charts in the kustomization.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kube_version: String,
    /// API versions for Helm charts in the kustomization.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_versions: Vec<String>,
    /// Whether common labels are added to templates.
    #[serde(skip_serializing_if = "is_false")]
    pub label_include_templates: bool,
}

/// The replica count of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KustomizeReplica {
    /// Name of the workload.
    pub name: String,
    /// The replica count.
    pub count: ReplicaCount,
}

/// A number that may be written as a string.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ReplicaCount {
    /// A number.
    Number(i64),
    /// A string, expected to contain a number.
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
    /// The objects that it applies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<PatchTarget>,
    /// Options of the patch.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, bool>,
}

/// Selector of the objects to patch; empty fields match any value.
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
    /// Annotation selector.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub annotation_selector: String,
    /// Label selector.
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
            force_common_labels: boolean(&mut object, "forceCommonLabels")?,
            force_common_annotations: boolean(&mut object, "forceCommonAnnotations")?,
            namespace: text(&mut object, "namespace")?,
            common_annotations_envsubst: boolean(&mut object, "commonAnnotationsEnvsubst")?,
            replicas: items(&mut object, "replicas", |node, path| {
                KustomizeReplica::decode(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            patches: items(&mut object, "patches", |node, path| {
                KustomizePatch::decode(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            components: object.texts("components")?.unwrap_or_default(),
            ignore_missing_components: boolean(&mut object, "ignoreMissingComponents")?,
            label_without_selector: boolean(&mut object, "labelWithoutSelector")?,
            kube_version: text(&mut object, "kubeVersion")?,
            api_versions: object.texts("apiVersions")?.unwrap_or_default(),
            label_include_templates: boolean(&mut object, "labelIncludeTemplates")?,
        };
        findings.add_unknown(&object);
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
        findings.add_unknown(&object);
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
            options: booleans(&mut object, "options")?,
        };
        findings.add_unknown(&object);
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
        findings.add_unknown(&object);
        Ok(target)
    }
}

/// Decodes a map from strings to booleans; `null` is false, as in Go.
fn booleans(object: &mut Object<'_>, key: &'static str) -> Result<BTreeMap<String, bool>, DecodeError> {
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
