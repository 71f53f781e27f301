//! The request for a run, its limits, and its result.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::message::{path, paths};

/// The directory that the commands of a run work in. The launcher sets it up. It removes `run_dir`, if there is one, in every case, even if
/// the parent is killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum View {
    /// A directory itself. Nothing is made or removed.
    Direct {
        /// The directory.
        #[serde(with = "path")]
        dir: PathBuf,
    },
    /// A private writable copy or overlay of a read-only tree.
    Private {
        /// The read-only tree.
        #[serde(with = "path")]
        lower: PathBuf,
        /// Other read-only trees, which get private copies or overlays, too: see [`crate::Run::other`].
        #[serde(with = "paths")]
        others: Vec<PathBuf>,
        /// An empty directory of this run, removed with its content when the run ends.
        #[serde(with = "path")]
        run_dir: PathBuf,
        /// Overlay or copy.
        how: PrivateView,
        /// Directories that the commands must not see or change.
        shielded: Shielded,
    },
}

impl View {
    /// Returns a private view of one tree, without shields.
    pub fn private(lower: impl Into<PathBuf>, run_dir: impl Into<PathBuf>, how: PrivateView) -> Self {
        let (lower, run_dir) = (lower.into(), run_dir.into());
        Self::Private { lower, others: Vec::new(), run_dir, how, shielded: Shielded::default() }
    }
}

/// Directories outside the view that are protected by mounts in the run's namespace. They are protected with an overlay, not with a copy.
/// Directories that do not exist are skipped. No command can unmount them or rename a directory above them, except root with the right to
/// mount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shielded {
    /// Directories that the commands see as empty, except for the run directory and the read-only ones in them.
    #[serde(with = "paths")]
    pub hidden: Vec<PathBuf>,
    /// Directories that the commands can read, but not change. File systems mounted below them are not protected.
    #[serde(with = "paths")]
    pub read_only: Vec<PathBuf>,
}

/// How a private view is made. Changes in it never affect the tree or another view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PrivateView {
    /// An overlay if the system allows it, else a copy.
    #[default]
    Auto,
    /// An overlay. If the system refuses it, the run fails with its reason.
    Overlay,
    /// A full copy, by reflinks if the file system supports them.
    Copy,
}

/// The kind of view that [`PrivateView::Auto`] gives on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// An overlay.
    Overlay,
    /// A full copy.
    Copy {
        /// Why the system refused an overlay.
        reason: String,
    },
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of standard output of one command. More output ends the run with [`Ended::OutputTooLarge`].
    pub stdout_bytes_max: usize,
    /// Bytes of standard error that are kept per command: the first and the last half. A line between them reports the omitted bytes.
    pub stderr_bytes_max: usize,
    /// Time between SIGTERM and SIGKILL when a run is ended.
    pub grace: Duration,
}

impl Limits {
    /// For a run without commands.
    pub(crate) const NOTHING: Self = Self { stdout_bytes_max: 0, stderr_bytes_max: 0, grace: Duration::ZERO };
}

/// How the processes of a run are found at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Containment {
    /// The launcher adopts orphans and finds every descendant, one that left its group or session included. Linux only.
    #[cfg_attr(target_os = "linux", default)]
    Descendants,
    /// Portable: the process groups of the commands. A process that leaves its group is not ended.
    #[cfg_attr(not(target_os = "linux"), default)]
    ProcessGroups,
}

/// One command.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSpec {
    /// Program and arguments; never empty. A program without `/` is looked up in the `PATH` of `env`.
    pub argv: Vec<String>,
    /// The whole environment. Later entries take precedence.
    pub env: Vec<(String, String)>,
    /// Working directory, relative to the view's root, without `..`; empty for the root.
    #[serde(with = "path")]
    pub dir: PathBuf,
}

/// Values of the environment may be secret.
impl std::fmt::Debug for CommandSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("CommandSpec")
            .field("argv", &self.argv)
            .field("env", &names)
            .field("dir", &self.dir)
            .finish()
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// It exited with this code.
    Exited(i32),
    /// A signal ended it that tiphys did not send.
    Signalled(i32),
    /// The deadline passed.
    DeadlineExceeded,
    /// The caller cancelled it.
    Cancelled,
    /// It printed more than [`Limits::stdout_bytes_max`].
    OutputTooLarge,
}

/// Result of a command.
#[derive(Clone)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// Standard output until the command itself ended. Descendants that keep the pipe open are not waited for.
    pub stdout: Vec<u8>,
    /// Standard error, limited, with invalid UTF-8 replaced.
    pub stderr: String,
    /// Time from start to end.
    pub duration: Duration,
}

/// Output may be secret.
impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outcome")
            .field("ended", &self.ended)
            .field("stdout_bytes", &self.stdout.len())
            .field("stderr_bytes", &self.stderr.len())
            .field("duration", &self.duration)
            .finish()
    }
}

/// An error that keeps a command from running.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program was not found or may not be executed.
    #[error("cannot start {program}")]
    Start {
        /// First element of argv.
        program: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The launcher itself failed: it could not be started, could not set up the view, or died.
    #[error("launcher: {message}")]
    Launcher {
        /// The failure.
        message: String,
    },
}

impl RunError {
    #[expect(clippy::needless_pass_by_value, reason = "it is the argument of map_err")]
    pub(crate) fn launcher(message: impl ToString) -> Self {
        Self::Launcher { message: message.to_string() }
    }

    /// Whether a file system was full.
    pub fn is_disk_full(&self) -> bool {
        // A launcher reports its error as a string that ends with the system's message.
        let texts = [Errno::NOSPC, Errno::DQUOT].map(|errno| io::Error::from(errno).to_string());
        matches!(self, Self::Launcher { message } if texts.iter().any(|text| message.contains(text)))
    }
}
