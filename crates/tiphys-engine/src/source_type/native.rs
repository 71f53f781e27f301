//! The table of native source types. A new one is a row here.

use std::fmt;

use tiphys_model::params::Parameter;
use tiphys_model::resources::{
    ApplicationSource, ArgoCdSettings, DynamicParameter, HelmSource, KustomizeSource,
};

use crate::BuildEnvironment;
use crate::helm::shown_parameters;
use crate::kustomize::kustomize_parameters;
use crate::parameter_edit::{NoPlaceError, ParameterEdit, set_helm_parameters, set_kustomize_parameters};
use crate::translate::{PluginPlan, TranslateError, helm_plan, kustomize_plan};

/// The plugin that renders `kustomize` blocks and kustomizations.
pub const KUSTOMIZE_PLUGIN: &str = "kustomize";

/// The plugin that renders `helm` blocks and charts.
pub const HELM_PLUGIN: &str = "helm";

/// All native types, in the order in which Argo CD lists their blocks.
pub const NATIVE_TYPES: &[&NativeType] = &[&KUSTOMIZE, &HELM];

/// A tool that Argo CD itself runs for a source, and here a plugin. Which files its result depends on is declared by the plugin
/// (`tiphys/inputs` in its file): without a declaration, all files count.
pub struct NativeType {
    /// The name in Argo CD's API.
    pub name: &'static str,
    /// The plugin that renders it.
    pub plugin: &'static str,
    /// Whether the plugin's discovery rule must match where the source has this type.
    pub requires_match: bool,
    /// Returns the state of the block that names it.
    pub block: fn(&ApplicationSource) -> Block,
    /// Removes the block.
    pub remove_block: fn(&mut ApplicationSource),
    /// Whether a file of this name in the source's directory indicates it.
    pub is_indicated_by: fn(&str) -> bool,
    /// Returns the setting that disables it with any value other than `true`.
    pub enabled: fn(&ArgoCdSettings) -> Option<&str>,
    /// Returns the plugin's plan for a source. The caller adds the plugin's name.
    pub plan: fn(&ApplicationSource, &BuildEnvironment) -> Result<PluginPlan, TranslateError>,
    /// Returns the parameters that the block sets, by the names under which users set them. Variables are not replaced.
    pub parameters: fn(&ApplicationSource) -> Vec<Parameter>,
    /// Returns the source with other parameters.
    pub with_parameters: fn(&ParameterEdit<'_>) -> Result<ApplicationSource, NoPlaceError>,
    /// Returns the dynamic parameters of the block, which is added if it does not exist. `None` if it has none.
    pub dynamic_parameters: fn(&mut ApplicationSource) -> Option<&mut Vec<DynamicParameter>>,
}

/// The block of a type in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// It does not exist.
    Absent,
    /// It counts as absent in an Application.
    Empty,
    /// It names the type.
    Set,
}

impl PartialEq for NativeType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for NativeType {}

impl fmt::Debug for NativeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

pub(super) const KUSTOMIZE: NativeType = NativeType {
    name: "Kustomize",
    plugin: KUSTOMIZE_PLUGIN,
    requires_match: true,
    block: |source| Block::of(source.kustomize.as_ref(), is_empty_kustomize_block),
    remove_block: |source| source.kustomize = None,
    is_indicated_by: |name| ["kustomization.yaml", "kustomization.yml", "Kustomization"].contains(&name),
    enabled: |settings| settings.kustomize_enable.as_deref(),
    plan: kustomize_plan,
    parameters: |source| {
        let block = source.kustomize.as_ref();
        block.map(|block| kustomize_parameters(block, &str::to_owned)).unwrap_or_default()
    },
    with_parameters: set_kustomize_parameters,
    dynamic_parameters: |_| None,
};

pub(super) const HELM: NativeType = NativeType {
    name: "Helm",
    plugin: HELM_PLUGIN,
    // Helm reports an invalid chart.
    requires_match: false,
    block: |source| Block::of(source.helm.as_ref(), |block| *block == HelmSource::default()),
    remove_block: |source| source.helm = None,
    is_indicated_by: |name| name.ends_with("Chart.yaml"),
    enabled: |settings| settings.helm_enable.as_deref(),
    plan: helm_plan,
    parameters: |source| source.helm.as_ref().map(shown_parameters).unwrap_or_default(),
    with_parameters: set_helm_parameters,
    dynamic_parameters: |source| Some(&mut source.helm.get_or_insert_default().dynamic_parameters),
};

impl Block {
    fn of<T>(block: Option<&T>, is_empty: impl Fn(&T) -> bool) -> Self {
        match block {
            None => Self::Absent,
            Some(block) if is_empty(block) => Self::Empty,
            Some(_) => Self::Set,
        }
    }
}

/// As in Argo CD, a block that only has booleans for labels and annotations is empty, since they have no effect alone.
fn is_empty_kustomize_block(block: &KustomizeSource) -> bool {
    *block
        == KustomizeSource {
            force_common_labels: block.force_common_labels,
            force_common_annotations: block.force_common_annotations,
            common_annotations_envsubst: block.common_annotations_envsubst,
            label_without_selector: block.label_without_selector,
            label_include_templates: block.label_include_templates,
            ..KustomizeSource::default()
        }
}
