//! A run: commands of a plugin, executed one after another by a launcher.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::descendants::{KILL_WAIT_MAX, descendants_of};
use crate::message::{Event, Request};
use crate::orphans;
use crate::spec::{
    CommandSpec, Containment, Ended, Limits, Outcome, PrivateView, RunError, Shielded, View, ViewKind,
};

mod connection;
mod events;
mod launching;

use connection::{Connection, encode, while_continued};
use events::Events;
pub use launching::Launcher;
use launching::{ReadyView, claim_run_dir, remove_run_dir};

/// How long the launcher may take to answer when a run is cancelled. It answers at once unless commands keep stopping it.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(2);

/// How long the launcher may take to remove the run directory.
const REMOVAL_WAIT_MAX: Duration = Duration::from_mins(1);

/// How long the launcher may take to exit after it closed its pipe, which is its last action.
const EXIT_WAIT_MAX: Duration = Duration::from_secs(2);

/// Interval at which processes that received SIGKILL are looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A started launcher with its view, in which commands are executed one after another.
///
/// Dropping it makes the launcher end all processes (SIGTERM, grace period, SIGKILL), without waiting. [`Run::finish`] waits. It also ends
/// the processes if the launcher was killed or failed to end them, provided that this process adopts orphans ([`crate::adopt_orphans`]).
#[derive(Debug)]
pub struct Run {
    launcher: Launcher,
    connection: Connection,
    view: ReadyView,
    owned_run_dir: Option<PathBuf>,
    grace: Duration,
    state: State,
}

/// State of the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waits for a command.
    Idle,
    /// Runs a command or ends the run. No other command can be executed.
    Busy,
}

impl Launcher {
    /// Starts a launcher and sets up the view.
    pub async fn start(&self, view: View, limits: Limits) -> Result<Run, RunError> {
        self.start_contained(view, limits, Containment::default()).await
    }

    /// Like [`Launcher::start`], with the way in which the processes of the run are found at its end.
    pub async fn start_contained(
        &self,
        view: View,
        limits: Limits,
        containment: Containment,
    ) -> Result<Run, RunError> {
        let owned_run_dir = claim_run_dir(&view)?;
        match self.set_up(view, limits, containment).await {
            Ok((connection, view)) => Ok(Run {
                launcher: self.clone(),
                connection,
                view,
                owned_run_dir,
                grace: limits.grace,
                state: State::Idle,
            }),
            Err(error) => {
                // The launcher removes the directory, but it may not have started.
                remove_run_dir(owned_run_dir).await;
                Err(error)
            }
        }
    }

    /// Returns the kind of view that [`PrivateView::Auto`] gives on this machine. Makes a view of a read-only tree in an empty directory
    /// and removes it. The tree should be small. It must be on the file system of the real trees, because the answer depends on it.
    /// `shielded` is the value for real runs.
    pub async fn probe_view(
        &self,
        lower: &Path,
        run_dir: &Path,
        shielded: Shielded,
    ) -> Result<ViewKind, RunError> {
        let view = View::Private {
            lower: lower.to_path_buf(),
            others: Vec::new(),
            run_dir: run_dir.to_path_buf(),
            how: PrivateView::Auto,
            shielded,
        };
        let run = self.start(view, Limits::NOTHING).await?;
        let reason = run.copied_because().map(str::to_owned);
        run.finish().await?;
        Ok(reason.map_or(ViewKind::Overlay, |reason| ViewKind::Copy { reason }))
    }
}

impl Run {
    /// Returns the absolute path at which the commands see the tree. To be replaced in messages.
    pub fn root(&self) -> &Path {
        &self.view.root
    }

    /// Returns the absolute path at which the commands see another tree of a private view, `None` if the view has no such tree. Changes
    /// there do not change the tree.
    pub fn other(&self, tree: &Path) -> Option<&Path> {
        self.view.others.get(tree).map(PathBuf::as_path)
    }

    /// Returns why the tree was copied although an overlay was preferred, `None` if it was not.
    pub fn copied_because(&self) -> Option<&str> {
        self.view.copied_because.as_deref()
    }

