//! Folders of runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_removal::remove_tree_or_log;

use super::session::Session;
use crate::StoreError;

/// An empty private folder (0700) for one run; removed on drop if it is still there. Stale ones of killed programs are swept by
/// [`Store::open`](crate::Store::open).
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// The folder is alive as long as its session is.
    _session: Arc<Session>,
}

impl RunDir {
    pub(super) fn new(session: Arc<Session>) -> Result<Self, StoreError> {
        Ok(Self { path: session.folder()?, _session: session })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // A process of the run that still writes may hold it up; the session's end and the next sweep try again.
        remove_tree_or_log(&self.path);
    }
}
