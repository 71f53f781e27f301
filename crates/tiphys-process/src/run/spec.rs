//! What is run, within which bounds, and what comes of it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;

/// What a run sees of a tree. The launcher sets it up and removes `run_dir` (if there is one) on every way out, a kill of the parent included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// A directory as it is; nothing is made or removed.
    Direct {
        /// The directory.
        dir: PathBuf,
    },
    /// A private writable view over a read-only tree.
    Private {
        /// The read-only tree.
        lower: PathBuf,
        /// Other read-only trees, seen privately as well: see [`crate::Run::other`].
        others: Vec<PathBuf>,
        /// An empty folder of this run, removed with all its content when the run ends.
        run_dir: PathBuf,
        /// Overlay or copy.
        how: PrivateView,
        /// Folders that the commands must not see or change.
        shielded: Shielded,
    },
}

/// Folders outside the view that are protected by mounts in the run's namespace, so an overlay has them and a copy has not. Folders
/// that do not exist are skipped. No command can remove these mounts or rename a folder above them, except root with the right to mount.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shielded {
    /// Folders that the commands see as empty, except for the run's own folder and the read-only ones in them.
    pub hidden: Vec<PathBuf>,
    /// Folders that the commands can read, but not change. File systems that are mounted below them stay as they are.
    pub read_only: Vec<PathBuf>,
}

/// How a private view is made. Whichever it is, nothing that is done in it changes the tree or another view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PrivateView {
    /// An overlay where the system allows it, else a copy.
    #[default]
    Auto,
    /// An overlay; where the system refuses it the run fails with what it said.
    Overlay,
    /// A full copy, by reflinks where the file system has them.
    Copy,
}

/// What [`PrivateView::Auto`] comes to on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// An overlay.
    Overlay,
    /// A full copy.
    Copy {
        /// What the system said when it refused an overlay.
        reason: String,
    },
}

/// Bounds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of standard output that one command may print; more ends the run with [`Ended::OutputTooLarge`].
    pub stdout_bytes_max: usize,
    /// Bytes of standard error that are kept per command: the first and the last half, with a line between that says how much is left out.
    pub stderr_bytes_max: usize,
    /// Time between SIGTERM and SIGKILL when a run is ended.
    pub grace: Duration,
}

impl Limits {
    /// For a run in which nothing is executed.
    pub(crate) const NOTHING: Self = Self { stdout_bytes_max: 0, stderr_bytes_max: 0, grace: Duration::ZERO };
}

/// How the end of every process of a run is brought about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Containment {
    /// The launcher adopts orphans and finds every descendant, one that left its group or session included. Linux only.
    #[cfg_attr(target_os = "linux", default)]
    Descendants,
    /// The portable way: the process groups of the commands. A process that leaves its group escapes.
    #[cfg_attr(not(target_os = "linux"), default)]
    ProcessGroups,
}

/// One command.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// Program and arguments; never empty. A program without `/` is looked up in the `PATH` of `env`.
    pub argv: Vec<String>,
    /// The whole environment; later entries win.
    pub env: Vec<(String, String)>,
    /// Working directory, relative to the view's root, without `..`; empty for the root.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this code.
    Exited(i32),
    /// A signal that we did not send ended it.
    Signalled(i32),
    /// The deadline passed.
    DeadlineExceeded,
    /// The caller gave up.
    Cancelled,
    /// It printed more than [`Limits::stdout_bytes_max`].
    OutputTooLarge,
}

/// What a command left.
#[derive(Clone)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// Standard output until the command itself ended (a descendant that keeps the pipe open is not waited for).
    pub stdout: Vec<u8>,
    /// Standard error, bounded; not UTF-8 bytes replaced.
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

/// Why a command could not be run at all.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program was not found or may not be executed.
    #[error("cannot start {program}")]
    Start {
        /// First element of argv.
        program: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The launcher itself failed: it could not be started, could not set up the view, or died.
    #[error("launcher: {message}")]
    Launcher {
        /// What happened.
        message: String,
    },
}

impl RunError {
    /// Whether there was no room on a file system for what the launcher makes.
    pub fn is_of_a_full_disk(&self) -> bool {
        // A launcher tells its reason as a text, which ends with the system's.
        let texts = [Errno::NOSPC, Errno::DQUOT].map(|errno| io::Error::from(errno).to_string());
        matches!(self, Self::Launcher { message } if texts.iter().any(|text| message.contains(text)))
    }
}
