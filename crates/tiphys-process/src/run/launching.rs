//! Starts launchers, one for each run.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::connection::{Connection, encode};
use crate::message::{Event, Request};
use crate::mounts;
use crate::spec::{Containment, Limits, RunError, View};

/// Starts launcher processes. The program must call [`crate::launcher_main`] if its first argument is [`crate::LAUNCHER_ARGUMENT`]. tiphys
/// uses its own executable.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    spares: Arc<Spares>,
}

/// Launchers that were started in advance. They exit when this process exits, because their pipe closes.
#[derive(Debug)]
struct Spares {
    max: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    idle: Vec<Connection>,
    /// Number of launchers that are being started.
    starting: usize,
}

/// A view that a launcher has set up.
#[derive(Debug)]
pub(super) struct ReadyView {
    pub(super) root: PathBuf,
    /// The roots of the other trees in the view, by their paths outside it.
    pub(super) others: BTreeMap<PathBuf, PathBuf>,
    pub(super) copied_because: Option<String>,
}

impl Spares {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a launcher that still runs.
    fn take(&self) -> Option<Connection> {
        let mut waiting = self.waiting();
        while let Some(mut spare) = waiting.idle.pop() {
            if matches!(spare.process.try_wait(), Ok(None)) {
                return Some(spare);
            }
        }
        None
    }
}

impl Launcher {
    /// Returns the program that is started.
    pub fn executable(&self) -> &Path {
        &self.program
    }

    /// Starts a launcher process when a run begins. `program` is an absolute path.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self::warm(program, 0)
    }

    /// Keeps up to `spares_max` launcher processes ready, so that a run need not wait for the start of a program. A launcher is started
    /// when a run ends, and by [`Launcher::prepare`].
    pub fn warm(program: impl Into<PathBuf>, spares_max: usize) -> Self {
        let spares = Spares { max: spares_max, waiting: Mutex::default() };
        Self { program: program.into(), spares: Arc::new(spares) }
    }

    /// Starts a spare launcher process if there are fewer than the maximum. The next run reports a failure to start.
    pub fn prepare(&self) {
        {
            let mut waiting = self.spares.waiting();
            if waiting.idle.len() + waiting.starting >= self.spares.max {
                return;
            }
            // Reserved before the start, because several runs may end at once.
            waiting.starting += 1;
        }
        let started = Connection::open(&self.program);
        let mut waiting = self.spares.waiting();
        waiting.starting -= 1;
        match started {
            Ok(spare) => waiting.idle.push(spare),
            Err(error) => tracing::debug!(%error, "cannot start a spare launcher"),
        }
    }

    /// Starts a launcher and sets up the view in it.
    pub(super) async fn set_up(
        &self,
        view: View,
        limits: Limits,
        containment: Containment,
    ) -> Result<(Connection, ReadyView), RunError> {
        let request = encode(&Request::SetUp { view: view.clone(), limits, containment })?;
        let spare = self.spares.take();
        let may_try_again = spare.is_some();
        let mut connection = spare.map_or_else(|| Connection::open(&self.program), Ok)?;
        connection.send(&request).await;
        let mut answer = connection.events.next().await;
        // A spare that died when it was taken has done nothing yet, so a new launcher can take over.
        if may_try_again && matches!(answer, Ok(None) | Err(_)) && claim_run_dir(&view).is_ok() {
            connection = Connection::open(&self.program)?;
            connection.send(&request).await;
            answer = connection.events.next().await;
        }
        let error = match answer.map_err(RunError::launcher)? {
            Some(Event::Ready { root, others, copied_because }) => {
                let copied_because = Some(copied_because).filter(|reason| !reason.is_empty());
                if let Some(reason) = &copied_because {
                    tracing::debug!(reason, "the tree is copied: no overlay");
                }
                match by_tree(&view, others) {
                    Some(others) => return Ok((connection, ReadyView { root, others, copied_because })),
                    None => RunError::launcher("returned an unexpected number of trees"),
                }
            }
            Some(Event::SetUpFailed { message }) => RunError::Launcher { message },
            Some(_) => RunError::launcher("sent an unexpected message"),
            None => RunError::launcher("died while it was set up"),
        };
        connection.close();
        while let Ok(Some(_)) = connection.events.next().await {}
        connection.process.wait().await.map_err(RunError::launcher)?;
        Err(error)
    }
}

/// Maps the other trees of a view to their roots in the view. `None` if the numbers differ.
fn by_tree(view: &View, roots: Vec<PathBuf>) -> Option<BTreeMap<PathBuf, PathBuf>> {
    let trees = match view {
        View::Direct { .. } => &[] as &[PathBuf],
        View::Private { others, .. } => others,
    };
    (trees.len() == roots.len()).then(|| trees.iter().cloned().zip(roots).collect())
}

/// Makes the run directory, or checks that it is empty, so that its whole content may be removed later.
pub(super) fn claim_run_dir(view: &View) -> Result<Option<PathBuf>, RunError> {
    let View::Private { run_dir, .. } = view else { return Ok(None) };
    let fail = |reason: String| RunError::launcher(format!("run directory {}: {reason}", run_dir.display()));
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

/// Removes the run directory of a launcher that failed.
pub(super) async fn remove_run_dir(run_dir: Option<PathBuf>) {
    let Some(run_dir) = run_dir else { return };
    let directory = run_dir.display().to_string();
    match tokio::task::spawn_blocking(move || mounts::remove_run_dir(&run_dir)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "cannot remove a run directory"),
        Err(error) => tracing::warn!(%error, directory, "cannot remove a run directory"),
    }
}

#[cfg(test)]
mod tests;
