//! The Helm plugin: renders a chart as Argo CD's native Helm support does, by the `helm` binary and without a shell.
//!
//! [`main`] is all that the program calls. `host` reads the environment, `settings` what of it people set, `request` makes a `request::Request` of it, and the
//! commands take that: pure decisions (options, paths, the argument list) come first, then helm runs once, or twice where dependencies
//! were missing.

mod announce;
mod arguments;
mod chart;
mod check;
mod dependencies;
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
mod request;
mod settings;
mod shown;
mod slow;
mod substitution;
mod template;
mod value_files;

pub use program::main;
