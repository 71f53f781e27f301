//! The content store: trees by key, each written once, and the folders of runs.

use std::path::{Path, PathBuf};

use crate::{TreeLimits, TreeWriter, WriteError};

/// Whether executable bits are kept. Argo CD's plugin server drops them unless `preserveFileMode` is set (`spec/cmp.md` 7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modes {
    /// Files are 0644, directories 0755.
    Plain,
    /// An executable file is 0755.
    Preserved,
}

/// Name of a tree: a digest over everything that can change what is in it, [`Modes`] included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeKey(pub [u8; 32]);

/// A read-only directory with known content. Cheap to clone. It stays while a clone of it lives.
#[derive(Clone, Debug)]
pub struct Tree {
    key: TreeKey,
    root: std::sync::Arc<PathBuf>,
}

impl Tree {
    /// Its name.
    pub fn key(&self) -> TreeKey {
        self.key
    }

    /// Absolute path of the directory. Nobody writes below it.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// Where things are kept and how much of them.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Folder of the store; made if it is missing, 0700. Trees are below `trees/`, written below `tmp/`.
    pub dir: PathBuf,
    /// Folder for runs' private views, made if it is missing, 0700; must be able to hold an overlay's upper directory.
    pub runs_dir: PathBuf,
    /// Bounds of each tree.
    pub limits: TreeLimits,
}

/// The store. Safe to use from many threads and many processes at once.
#[derive(Debug)]
pub struct Store {}

/// Why the store could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system failed.
    #[error("cannot {action} {path}")]
    Io {
        /// What was tried, as an infinitive.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
    /// The tree could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// An empty private folder for one run; removed on drop if it is still there. Stale ones of killed programs are swept by [`Store::open`].
#[derive(Debug)]
pub struct RunDir {}

impl RunDir {
    /// Its path.
    pub fn path(&self) -> &Path {
        todo!()
    }
}

impl Store {
    /// Opens or makes a store, and sweeps what killed programs left in `tmp/` and in the runs' folder.
    pub fn open(options: StoreOptions) -> Result<Self, StoreError> {
        todo!("{options:?}")
    }

    /// The tree of this name, if it is there.
    pub fn get(&self, key: TreeKey) -> Option<Tree> {
        todo!("{key:?}")
    }

    /// The tree of this name, written by `fill` if it is not there. Written beside and moved into place, so that nobody sees half of it;
    /// of several writers of one key in this process one writes and the others wait.
    pub fn get_or_write<E>(&self, key: TreeKey, fill: impl FnOnce(&mut TreeWriter) -> Result<(), E>) -> Result<Tree, E>
    where
        E: From<StoreError>,
    {
        let _ = fill;
        todo!("{key:?}")
    }

    /// A tree whose name is not known before it is read (a working copy, an archive): written beside while its content is hashed,
    /// then named by path, mode, link target and digest of bytes of every entry. `salt` goes into the name.
    pub fn write_by_content<E>(&self, salt: &[u8], fill: impl FnOnce(&mut TreeWriter) -> Result<(), E>) -> Result<Tree, E>
    where
        E: From<StoreError>,
    {
        let _ = fill;
        todo!("{salt:?}")
    }

    /// An empty folder for one run.
    pub fn run_dir(&self) -> Result<RunDir, StoreError> {
        todo!()
    }
}
