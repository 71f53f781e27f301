//! The use cases of tiphys: selecting and rendering applications, their parameters, comparisons, and trials of plugins.
//!
//! A front end turns its input into plain values ([`ServiceOptions`], [`ApplicationSelection`], …), opens a [`Workspace`], calls one
//! use case with it and presents the result. Nothing here parses a command line, prints, or speaks HTTP or gRPC. The
//! environment arrives as a [`Host`], and cancellation as a token in [`WorkspaceOptions`]. Errors have an [`ErrorKind`] that a front end
//! maps to its own codes.

mod assignments;
mod cache;
pub mod compare;
mod credentials;
mod error;
mod findings;
mod host;
mod options;
pub mod params;
pub mod plugin;
mod render;
mod select;
mod text;
mod trust;
mod workspace;

pub use cache::prune_cache;
pub use error::{ErrorKind, Remedy, ServiceError};
pub use host::Host;
pub use options::{ApplicationSelection, ConnectPlugins, ServiceLimits, ServiceOptions, StepCallback};
pub use render::{PluginEnvironment, RenderAdjustments, environments, render};
pub use select::{SelectedApplications, select};
pub use text::{json_list, json_text, listed, one_line, yaml_documents};
pub use workspace::{Workspace, WorkspaceOptions, load_store};
