//! A plugin's file of kind `ConfigManagementPlugin`, read exactly as by Argo CD's plugin server
//! ([documentation](https://argo-cd.readthedocs.io/en/stable/operator-manual/config-management-plugins/)).
//!
//! [`read`] is never stricter than Argo CD. [`check()`](check::check) reports what is silently ignored and what fails later.

pub mod check;
mod configmap;
mod file;
mod metadata;
mod schema;

pub use configmap::{configs_from_configmap, read_file};
pub use file::{CommandFields, LargeParameters, PluginFile};
pub use metadata::Metadata;
pub use schema::{SCHEMA, SCHEMA_FILE};

use tiphys_model::params::{AnnouncementEntry, AnnouncementError, Announcements};
use tiphys_yaml::DecodeError;

use crate::plugin::InputRule;

/// Kind of a plugin's file.
pub const KIND: &str = "ConfigManagementPlugin";

/// A valid plugin configuration: its name and its `generate` command are set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginConfig {
    /// `metadata.name`, never empty.
    pub name: String,
    /// `spec.version`; empty if absent.
    pub version: String,
    /// `spec.init`, if it has a command.
    pub init: Option<Command>,
    /// `spec.generate`.
    pub generate: Command,
    /// `spec.discover`.
    pub discover: Discover,
    /// `spec.parameters.static`, unchecked. An invalid entry is an error when it is used, not before.
    pub static_announcements: Vec<AnnouncementEntry>,
    /// `spec.parameters.dynamic`, if it has a command.
    pub dynamic: Option<Command>,
    /// `spec.parameters.explain`, if it has a command. Argo CD ignores the key.
    pub explain: Option<Command>,
    /// `spec.preserveFileMode`: the plugin sees executable bits.
    pub preserve_file_mode: bool,
    /// `spec.provideGitCreds`: the plugin needs the repository's git credentials.
    pub provide_git_creds: bool,
    /// `spec.runContext`: the plugin gets a run context (`docs/reference/plugin-yaml.md`). Argo CD ignores the key.
    pub run_context: bool,
    /// `spec.largeParameters`: how parameters are passed that do not fit into the environment. Argo CD ignores the key.
    pub large_parameters: LargeParameters,
    /// Annotation `tiphys/inputs`: what the output depends on.
    pub inputs: InputRule,
    /// Annotation `tiphys/announcements`: for which applications one answer of the dynamic command counts.
    pub announcement_rule: AnnouncementRule,
    /// Annotation `tiphys/explanations`: which parameters one run of the explaining command explains.
    pub explanation_rule: ExplanationRule,
}

/// Which parameters one run of the explaining command explains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExplanationRule {
    /// The one in its environment.
    #[default]
    One,
    /// All, if none is in its environment (`all`).
    All,
}

/// For which applications one answer of the dynamic command counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnnouncementRule {
    /// For the one that was asked for.
    #[default]
    Own,
    /// For all with the same source (`shared`): the announcements depend on the application's name and namespace only through variables in
    /// parameters.
    Shared,
    /// As [`AnnouncementRule::Shared`], and one command answers for several environments (`many`).
    Many,
}

/// A command with at least a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// `command`: the program and its first arguments, at least one word.
    pub command: Vec<String>,
    /// `args`: more arguments.
    pub args: Vec<String>,
}

/// `spec.discover`: which applications the plugin supports. Only the first rule that is set has an effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discover {
    /// `fileName`: a pattern of Go's `filepath.Glob`; empty if it is not set.
    pub file_name: String,
    /// `find.glob`: a pattern of zglob; empty if it is not set.
    pub find_glob: String,
    /// `find.command`, if it is set.
    pub find_command: Option<Command>,
}

/// An error of a plugin's file. The messages of `NoName`, `Kind` and `NoGenerate` are Argo CD's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Invalid YAML.
    #[error(transparent)]
    Yaml(#[from] tiphys_yaml::Error),
    /// A field has the wrong type.
    #[error(transparent)]
    Type(#[from] DecodeError),
    /// `metadata.name` is missing or empty.
    #[error("invalid plugin configuration file. metadata.name should be non-empty")]
    NoName,
    /// `kind` is wrong.
    #[error("invalid plugin configuration file. kind should be {KIND}, found {found}")]
    Kind {
        /// The kind; empty if absent.
        found: String,
    },
    /// `spec.generate.command` is missing or empty.
    #[error("invalid plugin configuration file. spec.generate command should be non-empty")]
    NoGenerate,
    /// A value of a `ConfigMap` is not a valid plugin's file.
    #[error("ConfigMap {configmap}, key {key}")]
    ConfigMapValue {
        /// Name of the `ConfigMap`.
        configmap: String,
        /// The key of the value. Positions in the source are relative to the value.
        key: String,
        /// Why.
        #[source]
        source: Box<ConfigError>,
    },
    /// A `ConfigMap` without a plugin's file.
    #[error(
        "ConfigMap {configmap} contains no plugin: none of its keys ending in .yaml, .yml or .json has a document of kind {KIND}"
    )]
    EmptyConfigMap {
        /// Name of the `ConfigMap`.
        configmap: String,
    },
}

/// Reads a plugin's file as Argo CD's plugin server does at its start.
pub fn read(text: &[u8]) -> Result<PluginConfig, ConfigError> {
    PluginFile::read(text)?.into_config()
}

impl PluginConfig {
    /// Returns the name for `spec.source.plugin.name`: `name`, or `name-version` if there is a version.
    pub fn display_name(&self) -> String {
        if self.version.is_empty() { self.name.clone() } else { format!("{}-{}", self.name, self.version) }
    }

    /// Returns the file name of the socket: [`PluginConfig::display_name`] and `.sock`. A `/` in the name is not escaped.
    pub fn socket_name(&self) -> String {
        format!("{}.sock", self.display_name())
    }

    /// Whether any discovery rule is set.
    pub fn discovery_configured(&self) -> bool {
        let Discover { file_name, find_glob, find_command } = &self.discover;
        !file_name.is_empty() || !find_glob.is_empty() || find_command.is_some()
    }

    /// Returns the checked static announcements, or the error of the first invalid one.
    pub fn checked_announcements(&self) -> Result<Announcements, AnnouncementError> {
        Announcements::from_entries(&self.static_announcements)
    }
}

impl Command {
    /// Returns the command line: `command`, then `args`.
    pub fn argv(&self) -> Vec<String> {
        self.command.iter().chain(&self.args).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
