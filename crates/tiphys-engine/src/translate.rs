//! From a source to what will be run.

use std::collections::BTreeMap;

use tiphys_api::{ApplicationSource, DirectorySource, EnvEntry, HelmSource, KustomizeSource, PluginSource};
use tiphys_params::{NamelessParameter, Parameter, require_names};

use crate::helm::helm_parameters;
use crate::{AmbiguousSource, BuildEnvironment, SourceType, explicit_type};

/// The plugin that `kustomize` blocks and kustomizations go to.
pub const KUSTOMIZE_PLUGIN: &str = "kustomize";

/// The plugin that `helm` blocks and charts go to.
pub const HELM_PLUGIN: &str = "helm";

/// Whether an Application has other sources beside this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourcePlace {
    /// It is the only one.
    Only,
    /// There are more.
    OneOfSeveral,
}

/// What makes a source's manifests.
#[derive(Clone, Debug, PartialEq)]
pub enum SourcePlan {
    /// Nothing: other sources refer to its files.
    ReferenceOnly,
    /// Not said: a plugin that matches, else what [`crate::detected_type`] says, through [`translate_as`].
    Detect,
    /// A plugin.
    Plugin(PluginPlan),
    /// Plain manifests.
    Directory(DirectoryPlan),
}

/// A plugin's run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PluginPlan {
    /// `<name>` or `<name>-<version>`; `None` leaves the choice to discovery.
    pub name: Option<String>,
    /// The variables of the block, not substituted.
    pub env: Vec<EnvEntry>,
    /// The parameters; absent and empty are different.
    pub parameters: Option<Vec<Parameter>>,
}

/// A folder of plain manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryPlan {
    /// Whether folders below are looked at too.
    pub recurse: bool,
    /// Pattern of files to take, relative to the path; `None` takes all.
    pub include: Option<String>,
    /// Pattern of files to leave out, relative to the path; `None` leaves out none.
    pub exclude: Option<String>,
    /// Whether files count whatever their extension is.
    pub any_extension: bool,
}

/// A source that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranslateError {
    /// More than one block names a type.
    #[error(transparent)]
    Ambiguous(#[from] AmbiguousSource),
    /// A parameter has no name.
    #[error(transparent)]
    Parameter(#[from] NamelessParameter),
    /// A version of Helm that Argo CD does not know either; the words are Argo CD's (`spec/helm-parity.md` 1.2).
    #[error("helm version '{version}' is not supported; leave `helm.version` out")]
    HelmVersion {
        /// As the block has it.
        version: String,
    },
    /// Fields of a kustomize block that are not handed on.
    #[error(
        "kustomize: {} {} not supported; namePrefix, nameSuffix, images, commonLabels and version are, the rest belongs into the \
         kustomization",
        fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", "),
        if fields.len() == 1 { "is" } else { "are" }
    )]
    Kustomize {
        /// The fields, in Argo CD's order.
        fields: Vec<&'static str>,
    },
    /// Jsonnet.
    #[error("directory: `jsonnet` is not supported; render `.jsonnet` files with a plugin")]
    Jsonnet,
}

/// What to run for a source, once its override files were merged.
pub fn translate(
    source: &ApplicationSource,
    place: SourcePlace,
    build: &BuildEnvironment,
) -> Result<SourcePlan, TranslateError> {
    if place == SourcePlace::OneOfSeveral && is_reference_only(source) {
        return Ok(SourcePlan::ReferenceOnly);
    }
    match explicit_type(source)? {
        Some(kind) => translate_as(source, kind, build),
        None => Ok(SourcePlan::Detect),
    }
}

/// What to run for a source whose type is known, by its block or by its files.
pub fn translate_as(
    source: &ApplicationSource,
    kind: SourceType,
    build: &BuildEnvironment,
) -> Result<SourcePlan, TranslateError> {
    match kind {
        SourceType::Plugin => {
            let block = source.plugin.as_ref();
            block.map_or_else(|| Ok(PluginPlan::default()), plugin_plan).map(SourcePlan::Plugin)
        }
        SourceType::Directory => {
            let block = source.directory.as_ref();
            block.map_or_else(|| Ok(DirectoryPlan::default()), directory_plan).map(SourcePlan::Directory)
        }
        SourceType::Kustomize => {
            let block = source.kustomize.clone().unwrap_or_default();
            kustomize_plan(&block, build).map(SourcePlan::Plugin)
        }
        SourceType::Helm => {
            let block = source.helm.as_ref();
            block.map_or_else(|| helm_plan(&HelmSource::default()), helm_plan).map(SourcePlan::Plugin)
        }
    }
}

/// A source whose files other sources use, and that has nothing to render itself.
pub fn is_reference_only(source: &ApplicationSource) -> bool {
    !source.reference.is_empty()
        && source.path.is_empty()
        && source.chart.is_empty()
        && !source.repo_url.starts_with("oci://")
}

impl PluginPlan {
    /// The block that gives the plugin what this plan says, for [`crate::request_environment`].
    pub fn block(&self) -> PluginSource {
        PluginSource {
            name: self.name.clone().unwrap_or_default(),
            env: self.env.clone(),
            parameters: self.parameters.clone(),
        }
    }
}