    /// Executes one command until it ends, the deadline passes, or `cancel` fires. Background processes stay until the run ends.
    ///
    /// The run stays usable only after [`Ended::Exited`] and [`Ended::Signalled`]. After any other [`Ended`], or if this future was
    /// dropped, the launcher ends the run, and another command is an error.
    pub async fn execute(
        &mut self,
        command: CommandSpec,
        deadline: Option<Instant>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, RunError> {
        if self.state == State::Busy {
            return Err(RunError::launcher("the run has ended"));
        }
        let started = Instant::now();
        let program = command.argv.first().cloned().unwrap_or_default();
        let mut stdout = Vec::new();
        let stopped = if cancel.is_cancelled() {
            Some(Ended::Cancelled)
        } else if deadline.is_some_and(|deadline| deadline <= started) {
            Some(Ended::DeadlineExceeded)
        } else {
            None
        };
        let request = encode(&Request::Execute(command))?;
        self.state = State::Busy;
        let mut answer = Answer::Finished { ended: Ended::Cancelled, stderr: Vec::new() };
        if let Some(ended) = stopped {
            self.connection.close();
            answer = Answer::Finished { ended, stderr: Vec::new() };
        } else {
            let mut sent = Sent::Partial;
            let executed = async {
                self.connection.send(&request).await;
                sent = Sent::Whole;
                command_end(&mut self.connection.events, &mut stdout).await
            };
            let stopped = tokio::select! {
                biased;
                end = executed => { answer = end?; None }
                () = cancel.cancelled() => Some(Ended::Cancelled),
                () = until(deadline) => Some(Ended::DeadlineExceeded),
            };
            if let Some(ended) = stopped {
                self.connection.close();
                let stderr = match sent {
                    // Its output so far is in the pipe.
                    Sent::Whole => self.last_stderr(&mut stdout).await,
                    // The launcher did not get the command, so its next event is its last one.
                    Sent::Partial => Vec::new(),
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

    /// Ends every process of the run and waits until the launcher removed everything.
    pub async fn finish(mut self) -> Result<(), RunError> {
        self.connection.close();
        // The result of this run is known, so a launcher for the next run can start.
        self.launcher.prepare();
        let processes_wait_max = self.grace + KILL_WAIT_MAX;
        let mut last = timeout(processes_wait_max, self.last_event()).await;
        if last.is_err() {
            // By now the launcher has ended every process that it can end.
            self.kill_descendants().await;
            last = timeout(REMOVAL_WAIT_MAX, self.last_event()).await;
        }
        let status = self.end_launcher().await?;
        // Commands can forge the last event and kill the launcher. Only a launcher that exits by itself has ended all processes that it
        // adopted.
        if status.success() && matches!(&last, Ok(Some(message)) if message.is_empty()) {
            return Ok(());
        }
        let left = self.end_lost().await;
        let message = match last {
            Ok(Some(message)) if !message.is_empty() => format!("{message}{left}"),
            Ok(_) => format!("died before it ended the run: {status}{left}"),
            Err(_elapsed) => {
                format!("did not end the run within {:?}{left}", processes_wait_max + REMOVAL_WAIT_MAX)
            }
        };
        remove_run_dir(self.owned_run_dir.take()).await;
        Err(RunError::Launcher { message })
    }

    /// Reads the output up to the end of the command. Returns its standard error if it arrives in time.
    async fn last_stderr(&mut self, stdout: &mut Vec<u8>) -> Vec<u8> {
        let Connection { process, events, .. } = &mut self.connection;
        match timeout(ANSWER_WAIT_MAX, while_continued(process, command_end(events, stdout))).await {
            Ok(Ok(Answer::Finished { stderr, .. })) => stderr,
            Ok(Ok(Answer::NotStarted(_)) | Err(_)) | Err(_) => Vec::new(),
        }
    }

    /// Waits for the exit of a launcher after its last event, and kills it if it does not exit. Returns its exit status.
    async fn end_launcher(&mut self) -> Result<ExitStatus, RunError> {
        let process = &mut self.connection.process;
        match timeout(EXIT_WAIT_MAX, process.wait()).await {
            Ok(status) => status.map_err(RunError::launcher),
            Err(_elapsed) => {
                process.start_kill().map_err(RunError::launcher)?;
                process.wait().await.map_err(RunError::launcher)
            }
        }
    }

    /// Ends the processes that the launcher lost. Returns the rest of a message that names those that could not be ended.
    async fn end_lost(&self) -> String {
        let left = match self.connection.started {
            Some(started) => orphans::end_lost(started, self.grace).await,
            None => Vec::new(),
        };
        if left.is_empty() {
            return String::new();
        }
        let left: Vec<String> = left.iter().map(ToString::to_string).collect();
        format!("; processes that SIGKILL did not end: {}", left.join(", "))
    }

    /// Ends processes that the launcher could not end, while it runs and adopts orphans: afterwards they could not be found.
    async fn kill_descendants(&self) {
        let Some(launcher) = self.connection.process.pid() else { return };
        let give_up_at = Instant::now() + KILL_WAIT_MAX;
        let mut tick = interval(POLL_INTERVAL);
        while Instant::now() < give_up_at {
            tick.tick().await;
            let left = descendants_of(launcher);
            if left.is_empty() {
                return;
            }
            for descendant in left {
                descendant.signal(Signal::KILL);
            }
        }
    }

    /// Reads up to the launcher's last event. Returns its message, `None` if the launcher died without one.
    async fn last_event(&mut self) -> Option<String> {
        let Connection { process, events, .. } = &mut self.connection;
        while_continued(process, async {
            loop {
                match events.next().await {
                    Ok(Some(Event::Gone { message })) => return Some(message),
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => return None,
                }
            }
        })
        .await
    }
}

/// Reads until the command ended. Cancel safe.
async fn command_end(events: &mut Events, stdout: &mut Vec<u8>) -> Result<Answer, RunError> {
    loop {
        match events.next().await.map_err(RunError::launcher)? {
            Some(Event::Stdout(chunk)) => stdout.extend_from_slice(&chunk),
            Some(Event::Finished { ended, stderr }) => return Ok(Answer::Finished { ended, stderr }),
            Some(Event::NotStarted { errno, message }) => {
                return Ok(Answer::NotStarted(start_error(errno, message)));
            }
            Some(_) => return Err(RunError::launcher("sent an unexpected message")),
            None => return Err(RunError::launcher("died while a command ran")),
        }
    }
}

/// How much of a request was written to the pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Partial,
    Whole,
}

/// Result of a request to execute a command.
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

fn start_error(errno: i32, message: String) -> std::io::Error {
    let plain = std::io::Error::from_raw_os_error(errno);
    if message.is_empty() { plain } else { std::io::Error::new(plain.kind(), message) }
}
