//! The trait of all plugins, in this process or behind a socket.

use std::time::Duration;

use tiphys_model::params::Announcement;
use tiphys_tree::{Entries, Modes, RepoPath};
use tiphys_yaml::OutputDocument;

use crate::error::PluginError;
use crate::explanation::{Explanation, Explanations};
use crate::request::Request;

/// The configuration of a plugin, known without files (`CheckPluginConfiguration`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Whether it has a discovery rule.
    pub discovery_configured: bool,
    /// Whether it needs git credentials.
    pub provide_git_creds: bool,
    /// Whether it gets a run context.
    pub run_context: bool,
}

/// Whether a plugin supports a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// It has no discovery rule, so it is only used by name.
    DiscoveryNotConfigured,
    /// Its rule matches.
    Supported,
    /// Its rule does not match.
    NotSupported,
}

/// Inputs of a plugin's result, besides the environment of its request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputRule {
    /// Any file of the revision.
    #[default]
    Revision,
    /// A chart, its dependencies in the repository, and the named value files (`tiphys/inputs: chart`).
    Chart,
    /// A kustomization and what it names (`tiphys/inputs: kustomization`).
    Kustomization,
}

/// How a plugin's discovery works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// It has no rule.
    NotConfigured,
    /// By the names and links of a tree: [`Plugin::matches_entries`] can be called before any file is written.
    Entries,
    /// With the files: by a command or a plugin server.
    Run,
}

/// The result of `generate`.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The documents, in the order of the output.
    pub documents: Vec<OutputDocument>,
    /// Standard error of the commands, limited; empty for a remote plugin.
    pub stderr: String,
    /// Duration of the plugin's commands; of the whole call for a remote plugin.
    pub duration: Duration,
}

impl Generated {
    /// Returns the warnings that the plugin printed.
    pub fn warnings(&self) -> Vec<String> {
        warnings_in(&self.stderr)
    }
}

/// Returns the warnings in the standard error of a command: lines that begin with `warning: `, without that.
pub(crate) fn warnings_in(stderr: &str) -> Vec<String> {
    stderr.lines().filter_map(|line| line.strip_prefix("warning: ")).map(str::to_owned).collect()
}

/// The result of `announce`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announced {
    /// The merged announcements, static ones first.
    pub list: Vec<Announcement>,
    /// Warnings that the plugin printed: lines of its standard error that begin with `warning: `. Empty for a remote plugin.
    pub warnings: Vec<String>,
}

/// A plugin.
#[async_trait::async_trait]
pub trait Plugin: Send + Sync + std::fmt::Debug {
    /// Returns the name for `spec.source.plugin.name`, with `-version` if there is one.
    fn name(&self) -> &str;

    /// Returns the file modes that the tree of a request must have.
    fn modes(&self) -> Modes;

    /// Returns the environment of the plugin's commands for a request; for a remote plugin only the request's variables.
    fn environment(&self, request: &Request) -> Vec<(String, String)>;

    /// Returns the configuration.
    async fn configuration(&self) -> Result<Configuration, PluginError>;

    /// Whether [`Plugin::matches`] depends only on the names directly in the application's directory. `false` if unknown.
    fn looks_only_at_folder(&self) -> bool {
        false
    }

    /// Whether its announcements do not depend on the application's name and namespace, unless a parameter mentions a variable. Then
    /// applications with equal sources share them. `false` if unknown.
    fn shares_announcements(&self) -> bool {
        false
    }

    /// Whether [`Plugin::announce_many`] asks once for all its requests. `false` if unknown.
    fn announces_many(&self) -> bool {
        false
    }

    /// Returns what its results depend on.
    fn inputs(&self) -> InputRule {
        InputRule::Revision
    }

    /// Returns how discovery works.
    fn discovery(&self) -> Discovery;

    /// Returns the discovery rule as the plugin's file has it. `None` if there is none, or if it is not known.
    fn discovery_rule(&self) -> Option<String> {
        None
    }

    /// Returns the answer of [`Plugin::matches`] for a tree with these entries. [`PluginError::NeedsFiles`] if [`Plugin::discovery`] is not
    /// [`Discovery::Entries`]. `stop` is called repeatedly; `true` ends the search with [`PluginError::Cancelled`].
    fn matches_entries(
        &self,
        entries: &Entries,
        app_path: &RepoPath,
        stop: &dyn Fn() -> bool,
    ) -> Result<Match, PluginError>;

    /// Returns whether the plugin supports the application's directory.
    async fn matches(&self, request: &Request) -> Result<Match, PluginError>;

    /// Checks the parameters of a request whose environment another process sent. Parameters of this process are checked before they are
    /// encoded.
    fn check_parameters(&self, _request: &Request) -> Result<(), PluginError> {
        Ok(())
    }

    /// Generates the manifests.
    async fn generate(&self, request: &Request) -> Result<Generated, PluginError>;

    /// Returns the merged static and dynamic announcements.
    async fn announce(&self, request: &Request) -> Result<Announced, PluginError>;

    /// Returns the announcements of requests that differ only in their environment, in their order. None for a request that must be asked
    /// for alone, with [`Plugin::announce`], because the plugin failed for it.
    async fn announce_many(&self, requests: &[Request]) -> Result<Vec<Option<Announced>>, PluginError> {
        Ok(vec![None; requests.len()])
    }

    /// Returns what sets the value of a parameter. None if the plugin cannot explain it.
    async fn explain(&self, _request: &Request, _name: &str) -> Result<Option<Explanation>, PluginError> {
        Ok(None)
    }

    /// Returns what sets the values of all parameters. None if the plugin cannot explain them in one run.
    async fn explain_all(&self, _request: &Request) -> Result<Option<Explanations>, PluginError> {
        Ok(None)
    }
}
