//! The one trait for plugins, in this process or behind a socket.

use std::sync::Arc;
use std::time::Duration;

use tiphys_kustomize::KustomizationError;
use tiphys_limits::Limit;
use tiphys_params::{Announcement, EnvVar};
use tiphys_tree::{Entries, Modes, RepoPath, Tree};
use tiphys_yaml::OutputDocument;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::{ContextFilesError, GivenContext};
use crate::environment::EnvironmentError;

/// What a plugin is asked about: an application's folder in a tree, and the environment of the request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The tree, with the modes that [`Plugin::modes`] asks for.
    pub tree: Tree,
    /// The application's folder in the tree.
    pub app_path: RepoPath,
    /// Build environment, plugin environment and parameters, in Argo CD's order; later entries win (`spec/cmp.md` 4.2).
    pub env: Vec<EnvVar>,
    /// What a plugin is told that asks for a run context ([`Configuration::run_context`]); others do not see it.
    pub context: Option<Arc<GivenContext>>,
    /// When the answer must be there.
    pub deadline: Deadline,
    /// Fires when nobody waits for the answer any more.
    pub cancel: CancellationToken,
}

/// When an answer must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// At this time, waiting for a free place included: somebody else's clock is running.
    At(Instant),
    /// So long after the commands have started, however long they waited for a free place.
    After(Duration),
}

impl Deadline {
    /// The time, for commands that start now.
    pub fn from(self, now: Instant) -> Instant {
        match self {
            Self::At(instant) => instant,
            Self::After(duration) => now + duration,
        }
    }
}

/// What a plugin says of itself before it is given any files (`CheckPluginConfiguration`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Whether it has a discovery rule.
    pub discovery_configured: bool,
    /// Whether it wants git credentials.
    pub provide_git_creds: bool,
    /// Whether it wants a run context.
    pub run_context: bool,
}

/// Whether a plugin supports a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// It has no discovery rule, so it is only used by name.
    DiscoveryNotConfigured,
    /// Its rule holds.
    Supported,
    /// Its rule does not hold.
    NotSupported,
}

/// How a plugin decides whether it supports a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// It has no rule.
    NotConfigured,
    /// By the names and links of a tree alone: [`Plugin::matches_entries`] can be asked before any file is written.
    Entries,
    /// With the files, by a command or behind a socket.
    Run,
}

/// What `generate` gave.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The documents, in the order of the output (`spec/cmp.md` 6.6).
    pub documents: Vec<OutputDocument>,
    /// What the commands wrote to standard error, bounded; empty if the plugin is remote.
    pub stderr: String,
    /// Time that the plugin's own commands took; the whole call's if the plugin is remote.
    pub duration: Duration,
}

/// Which of a plugin's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// `discover.find.command`.
    Find,
    /// `init`.
    Init,
    /// `generate`.
    Generate,
    /// `parameters.dynamic`.
    Announce,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Find => "discover.find.command",
            Self::Init => "init",
            Self::Generate => "generate",
            Self::Announce => "parameters.dynamic.command",
        })
    }
}

