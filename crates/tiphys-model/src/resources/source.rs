//! `ApplicationSource`: the location of manifests and the options that generate them.

use crate::access::{redact_address, redact_url};
use crate::params::Parameter;
use serde::{Deserialize, Serialize};
use tiphys_yaml::{DecodeError, Node, Object};

use crate::resources::decode::{boolean, items, text};
use crate::resources::{Decoded, DynamicParameter, Findings, HelmSource, KustomizeSource};

/// One source of an Application.
///
/// A missing block and an empty one differ: `plugin: {}` sets the source type, a missing `plugin` leaves it to detection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ApplicationSource {
    /// URL of the git, Helm or OCI repository.
    #[serde(rename = "repoURL")]
    pub repo_url: String,
    /// Directory in the repository; the root directory if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// Branch, tag, commit or version range. If empty, `HEAD` or the newest chart.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub target_revision: String,
    /// The Helm block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub helm: Option<HelmSource>,
    /// The kustomize block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kustomize: Option<KustomizeSource>,
    /// The block for plain manifests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<DirectorySource>,
    /// The plugin block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<PluginSource>,
    /// Name of a chart in a Helm repository; empty for git.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub chart: String,
    /// Name by which other sources refer to the files of this one; empty if not set.
    #[serde(rename = "ref", skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// Name of the source among several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Prefix of the tags among which `targetRevision` is resolved.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tag_prefix: String,
    /// Dynamic parameters of the Application's annotation, in addition to those of the block. Not a field of a source.
    #[serde(skip)]
    pub annotated_parameters: Vec<DynamicParameter>,
}

/// The `plugin` block: the config management plugin with its environment and parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PluginSource {
    /// `<name>` or `<name>-<version>` of the plugin; selected by discovery if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Environment variables in order; the plugin gets them with the prefix `ARGOCD_ENV_`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvEntry>,
    /// Parameters in order. A missing list is passed to the plugin as `null`, an empty one as `[]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Vec<Parameter>>,
    /// Parameters whose values are read from the destination cluster.
    #[serde(rename = "dynamicParameters", skip_serializing_if = "Vec::is_empty")]
    pub dynamic_parameters: Vec<DynamicParameter>,
}

/// An environment variable in `plugin.env`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnvEntry {
    /// Name, without the prefix.
    pub name: String,
    /// Value. `$NAME` and `${NAME}` are replaced by variables of the build environment.
    pub value: String,
}

/// The `directory` block: options for plain YAML and JSON manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DirectorySource {
    /// Whether subdirectories are read.
    #[serde(skip_serializing_if = "is_false")]
    pub recurse: bool,
    /// Options for `.jsonnet` files.
    #[serde(skip_serializing_if = "JsonnetOptions::is_empty")]
    pub jsonnet: JsonnetOptions,
    /// Pattern of files to exclude, relative to the path; empty excludes none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub exclude: String,
    /// Pattern of files to include, relative to the path; empty includes all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub include: String,
    /// Whether files with any extension are read.
    #[serde(skip_serializing_if = "is_false")]
    pub disable_extension_filter: bool,
}

/// `directory.jsonnet`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct JsonnetOptions {
    /// External variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ext_vars: Vec<JsonnetVariable>,
    /// Top-level arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tlas: Vec<JsonnetVariable>,
    /// Library directories, relative to the repository's root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub libs: Vec<String>,
}

/// A Jsonnet variable or top-level argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JsonnetVariable {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// Whether the value is Jsonnet code instead of a string.
    #[serde(skip_serializing_if = "is_false")]
    pub code: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

impl ApplicationSource {
    /// Returns the dynamic parameters of the `helm` or `plugin` block, without those of the annotation.
    pub fn dynamic_parameters(&self) -> &[DynamicParameter] {
        match (&self.helm, &self.plugin) {
            (Some(block), _) => &block.dynamic_parameters,
            (None, Some(block)) => &block.dynamic_parameters,
            (None, None) => &[],
        }
    }

