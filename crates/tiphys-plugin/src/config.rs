//! A plugin's file: kind `ConfigManagementPlugin`, read exactly as Argo CD's plugin server reads it (`spec/cmp.md` 2 and 14).
//!
//! [`read`] is never stricter than Argo CD; [`check()`](check::check) says what is silently ignored, and what fails later.

pub mod check;
mod configmap;
mod file;
mod metadata;
mod schema;

pub use configmap::{configs_from_configmap, read_file};
pub use file::{CommandFields, LargeParameters, PluginFile};
pub use metadata::Metadata;
pub use schema::{SCHEMA, SCHEMA_FILE};

use tiphys_params::{AnnouncementEntry, AnnouncementError, Announcements};
use tiphys_yaml::DecodeError;

/// Kind of a plugin's file.
pub const KIND: &str = "ConfigManagementPlugin";

/// A plugin's configuration: its name and its `generate` command are there, so that it can be served.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent key of the file")]
#[non_exhaustive]
pub struct PluginConfig {
    /// `metadata.name`, never empty.
    pub name: String,
    /// `spec.version`; empty if there is none.
    pub version: String,
    /// `spec.init`, if it has a command.
    pub init: Option<Command>,
    /// `spec.generate`.
    pub generate: Command,
    /// `spec.discover`.
    pub discover: Discover,
    /// `spec.parameters.static` as it was written; what is wrong with an entry is an error when it is handled, not before.
    pub static_announcements: Vec<AnnouncementEntry>,
    /// `spec.parameters.dynamic`, if it has a command.
    pub dynamic: Option<Command>,
    /// `spec.preserveFileMode`: the plugin sees executable bits.
    pub preserve_file_mode: bool,
    /// `spec.provideGitCreds`: the plugin wants the repository's git credentials.
    pub provide_git_creds: bool,
    /// `spec.runContext`: the plugin wants a run context (`design.md` section 2). Argo CD ignores the key.
    pub run_context: bool,
    /// `spec.largeParameters`: where parameters go that do not fit into the environment. Argo CD ignores the key.
    pub large_parameters: LargeParameters,
    /// Annotation `tiphys/deterministic: "true"`: the output is a function of the inputs, so that it may be reused.
    pub deterministic: bool,
}

/// A command that can be started: its first word is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// `command`: the program and its first arguments, at least one word.
    pub command: Vec<String>,
    /// `args`: more arguments.
    pub args: Vec<String>,
}

/// `spec.discover`: when an application is this plugin's. Exactly one rule counts, the first that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discover {
    /// `fileName`: a pattern of Go's `filepath.Glob`; empty if it is not set.
    pub file_name: String,
    /// `find.glob`: a pattern of zglob; empty if it is not set.
    pub find_glob: String,
    /// `find.command`, if it is set.
    pub find_command: Option<Command>,
}

/// Why a plugin's file cannot be used. The three texts about the file's contents are Argo CD's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text is no YAML.
    #[error(transparent)]
    Yaml(#[from] tiphys_yaml::Error),
    /// A field has the wrong type.
    #[error(transparent)]
    Type(#[from] DecodeError),
    /// `metadata.name` is missing or empty.
    #[error("invalid plugin configuration file. metadata.name should be non-empty")]
    NoName,
    /// `kind` is another one.
    #[error("invalid plugin configuration file. kind should be {KIND}, found {found}")]
    Kind {
        /// The kind that was found; empty if there is none.
        found: String,
    },
    /// `spec.generate.command` is missing or empty.
    #[error("invalid plugin configuration file. spec.generate command should be non-empty")]
    NoGenerate,
    /// A value of a `ConfigMap` is no plugin's file.
    #[error("ConfigMap {configmap}, key {key}")]
    ConfigMapValue {
        /// Name of the `ConfigMap`.
        configmap: String,
        /// The key of the value; positions in the source count inside the value.
        key: String,
        /// Why.
        #[source]
        source: Box<ConfigError>,
    },
    /// A `ConfigMap` without any plugin's file.
    #[error(
        "ConfigMap {configmap} holds no plugin: none of its keys ending in .yaml, .yml or .json has a document of kind {KIND}"
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
    /// What users put into `spec.source.plugin.name`: `name`, or `name-version` if there is a version.
    pub fn display_name(&self) -> String {
        if self.version.is_empty() { self.name.clone() } else { format!("{}-{}", self.name, self.version) }
    }

    /// File name of the socket: [`PluginConfig::display_name`] and `.sock`. It is not made safe: a name with `/` leads elsewhere.
    pub fn socket_name(&self) -> String {
        format!("{}.sock", self.display_name())
    }

    /// Whether any discovery rule is set.
    pub fn discovery_configured(&self) -> bool {
        let Discover { file_name, find_glob, find_command } = &self.discover;
        !file_name.is_empty() || !find_glob.is_empty() || find_command.is_some()
    }

    /// The static announcements, checked as the proposal demands wherever they are handled; the first one that is wrong is the error.
    pub fn checked_announcements(&self) -> Result<Announcements, AnnouncementError> {
        Announcements::from_entries(&self.static_announcements)
    }
}

impl Command {
    /// The words of the command line: `command`, then `args`.
    pub fn argv(&self) -> Vec<String> {
        self.command.iter().chain(&self.args).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
