//! Run directories.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_process::removal::remove_tree_or_log;

use super::session::Session;
use crate::StoreError;

/// An empty private directory (0700) for one run, removed on drop. [`Store::open`](crate::Store::open) removes those of killed processes.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// Keeps the session of the directory alive.
    _session: Arc<Session>,
}

impl RunDir {
    pub(super) fn new(session: Arc<Session>) -> Result<Self, StoreError> {
        Ok(Self { path: session.folder()?, _session: session })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // A process of the run that still writes may prevent the removal; the end of the session and the next sweep try again.
        remove_tree_or_log(&self.path);
    }
}
