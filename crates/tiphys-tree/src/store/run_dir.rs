//! Folders of runs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::directory;
use super::remove::remove_tree;
use super::session::Session;
use crate::{StoreError, Tree};

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

    /// Makes the folders of an overlay in this one, which is empty so far. Who mounts it needs nothing but the plan.
    pub fn plan_view(&self, tree: &Tree) -> Result<ViewPlan, StoreError> {
        let folder = |name| self.folder(name);
        Ok(ViewPlan {
            lower: tree.root().to_path_buf(),
            upper: folder("upper")?,
            work: folder("work")?,
            mount: folder("view")?,
        })
    }

    /// A writable copy of a tree in this folder, which is empty so far, for systems that forbid overlays.
    pub fn copy(&self, tree: &Tree) -> Result<PathBuf, StoreError> {
        let path = self.path.join("view");
        directory::copy(tree, &path)?;
        Ok(path)
    }

    fn folder(&self, name: &str) -> Result<PathBuf, StoreError> {
        let path = self.path.join(name);
        // The view shows this directory's mode as that of the repository's root, so the umask must not matter.
        fs::create_dir(&path)
            .and_then(|()| fs::set_permissions(&path, Permissions::from_mode(0o755)))
            .map_err(StoreError::io("make", &path))?;
        Ok(path)
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // A process of the run that still writes may hold it up; the session's end and the next sweep try again.
        drop(remove_tree(&self.path));
    }
}

/// The parts of a run's private writable view of a tree, as an overlay takes them. All paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewPlan {
    /// The tree; nobody writes there.
    pub lower: PathBuf,
    /// Where what the run writes goes; empty.
    pub upper: PathBuf,
    /// For the overlay itself, on the file system of `upper`; empty.
    pub work: PathBuf,
    /// Where the view is to be mounted; empty.
    pub mount: PathBuf,
}