    /// Returns the repository's URL with credentials redacted. Addresses of chart repositories need no scheme; `git@HOST:PATH` stays as it
    /// is.
    pub fn shown_repository(&self) -> String {
        if self.chart.is_empty() { redact_url(&self.repo_url) } else { redact_address(self.repo_url.trim()) }
    }

    /// Decodes a source by Go's rules. `path` is its field path in error messages, such as `spec.source`.
    pub fn decode(node: &Node, path: &str) -> Result<Decoded<Self>, DecodeError> {
        let mut findings = Findings::default();
        let value = Self::decode_object(Object::new(node, path)?, &mut findings)?;
        Ok(Decoded { value, findings })
    }

    pub(crate) fn decode_object(
        mut object: Object<'_>,
        findings: &mut Findings,
    ) -> Result<Self, DecodeError> {
        let source = Self {
            repo_url: text(&mut object, "repoURL")?,
            path: text(&mut object, "path")?,
            target_revision: text(&mut object, "targetRevision")?,
            helm: match object.object("helm")? {
                Some(block) => Some(HelmSource::decode(block, findings)?),
                None => None,
            },
            kustomize: match object.object("kustomize")? {
                Some(block) => Some(KustomizeSource::decode(block, findings)?),
                None => None,
            },
            directory: match object.object("directory")? {
                Some(block) => Some(DirectorySource::decode(block, findings)?),
                None => None,
            },
            plugin: match object.object("plugin")? {
                Some(block) => Some(PluginSource::decode(block, findings)?),
                None => None,
            },
            chart: text(&mut object, "chart")?,
            reference: text(&mut object, "ref")?,
            name: text(&mut object, "name")?,
            tag_prefix: text(&mut object, "tagPrefix")?,
            annotated_parameters: Vec::new(),
        };
        findings.add_unknown(&object);
        Ok(source)
    }
}

impl PluginSource {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let block = Self {
            name: text(&mut object, "name")?,
            env: items(&mut object, "env", |node, path| {
                EnvEntry::decode(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            parameters: crate::resources::decode::parameters(&mut object, findings)?,
            dynamic_parameters: DynamicParameter::decode_list(&mut object, findings)?,
        };
        findings.add_unknown(&object);
        Ok(block)
    }
}

impl EnvEntry {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let entry = Self { name: text(&mut object, "name")?, value: text(&mut object, "value")? };
        findings.add_unknown(&object);
        Ok(entry)
    }
}

impl DirectorySource {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let block = Self {
            recurse: boolean(&mut object, "recurse")?,
            jsonnet: match object.object("jsonnet")? {
                Some(options) => JsonnetOptions::decode(options, findings)?,
                None => JsonnetOptions::default(),
            },
            exclude: text(&mut object, "exclude")?,
            include: text(&mut object, "include")?,
            disable_extension_filter: boolean(&mut object, "disableExtensionFilter")?,
        };
        findings.add_unknown(&object);
        Ok(block)
    }
}

impl JsonnetOptions {
    /// Whether no option is set.
    pub fn is_empty(&self) -> bool {
        self.ext_vars.is_empty() && self.tlas.is_empty() && self.libs.is_empty()
    }

    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let options = Self {
            ext_vars: items(&mut object, "extVars", |node, path| {
                JsonnetVariable::decode(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            tlas: items(&mut object, "tlas", |node, path| {
                JsonnetVariable::decode(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            libs: object.texts("libs")?.unwrap_or_default(),
        };
        findings.add_unknown(&object);
        Ok(options)
    }
}

impl JsonnetVariable {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let variable = Self {
            name: text(&mut object, "name")?,
            value: text(&mut object, "value")?,
            code: boolean(&mut object, "code")?,
        };
        findings.add_unknown(&object);
        Ok(variable)
    }
}