/// Why a plugin gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// A command ended with a failure, with what it wrote to standard error; the words are Argo CD's (`spec/cmp.md` 6.5).
    #[error("{phase}: `{command}` failed {how}{}", if stderr.is_empty() { String::new() } else { format!(": {stderr}") })]
    Command {
        /// Which command.
        phase: Phase,
        /// The command as [`tiphys_process::quote_command`] shows it.
        command: String,
        /// `exit status N` or `signal: N`.
        how: String,
        /// Standard error, trimmed and bounded.
        stderr: String,
    },
    /// A command did not end in time; its processes were ended.
    #[error("{phase}: `{command}` did not end within its deadline{}", if stderr.is_empty() { String::new() } else { format!(": {stderr}") })]
    DeadlineExceeded {
        /// Which command.
        phase: Phase,
        /// The command.
        command: String,
        /// Standard error so far.
        stderr: String,
    },
    /// A command printed more than is allowed; its processes were ended.
    #[error("{phase}: `{command}` printed more than {bytes_max} bytes")]
    OutputTooLarge {
        /// Which command.
        phase: Phase,
        /// The command.
        command: String,
        /// The bound.
        bytes_max: usize,
    },
    /// The commands may have seen a tree in which something is missing.
    #[error(
        "the files were changed in the server's folder by somebody while the plugin ran; the next call makes them anew"
    )]
    TreeChanged,
    /// Nobody waits for the answer any more.
    #[error("cancelled")]
    Cancelled,
    /// Too many runs are under way, and too many wait or this one has waited too long.
    #[error(
        "busy: all places for plugin runs ({runs_max}, {}) are taken and {bound} ({limit}): try again later",
        Limit::JOBS
    )]
    Busy {
        /// Runs that may be under way at once.
        runs_max: usize,
        /// The bound that was reached, with its value.
        bound: String,
        /// The limit that was reached.
        limit: Limit,
    },
    /// The caller's deadline passed before a place for the run was free; nothing was started.
    #[error(
        "the deadline passed after {waited:?} in the queue: only {runs_max} plugin runs may be under way at once ({})",
        Limit::JOBS
    )]
    DeadlineInQueue {
        /// How long it waited.
        waited: Duration,
        /// Runs that may be under way at once.
        runs_max: usize,
    },
    /// A command could not be started at all.
    #[error("{phase}")]
    Run {
        /// Which command.
        phase: Phase,
        /// Why.
        #[source]
        source: tiphys_process::RunError,
    },
    /// The plugin's output is not what it must be.
    #[error("{phase}: {message}")]
    Output {
        /// Which command.
        phase: Phase,
        /// What is wrong, with the place in the output.
        message: String,
    },
    /// An announcement breaks the proposal's rules, or a default has the wrong type.
    #[error("parameters announcement: {message}")]
    Announcement {
        /// What is wrong, naming the entry.
        message: String,
    },
    /// The parameters of the request are not what they must be.
    #[error("ARGOCD_APP_PARAMETERS: {message}")]
    Parameters {
        /// What is wrong, naming the entry.
        message: String,
    },
    /// The kustomization of the application's folder leads out of the repository.
    #[error(transparent)]
    Kustomization(#[from] KustomizationError),
    /// The request's environment cannot be given to a command.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The files of the run context could not be written.
    #[error("run context")]
    Context(#[from] ContextFilesError),
    /// A discovery pattern cannot be used.
    #[error("error finding {rule} match for pattern {pattern:?}")]
    Pattern {
        /// Which rule has it, in Argo CD's words: `filename` or `glob` (`spec/cmp.md` 3.1).
        rule: &'static str,
        /// The pattern.
        pattern: String,
        /// Why.
        #[source]
        source: tiphys_tree::glob::GlobError,
    },
    /// The application's folder is not there or leads out of the tree.
    #[error("application path {path}")]
    AppPath {
        /// The path.
        path: RepoPath,
        /// Why.
        #[source]
        source: tiphys_tree::ContainmentError,
    },
    /// The names of files were given, and the plugin does not decide by names.
    #[error("plugin {plugin} needs the files of a tree to tell whether it supports it")]
    NeedsFiles {
        /// The plugin.
        plugin: String,
    },
    /// No folder for the run could be made.
    #[error("private view of the tree")]
    View(#[source] tiphys_tree::StoreError),
    /// A plugin server answered with an error, or not at all.
    #[error("plugin server {socket}: {message}")]
    Remote {
        /// The socket.
        socket: String,
        /// What it said.
        message: String,
    },
}

/// Something that renders folders and announces the parameters that it accepts.
#[async_trait::async_trait]
pub trait Plugin: Send + Sync + std::fmt::Debug {
    /// What users put into `spec.source.plugin.name`: the name, with `-version` if there is one.
    fn name(&self) -> &str;

    /// Which modes the tree of a request must have.
    fn modes(&self) -> Modes;

    /// The environment that the plugin's commands get for a request; of a remote plugin the request's part.
    fn environment(&self, request: &Request) -> Vec<(String, String)>;

    /// What the plugin says of itself without looking at any files.
    async fn configuration(&self) -> Result<Configuration, PluginError>;

    /// Whether what [`Plugin::matches`] answers depends on nothing but the files of the application's own folder, and costs next to
    /// nothing. False if it is not known.
    fn looks_only_at_folder(&self) -> bool {
        false
    }

    /// How the plugin decides whether it supports a folder.
    fn discovery(&self) -> Discovery;

    /// What [`Plugin::matches`] answers for a tree with these entries. A plugin whose [`Plugin::discovery`] is not
    /// [`Discovery::Entries`] cannot tell: [`PluginError::NeedsFiles`]. `stop` is asked while it looks; `true` ends it with
    /// [`PluginError::Cancelled`].
    fn matches_entries(
        &self,
        entries: &Entries,
        app_path: &RepoPath,
        stop: &dyn Fn() -> bool,
    ) -> Result<Match, PluginError>;

    /// Whether the plugin supports the application's folder.
    async fn matches(&self, request: &Request) -> Result<Match, PluginError>;

    /// The manifests.
    async fn generate(&self, request: &Request) -> Result<Generated, PluginError>;

    /// Static and dynamic announcements, joined.
    async fn announce(&self, request: &Request) -> Result<Vec<Announcement>, PluginError>;
}
