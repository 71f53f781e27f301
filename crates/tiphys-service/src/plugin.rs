//! Plugins: loading them, checking them, and trying them on a directory.

mod check;
pub mod test;
mod trial;
mod try_on;

use std::path::PathBuf;

pub use crate::context::options::SettingOrigin;
pub use crate::context::plugins::{
    PluginPath, load_plugins, native_program, plugin_paths, run_settings, warn_about_folder,
};
pub use check::{CheckedForm, FormCheck};
pub use trial::Trial;
pub use try_on::{announce, environment, generate, matches};

/// A directory of a repository that a plugin is tried on.
#[derive(Clone, Debug)]
pub struct TrialFolder {
    /// The local directory of the repository. Uncommitted files count.
    pub repository: PathBuf,
    /// The application's directory in the repository.
    pub path: String,
    /// An Application that has the name, destination, parameters and environment.
    pub app: Option<PathBuf>,
}

impl TrialFolder {
    /// Returns the application's directory for messages.
    pub fn shown(&self) -> PathBuf {
        if self.path == "." { self.repository.clone() } else { self.repository.join(&self.path) }
    }
}

/// A plugin and what it is tried on.
#[derive(Clone, Debug)]
pub struct TrialOptions {
    /// The plugin's directory or file.
    pub plugin: PathBuf,
    /// The directory.
    pub folder: TrialFolder,
    /// Assignments of parameters.
    pub params: Vec<String>,
    /// Entries of `spec.source.plugin.env`: `NAME=VALUE`.
    pub plugin_env: Vec<String>,
    /// Whether to keep the plugin's working directory.
    pub keep_workdir: bool,
}
