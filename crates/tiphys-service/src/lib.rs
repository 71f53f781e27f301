//! The use cases of tiphys: selecting and rendering applications, their parameters, comparisons, and trials of plugins.
//!
//! A front end turns its input into plain values ([`ServiceOptions`], [`ApplicationSelection`], …) and opens a [`Service`] with them, once.
//! For each request it opens a [`Workspace`], calls a use case with it and presents the result. Nothing here parses a command line,
//! prints, or speaks HTTP or gRPC. The environment arrives as a [`Host`], and cancellation as a token in [`WorkspaceOptions`]. Errors have an [`ErrorKind`] that a front end
//! maps to its own codes.

mod application_diff;
mod appset;
mod check;
pub mod compare;
mod context;
pub mod doctor;
pub mod documents;
mod error;
mod findings;
mod list;
pub mod params;
pub mod plugin;
mod problems;
mod project;
mod render;
mod sample;
mod select;
mod text;
mod warning;
mod watch;

pub use appset::{
    ControlPlaneObjects, ControllerSettings, DecodedSet, ExistingApplications, GenerateRequest, GeneratedSet,
    PluginAnswers, PluginCall, PluginCallResult, PreviewRequest, Previews, RecordedParameters, SetPreview,
    SetTemplate, call_plugin_service, compare_previews, generate_set, plan_deletion, preview, preview_change,
    recorded_parameters, render_for_set,
};
pub use check::{
    ApplicationFinding, CheckFinding, CheckedApplications, CheckedSets, ComparedEngines, EngineComparison,
    check_applications, check_sets, compare_engines,
};
pub use context::cache::prune_cache;
pub use context::checkouts::{CheckoutReport, checkout_report, unusable_checkout};
pub use context::cluster_references::ClusterReference;
pub use context::host::Host;
pub use context::options::{
    ApplicationSelection, ClusterContext, ConnectPlugins, CurrentCheckout, FileGlobbing, ForgeRules,
    GivenSetting, GivenSettings, KubernetesAccess, ProjectEnforcement, RepositoryRevisions, ServiceOptions,
    SetInclusion, Setting, SettingOrigin, StepCallback, StorePath,
};
pub use context::project_file::{
    Migration, PROJECT_FILE, ProjectFile, ProjectFileChoice, ProjectValue, migrate_project_file,
    project_file_schema,
};
pub use context::projects::ProjectRule;
pub use context::service::Service;
pub use context::sets::{
    GeneratedSets, RecordedAnswers, SetApplications, SetOutcome, SetReports, SetSelection, UnknownSet,
    generate_sets,
};
pub use context::store::load_store;
pub use context::workspace::{Workspace, WorkspaceOptions};
pub use error::{ApplicationCause, Details, ErrorKind, Input, Remedy, ServiceError};
pub use list::{ListedApplication, list};
pub use project::{
    ApplicationLookUps, ObjectRequest, ProjectAnswer, ProjectFiles, ProjectQuestion, look_ups,
    parse_object_address, project_permits, require_possible, unmatched_sources,
};
pub use render::{ApplicationInputs, PluginEnvironment, RenderAdjustments, environments, inputs, render};
pub use sample::create_sample;
pub use select::{SelectedApplications, select};
pub use text::{json_list, json_text, listed, one_line, yaml_documents};
pub use tiphys_generators::PluginForm;
pub use tiphys_http::ConnectTo;
pub use tiphys_model::access::Secret;
pub use warning::Warning;
pub use watch::{StoreWatch, ValueChange, ValueWatch, WatchCounts};
