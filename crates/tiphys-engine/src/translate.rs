//! Translates a source into a plan of what to run.

use tiphys_model::params::{NamelessParameter, Parameter, require_names};
use tiphys_model::resources::{
    ApplicationSource, DirectorySource, DynamicParameter, EnvEntry, JsonnetOptions, PluginSource,
};

use crate::dynamic::{DynamicParameterError, LookUp, ValueConsumer, look_ups, unsupported_look_ups};
use crate::helm::{helm_parameters, helm_value_path};
use crate::image::replaces_image;
use crate::kustomize::kustomize_parameters;
use crate::{BuildEnvironment, HELM_PLUGIN, KUSTOMIZE_PLUGIN, SourceType};

/// How a source's manifests are generated.
#[derive(Clone, Debug, PartialEq)]
pub enum SourcePlan {
    /// By a plugin.
    Plugin(PluginPlan),
    /// By reading plain manifests.
    Directory(DirectoryPlan),
}

/// A plugin run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PluginPlan {
    /// `<name>` or `<name>-<version>`; `None` if discovery has found none.
    pub name: Option<String>,
    /// The variables of the block, before replacement.
    pub env: Vec<EnvEntry>,
    /// The parameters. Absent and empty lists are different.
    pub parameters: Option<Vec<Parameter>>,
    /// The parameters whose values are read from the destination cluster.
    pub look_ups: Vec<LookUp>,
}

/// A directory of plain manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryPlan {
    /// Whether to read subdirectories.
    pub recurse: bool,
    /// Glob pattern of files to include, relative to the path; `None` includes all.
    pub include: Option<String>,
    /// Glob pattern of files to exclude, relative to the path; `None` excludes none.
    pub exclude: Option<String>,
    /// Whether to read files with any extension.
    pub any_extension: bool,
    /// The options of Jsonnet files.
    pub jsonnet: JsonnetOptions,
}

