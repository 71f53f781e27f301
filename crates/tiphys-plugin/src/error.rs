//! The errors of plugins.

use std::time::Duration;

use tiphys_model::limits::Limit;
use tiphys_model::params::{ABOVE_LIMIT_STATUS, ENGINES_DIFFER_STATUS, ONLY_HELM_STATUS};
use tiphys_process::{FailureCause, NOT_FOUND_CODE};
use tiphys_tree::RepoPath;
use tiphys_tree::kustomization::KustomizationError;

use crate::context::ContextFilesError;
use crate::environment::EnvironmentError;
use crate::signal;

/// A command of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub enum Phase {
    /// `discover.find.command`.
    #[strum(to_string = "discover.find.command")]
    Find,
    /// `init`.
    #[strum(to_string = "init")]
    Init,
    /// `generate`.
    #[strum(to_string = "generate")]
    Generate,
    /// `parameters.dynamic`.
    #[strum(to_string = "parameters.dynamic.command")]
    Announce,
    /// `parameters.explain`.
    #[strum(to_string = "parameters.explain.command")]
    Explain,
}

/// An error of a plugin.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// A command failed, with its standard error; the words are Argo CD's.
    #[error("{phase}: `{command}` failed {how}{}", if stderr.is_empty() { String::new() } else { format!(": {stderr}") })]
    Command {
        /// Which command.
        phase: Phase,
        /// The command, formatted by [`crate::quote_command`].
        command: String,
        /// How it ended.
        how: CommandFailure,
        /// Standard error, trimmed and limited.
        stderr: String,
    },
    /// A command exceeded the deadline. Its processes were ended.
    #[error("{phase}: `{command}` did not end within its deadline{}", if stderr.is_empty() { String::new() } else { format!(": {stderr}") })]
    DeadlineExceeded {
        /// Which command.
        phase: Phase,
        /// The command.
        command: String,
        /// Standard error so far.
        stderr: String,
    },
    /// A command printed too much. Its processes were ended.
    #[error("{phase}: `{command}` printed more than {bytes_max} bytes")]
    OutputTooLarge {
        /// Which command.
        phase: Phase,
        /// The command.
        command: String,
        /// The limit.
        bytes_max: usize,
    },
    /// The commands may have seen an incomplete tree.
    #[error(
        "the files in the server's directory were changed while the plugin ran; the next call unpacks them again"
    )]
    TreeChanged,
    /// A value from a Secret for a plugin that reads parameters from its environment.
    #[error(
        "dynamic parameter {parameter:?}: a value from a Secret is only passed to a plugin that reads its parameters from a file \
         (`spec.largeParameters: file`) and is not behind a socket"
    )]
    SecretInEnvironment {
        /// The parameter.
        parameter: String,
    },
    /// The caller cancelled the request.
    #[error("cancelled")]
    Cancelled,
    /// The queue is full, or this run waited too long.
    #[error(
        "busy: all slots for plugin runs ({runs_max}, {}) are taken and {bound} ({limit}): try again later",
        Limit::JOBS
    )]
    Busy {
        /// Maximum number of concurrent runs.
        runs_max: usize,
        /// The limit that was reached, with its value.
        bound: String,
        /// The limit that was reached.
        limit: Limit,
    },
    /// The deadline passed before a slot was free. Nothing was started.
    #[error(
        "the deadline passed after {waited:?} in the queue: only {runs_max} plugin runs may run at once ({})",
        Limit::JOBS
    )]
    DeadlineInQueue {
        /// The time in the queue.
        waited: Duration,
        /// Maximum number of concurrent runs.
        runs_max: usize,
    },
    /// A command could not be started.
    #[error("{phase}")]
    Run {
        /// Which command.
        phase: Phase,
        /// Why.
        #[source]
        source: tiphys_process::RunError,
    },
    /// The plugin's output is invalid.
    #[error("{phase}: {message}")]
    Output {
        /// Which command.
        phase: Phase,
        /// The problem, with the position in the output.
        message: String,
    },
    /// An announcement breaks the proposal's rules, or a default has the wrong type.
    #[error("parameters announcement: {message}")]
    Announcement {
        /// The problem, with the name of the entry.
        message: String,
    },
    /// The parameters of the request are invalid.
    #[error("ARGOCD_APP_PARAMETERS: {message}")]
    Parameters {
        /// The problem, with the name of the entry.
        message: String,
    },
    /// A kustomization in the application's directory leads out of the repository.
    #[error(transparent)]
    Kustomization(#[from] KustomizationError),
    /// The request's environment cannot be passed to a command.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The files of the run context could not be written.
    #[error("run context")]
    Context(#[from] ContextFilesError),
    /// A discovery pattern is invalid.
    #[error("error finding {rule} match for pattern {pattern:?}")]
    Pattern {
        /// The rule with the pattern, in Argo CD's words: `filename` or `glob`.
        rule: &'static str,
        /// The pattern.
        pattern: String,
        /// Why.
        #[source]
        source: tiphys_tree::glob::GlobError,
    },
    /// The application's directory does not exist or is outside the tree.
    #[error("application path {path}")]
    AppPath {
        /// The path.
        path: RepoPath,
        /// Why.
        #[source]
        source: tiphys_tree::ContainmentError,
    },
    /// The plugin cannot match by the names of files.
    #[error("plugin {plugin} needs the files of a tree to match it")]
    NeedsFiles {
        /// The plugin.
        plugin: String,
    },
    /// The run directory or a working copy could not be made.
    #[error("private working copy of the tree")]
    View(#[source] tiphys_tree::StoreError),
    /// A plugin server returned an error or did not answer.
    #[error("plugin server {socket}: {message}")]
    Remote {
        /// The socket.
        socket: String,
        /// Its message.
        message: String,
        /// Whether the server reports that the command for announcements exceeded a limit of its own. Argo CD's does not.
        is_above_announcement_limit: bool,
    },
}

impl PluginError {
    /// Returns whether the command for announcements exceeded a limit of its own. The parameters may be set nevertheless.
    pub fn is_above_announcement_limit(&self) -> bool {
        match self {
            Self::Command { phase: Phase::Announce, how, .. } => *how == CommandFailure::ABOVE_LIMIT,
            Self::Remote { is_above_announcement_limit, .. } => *is_above_announcement_limit,
            _ => false,
        }
    }

    /// Returns the cause that a failed command printed apart from its details.
    pub fn cause(&self) -> Option<FailureCause<'_>> {
        match self {
            Self::Command { stderr, .. } => FailureCause::of_stderr(stderr),
            Self::Remote { message, .. } => {
                // A server returns standard error after its own words, as Argo CD's does.
                let (_, ended) = message.split_once("` failed exit status ")?;
                FailureCause::of_stderr(ended.split_once(": ")?.1)
            }
            _ => None,
        }
    }
}

/// How a failed command ended. The words are those of Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandFailure {
    /// With this exit code.
    #[error("exit status {0}")]
    Exited(i32),
    /// By this signal.
    #[error("signal: {}", signal::name(*.0))]
    Signalled(i32),
}

impl CommandFailure {
    /// The command for announcements exceeded a limit of its own.
    pub const ABOVE_LIMIT: Self = Self::Exited(ABOVE_LIMIT_STATUS as i32);
    /// Both engines of the Helm plugin rendered a chart, and the results differ.
    pub const ENGINES_DIFFER: Self = Self::Exited(ENGINES_DIFFER_STATUS as i32);
    /// Only the `helm` program can render a chart.
    pub const ONLY_HELM: Self = Self::Exited(ONLY_HELM_STATUS as i32);
    /// The command did not find its program.
    pub const NOT_FOUND: Self = Self::Exited(NOT_FOUND_CODE as i32);
}
