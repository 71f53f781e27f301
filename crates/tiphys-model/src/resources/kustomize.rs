//! The `kustomize` block of a source.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use tiphys_yaml::{Data, DecodeError, Object};

use crate::resources::Findings;
use crate::resources::fields::GoType::{List, Named, String as GoString};
use crate::resources::fields::{GoField, GoType, GoValue, go_struct};

go_struct! {
    /// Argo CD's `ApplicationSourceKustomize`, with all fields. Each is a parameter of the kustomize plugin.
    #[derive(Eq)]
    pub struct KustomizeSource = "v1alpha1.ApplicationSourceKustomize" {
        /// Prefix of names.
        pub name_prefix: String = "namePrefix",
        /// Suffix of names.
        pub name_suffix: String = "nameSuffix",
        /// Image overrides: `[old=]new[:tag][@digest]`.
        pub images: Vec<String> = "images".of(IMAGES),
        /// Labels for all objects.
        pub common_labels: BTreeMap<String, String> = "commonLabels",
        /// Kustomize version.
        pub version: String = "version",
        /// Annotations for all objects.
        pub common_annotations: BTreeMap<String, String> = "commonAnnotations",
        /// Whether existing labels are overwritten.
        pub force_common_labels: bool = "forceCommonLabels",
        /// Whether existing annotations are overwritten.
        pub force_common_annotations: bool = "forceCommonAnnotations",
        /// Namespace for all objects.
        pub namespace: String = "namespace",
        /// Whether variables in common annotations are replaced.
        pub common_annotations_envsubst: bool = "commonAnnotationsEnvsubst",
        /// Replica counts.
        pub replicas: Vec<KustomizeReplica> = "replicas".of(REPLICAS),
        /// Patches.
        pub patches: Vec<KustomizePatch> = "patches".of(PATCHES),
        /// Components.
        pub components: Vec<String> = "components",
        /// Whether missing components are ignored.
        pub ignore_missing_components: bool = "ignoreMissingComponents",
        /// Whether common labels are not added to selectors.
        pub label_without_selector: bool = "labelWithoutSelector",
        /// Kubernetes version for Helm charts in the kustomization.
        pub kube_version: String = "kubeVersion",
        /// API versions for Helm charts in the kustomization.
        pub api_versions: Vec<String> = "apiVersions",
        /// Whether common labels are added to templates.
        pub label_include_templates: bool = "labelIncludeTemplates",
    }
}

const IMAGES: GoType = Named("v1alpha1.KustomizeImages", &List(&Named("v1alpha1.KustomizeImage", &GoString)));
const REPLICAS: GoType = Named("v1alpha1.KustomizeReplicas", &Vec::<KustomizeReplica>::TYPE);
const PATCHES: GoType = Named("v1alpha1.KustomizePatches", &Vec::<KustomizePatch>::TYPE);

go_struct! {
    /// The replica count of a workload.
    #[derive(Eq)]
    pub struct KustomizeReplica = "v1alpha1.KustomizeReplica" {
        /// Name of the workload.
        pub name: String = "name".always(),
        /// The replica count.
        pub count: ReplicaCount = "count".always(),
    }
}

/// A number that may be written as a string.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ReplicaCount {
    /// A number.
    Number(i64),
    /// A string, expected to contain a number.
    Text(String),
}

impl fmt::Display for ReplicaCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Default for ReplicaCount {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl GoValue for ReplicaCount {
    const TYPE: GoType = GoType::IntOrString;

    fn of_field(object: &mut Object<'_>, field: &GoField, _: &mut Findings) -> Result<Self, DecodeError> {
        let Some(node) = object.get(field.name) else { return Ok(Self::default()) };
        match &node.data {
            Data::Integer(number) => Ok(Self::Number(*number)),
            Data::String(text) => Ok(Self::Text(text.clone())),
            _ => Err(DecodeError::mismatch(node, &object.path_of(field.name), "a number or a string")),
        }
    }
}

go_struct! {
    /// One patch.
    #[derive(Eq)]
    pub struct KustomizePatch = "v1alpha1.KustomizePatch" {
        /// File with the patch.
        pub path: String = "path",
        /// The patch itself.
        pub patch: String = "patch",
        /// The objects that it applies to.
        pub target: Option<PatchTarget> = "target",
        /// Options of the patch.
        pub options: BTreeMap<String, bool> = "options",
    }
}

go_struct! {
    /// Selector of the objects to patch; empty fields match any value.
    #[derive(Eq)]
    pub struct PatchTarget = "v1alpha1.KustomizeSelector" {
        /// API group.
        pub group: String = "group".embedded_in("KustomizeResId.KustomizeGvk"),
        /// API version.
        pub version: String = "version".embedded_in("KustomizeResId.KustomizeGvk"),
        /// Kind.
        pub kind: String = "kind".embedded_in("KustomizeResId.KustomizeGvk"),
        /// Name.
        pub name: String = "name".embedded_in("KustomizeResId"),
        /// Namespace.
        pub namespace: String = "namespace".embedded_in("KustomizeResId"),
        /// Annotation selector.
        pub annotation_selector: String = "annotationSelector",
        /// Label selector.
        pub label_selector: String = "labelSelector",
    }
}
