//! Changes of the directories of live objects.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::future;
use tiphys_kube::cluster_reader::FolderState;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Time between two checks.
const INTERVAL: Duration = Duration::from_secs(1);

/// The directories of live objects, and their state when it was last checked.
pub(super) struct FolderWatch {
    paths: Vec<PathBuf>,
    state: FolderState,
    checks: Interval,
}

impl FolderWatch {
    /// Checks directories before they are read.
    pub(super) async fn begin(paths: Vec<PathBuf>) -> Self {
        let mut checks = interval(INTERVAL);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let state = state(paths.clone()).await.unwrap_or_default();
        Self { paths, state, checks }
    }

    /// Waits until files differ from those of the last check. Without directories, this waits forever.
    pub(super) async fn changed(&mut self) {
        if self.paths.is_empty() {
            return future::pending().await;
        }
        loop {
            self.checks.tick().await;
            if let Some(state) = state(self.paths.clone()).await
                && state != self.state
            {
                self.state = state;
                return;
            }
        }
    }
}

/// Returns the state of directories; none if the runtime ends. Many files must not hold up the other tasks.
async fn state(paths: Vec<PathBuf>) -> Option<FolderState> {
    let read = move || {
        let mut state = FolderState::default();
        for path in &paths {
            state.add(path);
        }
        state
    };
    tokio::task::spawn_blocking(read).await.ok()
}
