//! Commands of a plugin, run under a launcher.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::launcher::{KILL_WAIT_MAX, LAUNCHER_ARGUMENT};
use crate::message::{Event, Request};
use crate::remove::remove_tree;

mod events;
use events::Events;

/// How long the launcher may take to answer that a run is being ended. It answers at once unless somebody stopped it.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(2);

/// How long the removal of a run's folder may take.
const REMOVAL_WAIT_MAX: Duration = Duration::from_mins(1);

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of standard output that one command may print; more ends the run with [`Ended::OutputTooLarge`].
    pub stdout_bytes_max: usize,
    /// Bytes of standard error that are kept per command: the first and the last half, with a line between that says how much is left out.
    pub stderr_bytes_max: usize,
    /// Time between SIGTERM and SIGKILL when a run is ended.
    pub grace: Duration,
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
pub struct Run {
    launcher: Child,
    requests: ChildStdin,
    events: Events,
    root: PathBuf,
    owned_folder: Option<PathBuf>,
    grace: Duration,
    state: State,
}

/// What the launcher is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waiting for a command.
    Idle,
    /// Running one, or ending the run: no further command can be run.
    Busy,
}

impl Launcher {
    /// Starts a launcher and sets up the view.
    pub async fn start(&self, view: View, limits: Limits) -> Result<Run, RunError> {
        self.start_contained(view, limits, Containment::default()).await
    }

    /// As [`Launcher::start`], with the way in which processes are found at the end.
    pub async fn start_contained(
        &self,
        view: View,
        limits: Limits,
        containment: Containment,
    ) -> Result<Run, RunError> {
        let owned_folder = claim_run_dir(&view)?;
        match self.set_up(view, limits, containment).await {
            Ok((launcher, requests, events, root)) => {
                let grace = limits.grace;
                Ok(Run { launcher, requests, events, root, owned_folder, grace, state: State::Idle })
            }
            Err(error) => {
                // The launcher removes the folder if it can, but it may not even have been started.
                remove_run_dir(owned_folder).await;
                Err(error)
            }
        }
    }

    async fn set_up(
        &self,
        view: View,
        limits: Limits,
        containment: Containment,
    ) -> Result<(Child, ChildStdin, Events, PathBuf), RunError> {
        #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
        let mut process = tokio::process::Command::new(&self.program);
        process.arg(LAUNCHER_ARGUMENT).env_clear();
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut launcher = process.spawn().map_err(|error| RunError::Launcher {
            message: format!("cannot start {}: {error}", self.program.display()),
        })?;
        let (Some(mut requests), Some(stdout)) = (launcher.stdin.take(), launcher.stdout.take()) else {
            return Err(launcher_error("has no pipes"));
        };
        let mut events = Events::new(stdout);
        let request = encode(&Request::SetUp { view, limits, containment })?;
        // If it died, its own last words or their absence say more than a broken pipe.
        let _heard: std::io::Result<()> = requests.write_all(&request).await;
        let error = match events.next().await.map_err(broken)? {
            Some(Event::Ready { root, copied_because }) => {
                if !copied_because.is_empty() {
                    tracing::debug!(reason = copied_because, "the tree is copied, since there is no overlay");
                }
                return Ok((launcher, requests, events, root));
            }
            Some(Event::SetUpFailed { message }) => RunError::Launcher { message },
            Some(_) => launcher_error("spoke out of turn"),
            None => launcher_error("died while it was set up"),
        };
        drop(requests);
        while let Ok(Some(_)) = events.next().await {}
        launcher.wait().await.map_err(broken)?;
        Err(error)
    }
}

