//! The use cases of tiphys: selecting and rendering applications, their parameters, comparisons, and trials of plugins.
//!
//! A front end turns its input into plain values ([`ServiceOptions`], [`ApplicationSelection`], …) and opens a [`Service`] with them, once.
//! For each request it opens a [`Workspace`], calls a use case with it and presents the result. Nothing here parses a command line,
//! prints, or speaks HTTP or gRPC. The environment arrives as a [`Host`], and cancellation as a token in [`WorkspaceOptions`]. Errors have an [`ErrorKind`] that a front end
//! maps to its own codes.

mod appset;
mod assignments;
mod cache;
mod check;
mod checkouts;
mod cluster_references;
mod clusters;
pub mod compare;
mod credentials;
mod dynamic;
mod error;
mod findings;
mod host;
mod inputs;
mod object_address;
mod options;
mod overlooked;
pub mod params;
pub mod plugin;
mod project_file;
mod project_look_ups;
mod project_permits;
mod projects;
mod render;
mod select;
mod self_references;
mod service;
mod settings;
mod shared_objects;
mod store;
mod text;
mod trust;
mod warning;
mod watch;
mod workspace;

pub use appset::{
    CheckFinding, CheckedSets, ControllerSettings, ExistingApplications, FileGlobbing, GeneratedSets,
    PluginAnswers, PluginCall, PluginCallResult, PreviewRequest, Previews, RecordedAnswers, SetApplications,
    SetInclusion, SetOutcome, SetPreview, SetReports, SetSelection, SetTemplate, UnknownSet,
    call_plugin_service, check_sets, compare_previews, generate_sets, preview, render_for_set,
};
pub use cache::prune_cache;
pub use check::{ApplicationFinding, CheckedApplications, check_applications};
pub use checkouts::{CheckoutReport, checkout_report, unusable_checkout};
pub use cluster_references::ClusterReference;
pub use error::{ApplicationCause, ErrorKind, Input, Remedy, ServiceError};
pub use findings::RefusedApplications;
pub use host::Host;
pub use inputs::{ApplicationInputs, inputs};
pub use object_address::{parse_object_address, require_possible};
pub use options::{
    ApplicationSelection, ClusterContext, ConnectPlugins, CurrentCheckout, InstalledPlugins,
    KubernetesAccess, RepositoryRevisions, ServiceLimits, ServiceOptions, StepCallback, StorePath,
};
pub use project_file::{
    PROJECT_FILE, PROJECT_FILE_SCHEMA, ProjectFile, ProjectFileChoice, ProjectKey, ProjectValue,
};
pub use project_look_ups::{ApplicationLookUps, look_ups};
pub use project_permits::{
    ObjectRequest, ProjectAnswer, ProjectFiles, ProjectQuestion, ProjectRule, project_permits,
};
pub use projects::{MissingProjects, ProjectEnforcement};
pub use render::{PluginEnvironment, RenderAdjustments, environments, render};
pub use select::{SelectedApplications, select};
pub use service::Service;
pub use store::load_store;
pub use text::{json_list, json_text, listed, one_line, yaml_documents};
pub use tiphys_generators::PluginForm;
pub use tiphys_http::ConnectTo;
pub use tiphys_model::access::Secret;
pub use warning::Warning;
pub use watch::{ValueChange, ValueWatch, WatchCounts};
pub use workspace::{Workspace, WorkspaceOptions};