fn plugin_plan(block: &PluginSource) -> Result<PluginPlan, TranslateError> {
    require_names(block.parameters.as_deref().unwrap_or_default())?;
    Ok(PluginPlan {
        name: Some(block.name.clone()).filter(|name| !name.is_empty()),
        env: block.env.clone(),
        parameters: block.parameters.clone(),
    })
}

fn directory_plan(block: &DirectorySource) -> Result<DirectoryPlan, TranslateError> {
    if !block.jsonnet.is_empty() {
        return Err(TranslateError::Jsonnet);
    }
    let pattern = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    Ok(DirectoryPlan {
        recurse: block.recurse,
        include: pattern(&block.include),
        exclude: pattern(&block.exclude),
        any_extension: block.disable_extension_filter,
    })
}

/// The versions of `helm.version` that Argo CD takes; each runs the Helm that there is.
const HELM_VERSIONS: [&str; 3] = ["", "v3", "v4"];

/// The parameters that the Helm plugin announces. Variables are left as they are: which of them are replaced where is the plugin's to know.
fn helm_plan(block: &HelmSource) -> Result<PluginPlan, TranslateError> {
    if !HELM_VERSIONS.contains(&block.version.as_str()) {
        return Err(TranslateError::HelmVersion { version: block.version.clone() });
    }
    let parameters = Some(helm_parameters(block));
    Ok(PluginPlan { name: Some(HELM_PLUGIN.to_owned()), env: Vec::new(), parameters })
}

/// The parameters that the kustomize plugin announces. Images and labels have their variables replaced here, as Argo CD does before
/// it runs kustomize; it knows no `KUBE_*` variables there, which are replaced here too.
fn kustomize_plan(block: &KustomizeSource, build: &BuildEnvironment) -> Result<PluginPlan, TranslateError> {
    let fields = unsupported_fields(block);
    if !fields.is_empty() {
        return Err(TranslateError::Kustomize { fields });
    }
    let parameters = kustomize_parameters(block, &|text| build.expand(text));
    Ok(PluginPlan { name: Some(KUSTOMIZE_PLUGIN.to_owned()), env: Vec::new(), parameters: Some(parameters) })
}

/// The parameters that a kustomize block stands for, with images and labels as `expand` makes them.
pub(crate) fn kustomize_parameters(
    block: &KustomizeSource,
    expand: &dyn Fn(&str) -> String,
) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    for (name, value) in [
        ("version", &block.version),
        ("name-prefix", &block.name_prefix),
        ("name-suffix", &block.name_suffix),
    ] {
        if !value.is_empty() {
            parameters.push(Parameter {
                name: name.to_owned(),
                string: Some(value.clone()),
                ..Parameter::default()
            });
        }
    }
    let images: BTreeMap<String, String> =
        block.images.iter().map(|image| image_entry(&expand(image))).collect();
    let labels: BTreeMap<String, String> =
        block.common_labels.iter().map(|(key, value)| (key.clone(), expand(value))).collect();
    for (name, map) in [("images", images), ("labels", labels)] {
        if !map.is_empty() {
            parameters.push(Parameter { name: name.to_owned(), map: Some(map), ..Parameter::default() });
        }
    }
    parameters
}

/// An image override as an entry of a map: the image that is replaced, and what replaces it. `old=new:tag` says both; of
/// `image:tag` and `image@digest` the image without tag and digest is replaced by the whole.
pub(crate) fn image_entry(image: &str) -> (String, String) {
    if let Some((old, new)) = image.split_once('=') {
        return (old.to_owned(), new.to_owned());
    }
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    // A colon before the last slash belongs to the registry's port.
    let path_start = name.rfind('/').map_or(0, |slash| slash + 1);
    let end = name[path_start..].find(':').map_or(name.len(), |colon| path_start + colon);
    (name[..end].to_owned(), image.to_owned())
}

/// The fields of the block that are set and that the plugin has no parameter for.
fn unsupported_fields(block: &KustomizeSource) -> Vec<&'static str> {
    let fields = [
        ("commonAnnotations", !block.common_annotations.is_empty()),
        ("forceCommonLabels", block.force_common_labels),
        ("forceCommonAnnotations", block.force_common_annotations),
        ("namespace", !block.namespace.is_empty()),
        ("commonAnnotationsEnvsubst", block.common_annotations_envsubst),
        ("replicas", !block.replicas.is_empty()),
        ("patches", !block.patches.is_empty()),
        ("components", !block.components.is_empty()),
        ("ignoreMissingComponents", block.ignore_missing_components),
        ("labelWithoutSelector", block.label_without_selector),
        ("kubeVersion", !block.kube_version.is_empty()),
        ("apiVersions", !block.api_versions.is_empty()),
        ("labelIncludeTemplates", block.label_include_templates),
    ];
    fields.into_iter().filter_map(|(name, set)| set.then_some(name)).collect()
}

#[cfg(test)]
mod tests;
