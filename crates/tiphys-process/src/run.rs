//! Commands of a plugin, run under a launcher.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

/// How the launcher process is started: a program that calls [`crate::launcher_main`] when its first argument is
/// [`crate::LAUNCHER_ARGUMENT`]. The product uses its own executable.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// Absolute path of the program.
    pub program: PathBuf,
}

/// What a run sees of a tree. The launcher sets it up and removes `run_dir` (if there is one) on every way out, a kill of the parent included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// A directory as it is; nothing is made or removed.
    Direct {
        /// The directory.
        dir: PathBuf,
    },
    /// A private writable view over a read-only tree: an overlay where the kernel allows it, else a copy (reflinks where the file system has them).
    Private {
        /// The read-only tree.
        lower: PathBuf,
        /// An empty folder of this run, removed with all its content when the run ends.
        run_dir: PathBuf,
        /// False forces the copy.
        overlay: bool,
    },
}

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of standard output that one command may print; more ends the run with [`Ended::OutputTooLarge`].
    pub stdout_bytes_max: usize,
    /// Bytes of standard error that are kept per command: the first and the last half, with a line between that says how much is left out.
    pub stderr_bytes_max: usize,
    /// Time between SIGTERM and SIGKILL when a run is ended.
    pub grace: Duration,
}

/// One command.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// Program and arguments; never empty. A program without `/` is looked up in the `PATH` of `env`.
    pub argv: Vec<String>,
    /// The whole environment; later entries win.
    pub env: Vec<(String, String)>,
    /// Working directory, relative to the view's root, without `..`; empty for the root.
    pub dir: PathBuf,
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
#[derive(Clone, Debug)]
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
        source: std::io::Error,
    },
    /// The launcher itself failed: it could not be started, could not set up the view, or died.
    #[error("launcher: {message}")]
    Launcher {
        /// What happened.
        message: String,
    },
}

/// A started launcher with its view, in which commands are run one after another. Dropping it ends all its processes
/// (SIGTERM, grace, SIGKILL in the launcher) without waiting for them; [`Run::finish`] waits.
#[derive(Debug)]
pub struct Run {}

impl Launcher {
    /// Starts a launcher and sets up the view.
    pub async fn start(&self, view: View, limits: Limits) -> Result<Run, RunError> {
        todo!("{view:?} {limits:?}")
    }
}

impl Run {
    /// Absolute path at which the commands see the tree (to be replaced in messages).
    pub fn root(&self) -> &std::path::Path {
        todo!()
    }

    /// Runs one command to its end, to the deadline, or until `cancel` fires. Left-over background processes stay until the run ends.
    pub async fn execute(
        &mut self,
        command: CommandSpec,
        deadline: Option<Instant>,
        cancel: &tokio_util::sync::CancellationToken,
    ) -> Result<Outcome, RunError> {
        todo!("{command:?} {deadline:?} {cancel:?}")
    }

    /// Ends every process of the run and waits until the launcher has removed everything.
    pub async fn finish(self) -> Result<(), RunError> {
        todo!()
    }
}

/// A command as logs and errors show it (`spec/cmp.md` 6.3): arguments joined by blanks, those with white space quoted as Go's `%q` does, empty ones as `""`.
pub fn quote_command(argv: &[String]) -> String {
    todo!("{argv:?}")
}