impl Run {
    /// Absolute path at which the commands see the tree (to be replaced in messages).
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs one command to its end, to the deadline, or until `cancel` fires. Left-over background processes stay until the run ends.
    ///
    /// Only a command that exits or is ended by somebody else leaves the run usable: after any other [`Ended`], or if this future was
    /// dropped, the launcher is ending the run, and a further command is an error.
    pub async fn execute(
        &mut self,
        command: CommandSpec,
        deadline: Option<Instant>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, RunError> {
        if self.state == State::Busy {
            return Err(launcher_error("the run has ended"));
        }
        let started = Instant::now();
        let program = command.argv.first().cloned().unwrap_or_default();
        let mut stdout = Vec::new();
        let given_up = if cancel.is_cancelled() {
            Some(Ended::Cancelled)
        } else if deadline.is_some_and(|deadline| deadline <= started) {
            Some(Ended::DeadlineExceeded)
        } else {
            None
        };
        let request = encode(&Request::Execute(command))?;
        self.state = State::Busy;
        let mut answer = Answer::Finished { ended: Ended::Cancelled, stderr: Vec::new() };
        if let Some(ended) = given_up {
            self.say_end().await;
            answer = Answer::Finished { ended, stderr: Vec::new() };
        } else {
            // A launcher that died is noticed below.
            let _heard: std::io::Result<()> = self.requests.write_all(&request).await;
            let given_up = tokio::select! {
                biased;
                finished = self.finished(&mut stdout) => { answer = finished?; None }
                () = cancel.cancelled() => Some(Ended::Cancelled),
                () = until(deadline) => Some(Ended::DeadlineExceeded),
            };
            if let Some(ended) = given_up {
                self.say_end().await;
                // What it printed so far is on its way.
                let stderr = match timeout(ANSWER_WAIT_MAX, self.finished(&mut stdout)).await {
                    Ok(Ok(Answer::Finished { stderr, .. })) => stderr,
                    Ok(Ok(Answer::NotStarted(_)) | Err(_)) | Err(_) => Vec::new(),
                };
                answer = Answer::Finished { ended, stderr };
            }
        }
        match answer {
            Answer::Finished { ended, stderr } => {
                if matches!(ended, Ended::Exited(_) | Ended::Signalled(_)) {
                    self.state = State::Idle;
                }
                let stderr = String::from_utf8_lossy(&stderr).into_owned();
                Ok(Outcome { ended, stdout, stderr, duration: started.elapsed() })
            }
            Answer::NotStarted(source) => {
                self.state = State::Idle;
                Err(RunError::Start { program, source })
            }
        }
    }

    /// Ends every process of the run and waits until the launcher has removed everything.
    pub async fn finish(mut self) -> Result<(), RunError> {
        self.say_end().await;
        let wait_max = self.grace + KILL_WAIT_MAX + REMOVAL_WAIT_MAX;
        let message = match timeout(wait_max, self.gone()).await {
            Ok(Some(message)) => {
                self.launcher.wait().await.map_err(broken)?;
                if message.is_empty() {
                    return Ok(());
                }
                message
            }
            Ok(None) => {
                let status = self.launcher.wait().await.map_err(broken)?;
                format!("died before it had ended the run: {status}")
            }
            Err(_elapsed) => {
                self.launcher.kill().await.map_err(broken)?;
                format!("did not end the run within {wait_max:?}")
            }
        };
        remove_run_dir(self.owned_folder.take()).await;
        Err(RunError::Launcher { message })
    }

    /// Tells the launcher to end the run. It may be gone, or have begun by itself.
    async fn say_end(&mut self) {
        if let Ok(request) = encode(&Request::End) {
            let _heard: std::io::Result<()> = self.requests.write_all(&request).await;
        }
    }

    /// Reads until the command is done. Can be dropped and called again without loss.
    async fn finished(&mut self, stdout: &mut Vec<u8>) -> Result<Answer, RunError> {
        loop {
            match self.events.next().await.map_err(broken)? {
                Some(Event::Stdout(chunk)) => stdout.extend_from_slice(&chunk),
                Some(Event::Finished { ended, stderr }) => return Ok(Answer::Finished { ended, stderr }),
                Some(Event::NotStarted { errno, message }) => {
                    return Ok(Answer::NotStarted(start_error(errno, message)));
                }
                Some(_) => return Err(launcher_error("spoke out of turn")),
                None => return Err(launcher_error("died while a command ran")),
            }
        }
    }

    /// Reads to the launcher's last word; `None` if it died without.
    async fn gone(&mut self) -> Option<String> {
        loop {
            match self.events.next().await {
                Ok(Some(Event::Gone { message })) => return Some(message),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

/// How a request to run a command ended.
enum Answer {
    Finished { ended: Ended, stderr: Vec<u8> },
    NotStarted(std::io::Error),
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn encode(request: &Request) -> Result<Vec<u8>, RunError> {
    request.encode().map_err(broken)
}

#[expect(clippy::needless_pass_by_value, reason = "it is the argument of map_err")]
fn broken(error: std::io::Error) -> RunError {
    RunError::Launcher { message: error.to_string() }
}

fn launcher_error(message: &str) -> RunError {
    RunError::Launcher { message: message.to_owned() }
}

fn start_error(errno: i32, message: String) -> std::io::Error {
    let plain = std::io::Error::from_raw_os_error(errno);
    if message.is_empty() { plain } else { std::io::Error::new(plain.kind(), message) }
}

/// Makes sure that the run's folder is there and empty, so that all in it may be removed.
fn claim_run_dir(view: &View) -> Result<Option<PathBuf>, RunError> {
    let View::Private { run_dir, .. } = view else { return Ok(None) };
    let fail = |reason: String| RunError::Launcher {
        message: format!("folder of the run {}: {reason}", run_dir.display()),
    };
    match std::fs::DirBuilder::new().mode(0o700).create(run_dir) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let mut entries = std::fs::read_dir(run_dir).map_err(|error| fail(error.to_string()))?;
            if entries.next().is_some() {
                return Err(fail("not empty".to_owned()));
            }
        }
        Err(error) => return Err(fail(error.to_string())),
    }
    Ok(Some(run_dir.clone()))
}

/// Removes what a launcher that failed may have left.
async fn remove_run_dir(run_dir: Option<PathBuf>) {
    let Some(run_dir) = run_dir else { return };
    let shown = run_dir.clone();
    match tokio::task::spawn_blocking(move || remove_tree(&run_dir)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "cannot remove the folder of a run"),
        Err(error) => tracing::warn!(%error, folder = %shown.display(), "cannot remove the folder of a run"),
    }
}
