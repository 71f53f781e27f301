//! The kustomize plugin: builds the kustomization in a directory, changed by the application's parameters.
//!
//! The directory is a private copy, so the parameters are written into the kustomization itself, by kustomize's own `edit` command, as
//! Argo CD does for the fields of its `kustomize` block. Each value is one argument: nothing is evaluated, and nothing is split at spaces.

mod announce;
mod call;
mod edits;
mod git;
mod helm;
mod images;
mod kustomization;
mod kustomize;
mod native;
mod program;

pub use kustomize::{is_supported_version, supported_versions};
pub use native::native_request;
pub use program::{main, run};

/// The plugin's file.
pub const PLUGIN_FILE: &str = include_str!("../plugin.yaml");

/// The name of the program in the plugin's file.
pub const PROGRAM: &str = "tiphys-kustomize";

/// The name under which kustomize calls this program instead of helm.
pub const HELM_PROGRAM: &str = "tiphys-kustomize-helm";

/// The name under which kustomize calls this program instead of git, which it finds in `PATH`.
pub const GIT_PROGRAM: &str = "git";