/// A source that cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranslateError {
    /// A parameter has no name.
    #[error(transparent)]
    Parameter(#[from] NamelessParameter),
    /// A dynamic parameter is invalid.
    #[error(transparent)]
    Dynamic(#[from] DynamicParameterError),
    /// A version of Helm that Argo CD rejects too, with the same words.
    #[error("helm version '{version}' is not supported; remove `helm.version`")]
    HelmVersion {
        /// The version as written in the block.
        version: String,
    },
    /// An image override without a replacement, which kustomize refuses.
    #[error("kustomize: images: {0:?} replaces nothing; write NAME=REPLACEMENT, NAME:TAG or NAME@DIGEST")]
    Image(String),
}

/// Returns the plan for a source whose type is known, after its override files were merged.
pub fn translate(
    source: &ApplicationSource,
    source_type: SourceType,
    build: &BuildEnvironment,
) -> Result<SourcePlan, TranslateError> {
    match source_type {
        SourceType::Plugin => {
            let block = source.plugin.clone().unwrap_or_default();
            plugin_plan(&block, &source.annotated_parameters).map(SourcePlan::Plugin)
        }
        SourceType::Directory => {
            unsupported_look_ups(&source.annotated_parameters, "directory")?;
            let plan = source.directory.as_ref().map(|block| directory_plan(block, build));
            Ok(SourcePlan::Directory(plan.unwrap_or_default()))
        }
        SourceType::Native(native) => {
            let plan = (native.plan)(source, build)?;
            Ok(SourcePlan::Plugin(PluginPlan { name: Some(native.plugin.to_owned()), ..plan }))
        }
    }
}

impl PluginPlan {
    /// Returns the plan for the plugin that discovery has found. The Helm plugin gets dynamic parameters in its own form.
    pub(crate) fn of_plugin(self, found: Option<&str>) -> Result<Self, TranslateError> {
        let name = found.map(str::to_owned).or(self.name.clone());
        if self.look_ups.is_empty() || name.as_deref() != Some(HELM_PLUGIN) {
            return Ok(Self { name, ..self });
        }
        let dynamic_parameters = self.look_ups.iter().map(LookUp::parameter).cloned().collect();
        let block = PluginSource { name: HELM_PLUGIN.to_owned(), dynamic_parameters, ..self.block() };
        Ok(Self { name, look_ups: plugin_plan(&block, &[])?.look_ups, ..self })
    }

    /// Returns the plugin block for this plan, for [`crate::request_environment`].
    pub fn block(&self) -> PluginSource {
        PluginSource {
            name: self.name.clone().unwrap_or_default(),
            env: self.env.clone(),
            parameters: self.parameters.clone(),
            dynamic_parameters: Vec::new(),
        }
    }
}

/// `annotated` are the dynamic parameters of the Application's annotation, here and below.
fn plugin_plan(block: &PluginSource, annotated: &[DynamicParameter]) -> Result<PluginPlan, TranslateError> {
    let parameters = block.parameters.as_deref().unwrap_or_default();
    require_names(parameters)?;
    let names = parameters.iter().map(|parameter| parameter.name.as_str());
    let (set, consumer): (Vec<String>, _) = if block.name == HELM_PLUGIN {
        (names.filter_map(helm_value_path).map(str::to_owned).collect(), ValueConsumer::Helm)
    } else {
        (names.map(str::to_owned).collect(), ValueConsumer::Plugin)
    };
    let dynamic = block.dynamic_parameters.iter().chain(annotated);
    Ok(PluginPlan {
        look_ups: look_ups(dynamic, &set, consumer)?,
        name: Some(block.name.clone()).filter(|name| !name.is_empty()),
        env: block.env.clone(),
        parameters: block.parameters.clone(),
    })
}

fn directory_plan(block: &DirectorySource, build: &BuildEnvironment) -> DirectoryPlan {
    let pattern = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    DirectoryPlan {
        recurse: block.recurse,
        include: pattern(&block.include),
        exclude: pattern(&block.exclude),
        any_extension: block.disable_extension_filter,
        jsonnet: jsonnet_plan(&block.jsonnet, build),
    }
}

/// Replaces variables in the values of Jsonnet variables. Argo CD does so again for each file, in the values that the file before has.
fn jsonnet_plan(options: &JsonnetOptions, build: &BuildEnvironment) -> JsonnetOptions {
    let mut options = options.clone();
    for variable in options.ext_vars.iter_mut().chain(&mut options.tlas) {
        variable.value = build.expand(&variable.value);
    }
    options
}

/// The values of `helm.version` that Argo CD accepts. All of them run the installed Helm.
const HELM_VERSIONS: [&str; 3] = ["", "v3", "v4"];

/// Returns the plan with the parameters that the Helm plugin announces. The plugin replaces variables, because it knows in which fields.
pub(crate) fn helm_plan(
    source: &ApplicationSource,
    _build: &BuildEnvironment,
) -> Result<PluginPlan, TranslateError> {
    let block = &source.helm.clone().unwrap_or_default();
    if !HELM_VERSIONS.contains(&block.version.as_str()) {
        return Err(TranslateError::HelmVersion { version: block.version.clone() });
    }
    let set = block.parameters.iter().map(|one| &one.name);
    let set: Vec<String> = set.chain(block.file_parameters.iter().map(|one| &one.name)).cloned().collect();
    let dynamic = block.dynamic_parameters.iter().chain(&source.annotated_parameters);
    let look_ups = look_ups(dynamic, &set, ValueConsumer::Helm)?;
    Ok(PluginPlan { parameters: Some(helm_parameters(block)), look_ups, ..PluginPlan::default() })
}

/// Returns the plan with the parameters that the kustomize plugin announces. Variables are replaced here, in the fields in which Argo CD does
/// so before it runs kustomize. Unlike there, `KUBE_*` variables are replaced too.
pub(crate) fn kustomize_plan(
    source: &ApplicationSource,
    build: &BuildEnvironment,
) -> Result<PluginPlan, TranslateError> {
    unsupported_look_ups(&source.annotated_parameters, KUSTOMIZE_PLUGIN)?;
    let block = &source.kustomize.clone().unwrap_or_default();
    if let Some(image) = block.images.iter().find(|image| !replaces_image(image)) {
        return Err(TranslateError::Image(image.clone()));
    }
    let parameters = kustomize_parameters(block, &|text| build.expand(text));
    Ok(PluginPlan { parameters: Some(parameters), ..PluginPlan::default() })
}

#[cfg(test)]
mod tests;
