//! The `helm` block of a source. `tiphys-engine` converts it to parameters of the Helm plugin.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tiphys_yaml::{DecodeError, Object};

use crate::resources::decode::{boolean, items, text};
use crate::resources::source::is_false;
use crate::resources::{DynamicParameter, Findings};

/// Argo CD's `ApplicationSourceHelm`, with all fields, and `dynamicParameters`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "these are Argo CD's fields")]
pub struct HelmSource {
    /// Values files: paths relative to the source's path, `$ref/…` for files of another source, or URLs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub value_files: Vec<String>,
    /// Parameters for `--set` and `--set-string`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<HelmParameter>,
    /// Release name; defaults to the Application's name if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub release_name: String,
    /// Values in YAML format.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub values: String,
    /// Parameters for `--set-file`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub file_parameters: Vec<HelmFileParameter>,
    /// Major version of Helm.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Whether credentials are sent to all domains (`--pass-credentials`).
    #[serde(skip_serializing_if = "is_false")]
    pub pass_credentials: bool,
    /// Whether missing values files are ignored.
    #[serde(skip_serializing_if = "is_false")]
    pub ignore_missing_value_files: bool,
    /// Whether CRDs are omitted (`--include-crds` is not passed).
    #[serde(skip_serializing_if = "is_false")]
    pub skip_crds: bool,
    /// Values as an object. They take precedence over `values`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values_object: Option<Value>,
    /// Release namespace; defaults to the destination's if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Kubernetes version; defaults to the destination's if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kube_version: String,
    /// API versions; defaults to the destination's if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_versions: Vec<String>,
    /// Whether test manifests are omitted (`--skip-tests`).
    #[serde(skip_serializing_if = "is_false")]
    pub skip_tests: bool,
    /// Whether values are not validated against the chart's schema (`--skip-schema-validation`).
    #[serde(skip_serializing_if = "is_false")]
    pub skip_schema_validation: bool,
    /// Parameters whose values are read from the destination cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dynamic_parameters: Vec<DynamicParameter>,
}

/// A parameter for `--set` or `--set-string`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HelmParameter {
    /// Path of the value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Whether the value is always a string (`--set-string`).
    #[serde(skip_serializing_if = "is_false")]
    pub force_string: bool,
}

/// A parameter for `--set-file`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HelmFileParameter {
    /// Path of the value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// File with the value.
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
            pass_credentials: boolean(&mut object, "passCredentials")?,
            ignore_missing_value_files: boolean(&mut object, "ignoreMissingValueFiles")?,
            skip_crds: boolean(&mut object, "skipCrds")?,
            // Argo CD stores raw JSON here: every type is accepted, and Helm reports invalid ones.
            values_object: object.get("valuesObject").map(tiphys_yaml::Node::to_value),
            namespace: text(&mut object, "namespace")?,
            kube_version: text(&mut object, "kubeVersion")?,
            api_versions: object.texts("apiVersions")?.unwrap_or_default(),
            skip_tests: boolean(&mut object, "skipTests")?,
            skip_schema_validation: boolean(&mut object, "skipSchemaValidation")?,
            dynamic_parameters: DynamicParameter::decode_list(&mut object, findings)?,
        };
        findings.add_unknown(&object);
        Ok(block)
    }
}

impl HelmParameter {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let parameter = Self {
            name: text(&mut object, "name")?,
            value: text(&mut object, "value")?,
            force_string: boolean(&mut object, "forceString")?,
        };
        findings.add_unknown(&object);
        Ok(parameter)
    }
}

impl HelmFileParameter {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let parameter = Self { name: text(&mut object, "name")?, path: text(&mut object, "path")? };
        findings.add_unknown(&object);
        Ok(parameter)
    }
}
