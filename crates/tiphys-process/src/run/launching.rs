//! Starting launchers: each run has one of its own.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

use super::events::Events;
use super::spec::{Containment, Limits, PrivateView, RunError, Shielded, View, ViewKind};
use super::{Run, State, broken, encode, launcher_error};
use crate::launcher::LAUNCHER_ARGUMENT;
use crate::message::{Event, Request};
use crate::mounts;
use crate::orphans::{self, Started};
use crate::own::OwnChild;

/// How the launcher process is started: a program that calls [`crate::launcher_main`] when its first argument is
/// [`crate::LAUNCHER_ARGUMENT`]. The product uses its own executable.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    spares: Arc<Spares>,
}

/// Launchers that were started ahead and wait for a view to set up. They end when this process ends, since their pipe then closes.
#[derive(Debug)]
struct Spares {
    max: usize,
    waiting: Mutex<Waiting>,
}

/// Launchers that wait, and how many more are being started to.
#[derive(Debug, Default)]
struct Waiting {
    idle: Vec<Contact>,
    starting: usize,
}

/// A view as it stands.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) root: PathBuf,
    /// The roots of the other trees, by the paths that the view has of them.
    pub(super) others: BTreeMap<PathBuf, PathBuf>,
    pub(super) copied_because: Option<String>,
}

/// A launcher process and the pipes to it.
#[derive(Debug)]
pub(super) struct Contact {
    pub(super) process: OwnChild,
    /// Closed to ask for the end.
    requests: Option<ChildStdin>,
    pub(super) events: Events,
    /// When it was started, which tells what it lost from what others did. Asked at once: what a launcher shows of itself later, and whether it
    /// lives then, is not ours to say.
    pub(super) started: Option<Started>,
}

impl Spares {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that still lives.
    fn take(&self) -> Option<Contact> {
        let mut waiting = self.waiting();
        while let Some(mut spare) = waiting.idle.pop() {
            if matches!(spare.process.try_wait(), Ok(None)) {
                return Some(spare);
            }
        }
        None
    }
}

impl Contact {
    /// Sends a request. If the launcher died, its own last words or their absence say more than a broken pipe.
    pub(super) async fn say(&mut self, request: &[u8]) {
        if let Some(requests) = &mut self.requests {
            let _heard: std::io::Result<()> = requests.write_all(request).await;
        }
    }

    /// Asks the launcher for the end. It may be gone, or have begun by itself.
    pub(super) fn say_end(&mut self) {
        self.requests = None;
    }
}

impl Launcher {
    /// A launcher process is started for each run when it begins. `program` is an absolute path.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self::warm(program, 0)
    }

    /// At most so many launcher processes wait for runs to come, so that a run need not wait for the start of a program. One is started
    /// whenever a run ends, and by [`Launcher::prepare`].
    pub fn warm(program: impl Into<PathBuf>, spares_max: usize) -> Self {
        let spares = Spares { max: spares_max, waiting: Mutex::default() };
        Self { program: program.into(), spares: Arc::new(spares) }
    }

    /// Starts a launcher process ahead, if one is wanted. A failure is told by the next run.
    pub fn prepare(&self) {
        {
            let mut waiting = self.spares.waiting();
            if waiting.idle.len() + waiting.starting >= self.spares.max {
                return;
            }
            // Its place is taken before it is there, since several runs may end at once.
            waiting.starting += 1;
        }
        let started = self.spawn();
        let mut waiting = self.spares.waiting();
        waiting.starting -= 1;
        match started {
            Ok(spare) => waiting.idle.push(spare),
            Err(error) => tracing::debug!(%error, "no launcher is started ahead"),
        }
    }

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
            Ok((contact, seen)) => Ok(Run {
                launcher: self.clone(),
                contact,
                seen,
                owned_folder,
                grace: limits.grace,
                state: State::Idle,
            }),
            Err(error) => {
                // The launcher removes the folder if it can, but it may not even have been started.
                remove_run_dir(owned_folder).await;
                Err(error)
            }
        }
    }

    /// Which private view [`PrivateView::Auto`] gives here: makes one of a read-only tree in an empty folder, and removes it. The tree
    /// should be small and where the runs' trees are, since the answer depends on the file system, too; `shielded` is
    /// what runs are given.
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

    async fn set_up(
        &self,
        view: View,
        limits: Limits,
        containment: Containment,
    ) -> Result<(Contact, Seen), RunError> {
        let request = encode(&Request::SetUp { view: view.clone(), limits, containment })?;
        let spare = self.spares.take();
        let may_try_again = spare.is_some();
        let mut contact = spare.map_or_else(|| self.spawn(), Ok)?;
        contact.say(&request).await;
        let mut answer = contact.events.next().await;
        // One that died as it was taken did nothing yet, so another one may.
        if may_try_again && matches!(answer, Ok(None) | Err(_)) && claim_run_dir(&view).is_ok() {
            contact = self.spawn()?;
            contact.say(&request).await;
            answer = contact.events.next().await;
        }
        let error = match answer.map_err(broken)? {
            Some(Event::Ready { root, others, copied_because }) => {
                let copied_because = Some(copied_because).filter(|reason| !reason.is_empty());
                if let Some(reason) = &copied_because {
                    tracing::debug!(reason, "the tree is copied, since there is no overlay");
                }
                match by_tree(&view, others) {
                    Some(others) => return Ok((contact, Seen { root, others, copied_because })),
                    None => launcher_error("made another number of trees than it was told to"),
                }
            }
            Some(Event::SetUpFailed { message }) => RunError::Launcher { message },
            Some(_) => launcher_error("spoke out of turn"),
            None => launcher_error("died while it was set up"),
        };
        contact.say_end();
        while let Ok(Some(_)) = contact.events.next().await {}
        contact.process.wait().await.map_err(broken)?;
        Err(error)
    }

    fn spawn(&self) -> Result<Contact, RunError> {
        #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
        let mut process = tokio::process::Command::new(&self.program);
        process.arg(LAUNCHER_ARGUMENT).env_clear();
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = OwnChild::spawn(&mut process).map_err(|error| RunError::Launcher {
            message: format!("cannot start {}: {error}", self.program.display()),
        })?;
        let (Some(requests), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(launcher_error("has no pipes"));
        };
        let started = process.pid().and_then(orphans::started);
        Ok(Contact { process, requests: Some(requests), events: Events::new(stdout), started })
    }
}

/// Where a view's other trees are seen, by their own paths; `None` if there is not one place for each.
fn by_tree(view: &View, seen: Vec<PathBuf>) -> Option<BTreeMap<PathBuf, PathBuf>> {
    let trees = match view {
        View::Direct { .. } => &[] as &[PathBuf],
        View::Private { others, .. } => others,
    };
    (trees.len() == seen.len()).then(|| trees.iter().cloned().zip(seen).collect())
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
pub(super) async fn remove_run_dir(run_dir: Option<PathBuf>) {
    let Some(run_dir) = run_dir else { return };
    let shown = run_dir.clone();
    match tokio::task::spawn_blocking(move || mounts::remove_run_dir(&run_dir)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "cannot remove the folder of a run"),
        Err(error) => tracing::warn!(%error, folder = %shown.display(), "cannot remove the folder of a run"),
    }
}

#[cfg(test)]
mod tests;
