//! Commands of a plugin, run under a launcher.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::launcher::{KILL_WAIT_MAX, descendants_of};
use crate::message::{Event, Request};
use crate::orphans;
use crate::own::OwnChild;

mod events;
mod launching;
mod spec;

use events::Events;
pub use launching::Launcher;
use launching::{Contact, Seen, remove_run_dir};

pub use spec::{
    CommandSpec, Containment, Ended, Limits, Outcome, PrivateView, RunError, Shielded, View, ViewKind,
};

/// How long the launcher may take to answer that a run is being ended. It answers at once unless it is stopped again and again.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(2);

/// How long the removal of a run's folder may take.
const REMOVAL_WAIT_MAX: Duration = Duration::from_mins(1);

/// Time between two signals that continue a launcher, which its commands can stop: they are processes of the same user.
const CONTINUE_EVERY: Duration = Duration::from_millis(100);

/// How long a launcher may take to exit after it has closed its pipe, which is the last that it does.
const EXIT_WAIT_MAX: Duration = Duration::from_secs(2);

/// Time between two looks for processes that SIGKILL is on its way to.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A started launcher with its view, in which commands are run one after another. Dropping it ends all its processes
/// (SIGTERM, grace, SIGKILL in the launcher) without waiting for them; [`Run::finish`] waits, and ends them also if the launcher was killed,
/// or could not do it, and this process adopts orphans ([`crate::adopt_orphans`]).
#[derive(Debug)]
pub struct Run {
    launcher: Launcher,
    contact: Contact,
    seen: Seen,
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

impl Run {
    /// Absolute path at which the commands see the tree (to be replaced in messages).
    pub fn root(&self) -> &Path {
        &self.seen.root
    }

    /// Absolute path at which the commands see another tree of a private view; `None` if the view has no such tree. What is done there
    /// changes no tree.
    pub fn other(&self, tree: &Path) -> Option<&Path> {
        self.seen.others.get(tree).map(PathBuf::as_path)
    }

    /// Why the tree was copied where an overlay would have been preferred; `None` if it was not.
    pub fn copied_because(&self) -> Option<&str> {
        self.seen.copied_because.as_deref()
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
            self.contact.say_end();
            answer = Answer::Finished { ended, stderr: Vec::new() };
        } else {
            let mut said = Said::Partly;
            let executed = async {
                self.contact.say(&request).await;
                said = Said::Wholly;
                finished(&mut self.contact.events, &mut stdout).await
            };
            let given_up = tokio::select! {
                biased;
                finished = executed => { answer = finished?; None }
                () = cancel.cancelled() => Some(Ended::Cancelled),
                () = until(deadline) => Some(Ended::DeadlineExceeded),
            };
            if let Some(ended) = given_up {
                self.contact.say_end();
                let stderr = match said {
                    // What it printed so far is on its way.
                    Said::Wholly => self.last_stderr(&mut stdout).await,
                    // The launcher never heard of the command, so its next word is its last one.
                    Said::Partly => Vec::new(),
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
        self.contact.say_end();
        // The answer of this run is known, so this is the time to get ready for the next one.
        self.launcher.prepare();
        let processes_wait_max = self.grace + KILL_WAIT_MAX;
        let mut last = timeout(processes_wait_max, self.gone()).await;
        if last.is_err() {
            // By now the launcher has ended every process, if it could.
            self.kill_descendants().await;
            last = timeout(REMOVAL_WAIT_MAX, self.gone()).await;
        }
        let status = self.end_launcher().await?;
        // Its commands can write in its name, and kill it. Only one that exits by itself has ended all that it adopted.
        if status.success() && matches!(&last, Ok(Some(message)) if message.is_empty()) {
            return Ok(());
        }
        let left = self.end_lost().await;
        let message = match last {
            Ok(Some(message)) if !message.is_empty() => format!("{message}{left}"),
            Ok(_) => format!("died before it had ended the run: {status}{left}"),
            Err(_elapsed) => {
                format!("did not end the run within {:?}{left}", processes_wait_max + REMOVAL_WAIT_MAX)
            }
        };
        remove_run_dir(self.owned_folder.take()).await;
        Err(RunError::Launcher { message })
    }

    /// Reads what the command printed until the launcher heard of the end; its standard error, if it comes in time.
    async fn last_stderr(&mut self, stdout: &mut Vec<u8>) -> Vec<u8> {
        let Contact { process, events, .. } = &mut self.contact;
        match timeout(ANSWER_WAIT_MAX, while_continued(process, finished(events, stdout))).await {
            Ok(Ok(Answer::Finished { stderr, .. })) => stderr,
            Ok(Ok(Answer::NotStarted(_)) | Err(_)) | Err(_) => Vec::new(),
        }
    }

    /// Waits for the exit of a launcher that will not say anything any more, and ends it if it does not. How it ended.
    async fn end_launcher(&mut self) -> Result<ExitStatus, RunError> {
        let process = &mut self.contact.process;
        match timeout(EXIT_WAIT_MAX, process.wait()).await {
            Ok(status) => status.map_err(broken),
            Err(_elapsed) => {
                process.start_kill().map_err(broken)?;
                process.wait().await.map_err(broken)
            }
        }
    }

    /// Ends what the launcher lost. What could not be ended, as the end of a message.
    async fn end_lost(&self) -> String {
        let left = match self.contact.started {
            Some(started) => orphans::end_lost(started, self.grace).await,
            None => Vec::new(),
        };
        if left.is_empty() {
            return String::new();
        }
        let left: Vec<String> = left.iter().map(ToString::to_string).collect();
        format!("; processes that SIGKILL did not end: {}", left.join(", "))
    }

    /// Ends what the launcher could not end, for as long as it lives and adopts what loses its parent: afterwards nobody could find it.
    async fn kill_descendants(&self) {
        let Some(launcher) = self.contact.process.pid() else { return };
        let give_up_at = Instant::now() + KILL_WAIT_MAX;
        let mut again = interval(LOOK_AGAIN);
        while Instant::now() < give_up_at {
            again.tick().await;
            let left = descendants_of(launcher);
            if left.is_empty() {
                return;
            }
            for descendant in left {
                descendant.signal(Signal::KILL);
            }
        }
    }

    /// Reads to the launcher's last word; `None` if it died without.
    async fn gone(&mut self) -> Option<String> {
        let Contact { process, events, .. } = &mut self.contact;
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

/// Waits for what a launcher says that is to end a run, and continues it until it has said it.
async fn while_continued<T>(launcher: &OwnChild, said: impl Future<Output = T>) -> T {
    let mut said = pin!(said);
    let mut again = interval(CONTINUE_EVERY);
    loop {
        tokio::select! {
            biased;
            said = &mut said => return said,
            _ = again.tick() => launcher.signal(Signal::CONT),
        }
    }
}

/// Reads until the command is done. Can be dropped and called again without loss.
async fn finished(events: &mut Events, stdout: &mut Vec<u8>) -> Result<Answer, RunError> {
    loop {
        match events.next().await.map_err(broken)? {
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

/// How much of a request the launcher's pipe has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Partly,
    Wholly,
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
