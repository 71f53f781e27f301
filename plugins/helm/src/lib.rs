//! The Helm plugin: renders a chart like Argo CD's native Helm support, with the `helm` binary and without a shell.
//!
//! The program calls [`main`]. `host` reads the environment, `settings` decodes it, and `request` builds a `request::Request` for the
//! commands. Pure decisions (options, paths, arguments) come first. Then helm runs once, or twice if dependencies are missing.

mod announce;
mod arguments;
mod builtin;
mod cause;
mod chart;
mod check;
mod compare;
mod dependencies;
mod exact_value;
mod failure;
mod generate;
mod helm;
mod home;
mod host;
mod kube_version;
mod kustomize;
mod lock;
mod mirror;
mod options;
mod program;
mod redaction;
mod request;
mod settings;
mod slow;
mod substitution;
mod template;
mod value_files;

pub use builtin::generate_in_process;
pub use helm::{is_supported_version, rules_beside, supported_versions};
pub use program::{main, run};

/// The plugin's file.
pub const PLUGIN_FILE: &str = include_str!("../plugin.yaml");

/// The name of the program in the plugin's file.
pub const PROGRAM: &str = "tiphys-helm";
