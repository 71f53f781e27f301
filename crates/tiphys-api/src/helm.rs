//! The `helm` block of a source, whole: the Helm plugin that a later issue brings gets it as it is.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tiphys_yaml::{DecodeError, Object};

use crate::Findings;
use crate::decode::{items, switch, text};
use crate::source::is_false;

/// Everything that Argo CD's Helm block has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "these are Argo CD's fields")]
pub struct HelmSource {
    /// Values files, relative to the path, with `$ref/…` for another source's, or URLs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub value_files: Vec<String>,
    /// `--set` and `--set-string`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<HelmParameter>,
    /// Name of the release; empty is the application's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub release_name: String,
    /// Values as YAML text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub values: String,
    /// `--set-file`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub file_parameters: Vec<HelmFileParameter>,
    /// Major version of Helm's templating.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Whether credentials go to all domains.
    #[serde(skip_serializing_if = "is_false")]
    pub pass_credentials: bool,
    /// Whether a values file that is not there is left out.
    #[serde(skip_serializing_if = "is_false")]
    pub ignore_missing_value_files: bool,
    /// Whether CRDs are left out.
    #[serde(skip_serializing_if = "is_false")]
    pub skip_crds: bool,
    /// Values as an object; they win over `values`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values_object: Option<Value>,
    /// Namespace of the release; empty is the destination's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Kubernetes version; empty is the destination's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kube_version: String,
    /// API versions; empty are the destination's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_versions: Vec<String>,
    /// Whether tests are left out.
    #[serde(skip_serializing_if = "is_false")]
    pub skip_tests: bool,
    /// Whether values go unchecked.
    #[serde(skip_serializing_if = "is_false")]
    pub skip_schema_validation: bool,
}

/// One `--set` or `--set-string`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HelmParameter {
    /// Path of the value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Whether it stays a text.
    #[serde(skip_serializing_if = "is_false")]
    pub force_string: bool,
}

/// One `--set-file`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HelmFileParameter {
    /// Path of the value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// File whose text is the value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
}

impl HelmSource {
    pub(crate) fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let block = Self {
            value_files: object.texts("valueFiles")?.unwrap_or_default(),
            parameters: items(&mut object, "parameters", |node, path| {
                HelmParameter::decode(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            release_name: text(&mut object, "releaseName")?,
            values: text(&mut object, "values")?,
            file_parameters: items(&mut object, "fileParameters", |node, path| {
                HelmFileParameter::decode(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            version: text(&mut object, "version")?,
            pass_credentials: switch(&mut object, "passCredentials")?,
            ignore_missing_value_files: switch(&mut object, "ignoreMissingValueFiles")?,
            skip_crds: switch(&mut object, "skipCrds")?,
            // Argo CD keeps this one as raw JSON: any type passes here, and Helm says what it cannot use.
            values_object: object.get("valuesObject").map(tiphys_yaml::Node::to_value),
            namespace: text(&mut object, "namespace")?,
            kube_version: text(&mut object, "kubeVersion")?,
            api_versions: object.texts("apiVersions")?.unwrap_or_default(),
            skip_tests: switch(&mut object, "skipTests")?,
            skip_schema_validation: switch(&mut object, "skipSchemaValidation")?,
        };
        findings.note_unknown(&object);
        Ok(block)
    }
}

impl HelmParameter {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let parameter = Self {
            name: text(&mut object, "name")?,
            value: text(&mut object, "value")?,
            force_string: switch(&mut object, "forceString")?,
        };
        findings.note_unknown(&object);
        Ok(parameter)
    }
}

impl HelmFileParameter {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let parameter = Self { name: text(&mut object, "name")?, path: text(&mut object, "path")? };
        findings.note_unknown(&object);
        Ok(parameter)
    }
}
