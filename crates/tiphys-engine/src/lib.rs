//! Pure decisions: translating sources, merging override files, normalizing manifests, tracking.
//!
//! Nothing here reads files, the environment or a clock. Callers pass all input as arguments.

pub mod appset;
mod build_environment;
mod deletion;
pub mod diff;
mod dynamic;
mod generate_paths;
mod helm;
mod image;
mod json_pointers;
mod jsonpath;
mod kustomize;
mod manifest;
mod merge_patch;
mod normalize;
mod override_files;
mod owner;
mod ownership;
mod parameter_edit;
mod parameter_place;
mod plugin_environment;
mod preparation;
mod references;
mod scope;
mod selection;
mod served_kinds;
mod source_type;
mod sources;
mod tracking;
mod translate;

pub use build_environment::{BuildEnvironment, BuildEnvironmentError, BuildInputs};
pub use deletion::Deletion;
pub use dynamic::{
    DynamicParameterError, DynamicParameterProblem, LookUp, LookUpProblem, Resolution, Used, ValueConsumer,
    ValueProblem, look_ups,
};
pub use generate_paths::{GENERATE_PATHS_ANNOTATION, generate_paths};
pub use helm::{
    ChartKeys, ChartValue, HELM_FIELDS, HELM_VALUE_PREFIXES, HelmField, InlineValues, InlineValuesError,
    SET_FILE_PREFIX, SET_PREFIX, SET_STRING_PREFIX, VALUE_PREFIX, ValueParameters, ValuePath, VariableNames,
    Variables, assigned_value_name, build_variables, chart_values, handed_on_name, has_plugin_values,
    helm_parameter_names, ignored_text, inline_scalar, is_held_as_text, is_list_or_map, is_structure,
    replaced_variables, shown_announced_name, shown_announcements, shown_name, structure_default,
};
pub use image::{ImageError, image_replacement};
pub use jsonpath::{
    FieldPath, FieldPathError, FindError, FindProblem, PATH_BYTES_MAX, PATH_NESTING_MAX, PATH_VISITS_MAX,
    printed,
};
pub use manifest::{Manifest, ObjectKey};
pub(crate) use merge_patch::merge_patch;
pub use normalize::{NormalizeError, NormalizeProblem, normalize};
pub use override_files::{
    OVERRIDE_FILE_BYTES_MAX, Overridden, OverrideError, OverrideFile, OverrideStep, is_override_file_name,
    override_file_names, override_source,
};
pub use owner::Owner;
pub use ownership::Ownership;
pub use parameter_edit::{
    DynamicEdit, Given, NoPlaceError, ParameterEdit, parameter_changes, patch_changes, with_parameters,
    written_parameters,
};
pub use parameter_place::{
    FileLines, ParameterPart, PartPlace, dynamic_parameter_places, parameter_part_place, parameter_places,
    source_node,
};
pub use plugin_environment::{plugin_env, request_environment};
pub use preparation::{
    FolderFile, MergedOverride, OverrideFiles, Preparation, PreparationError, SourceFolder, TypeChoice,
    UndecidedType,
};
pub use references::{ReferenceError, mentioned, references};
pub use scope::{Scope, Scopes, set_namespace};
pub use selection::{combine, key_in_cluster, nothing_rendered, skip_secrets};
pub use served_kinds::{ResourceListError, ServedKind, ServedKinds, UnknownKind};
pub use source_type::{
    AmbiguousSource, Block, HELM_PLUGIN, KUSTOMIZE_PLUGIN, NATIVE_TYPES, NativeType, SourceType, SourceTypes,
    without_empty_blocks,
};
pub use sources::{ApplicationSources, SourceOf, SourcesError};
pub use tracking::{
    DEFAULT_LABEL_KEY, INSTALLATION_ID_ANNOTATION, TRACKING_ANNOTATION, Tracking, TrackingMethod,
    UnknownTrackingMethod, instance_name,
};
pub use translate::{DirectoryPlan, PluginPlan, SourcePlan, TranslateError, translate};
