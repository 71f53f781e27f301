//! The content store: trees by key, each written once, and the run directories.
//!
//! There are two kinds. Commands share one, whose trees are kept for later commands (`shared.rs`). A server has its own, which has size
//! limits and is removed with the process (`own.rs`). In both, `<runs_dir>/session-<random>/` contains the run directories of a process,
//! and a lock that shows whether the process is running.

mod directory;
mod own;
mod process_store;
mod run_dir;
mod seal;
mod session;
mod shared;
#[cfg(test)]
mod tests;
mod turns;

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tiphys_process::removal::remove_tree_or_log;

use crate::digest::{self, TreeKey};
use crate::writer::{Finished, Naming};
use crate::{StoreError, TreeLimits, TreeWriter};

pub use directory::{DirectoryEntry, look_at_files};
pub use own::Room;
pub use process_store::ProcessStore;
pub use run_dir::RunDir;

use own::{Lease, Own};
use session::{CurrentSession, Session};
use shared::Shared;
use turns::Turns;

/// Name of the tree itself in its directory of the store.
const TREE: &str = "tree";
/// Name of the seal next to the tree.
const SEAL: &str = "seal";

/// A read-only directory with known content. Cheap to clone. It is not removed while a clone exists.
#[derive(Clone, Debug)]
pub struct Tree {
    key: TreeKey,
    root: Arc<PathBuf>,
    in_use: InUse,
}

/// The reason why a tree is not removed.
#[derive(Clone, Debug)]
enum InUse {
    /// A lock that is visible to other processes.
    ByThisBoot { _lock: Arc<File> },
    /// A reference count in this process's own store.
    ByThisProcess(Lease),
}

impl Tree {
    /// Returns its name.
    pub fn key(&self) -> TreeKey {
        self.key
    }

    /// Returns the absolute path of the directory, which is never written to.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether no entry was removed from it or added to it since it was created. Only checks its directories, on the caller's thread, which
    /// takes about a millisecond for 10,000 files; a file that was changed in place is noticed when the tree is requested again. A tree
    /// that processes share is only checked then.
    pub fn has_its_entries(&self) -> bool {
        match &self.in_use {
            InUse::ByThisBoot { .. } => true,
            InUse::ByThisProcess(lease) => lease.has_its_entries(),
        }
    }
}

/// Whether trees of other processes are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// Used if no entry was removed or added.
    #[default]
    AnyTree,
    /// Each tree is written once by this process.
    OwnTrees,
}

/// Directories and limits of a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Directory of the store; created if missing, 0700. Trees are in `trees/`, and written in `tmp/`.
    pub dir: PathBuf,
    /// Directory of the run directories; created if missing, 0700. Must support an overlay's upper directory.
    pub runs_dir: PathBuf,
    /// Limits of each tree.
    pub limits: TreeLimits,
}

/// Limits of a store of one process. The least recently used tree is evicted first; a tree in use never is. An archive that does not fit
/// with those in use gets no [`Room`] or is rejected; a single tree may be larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreBounds {
    /// Bytes of all trees together.
    pub bytes_max: u64,
    /// Trees.
    pub trees_max: usize,
}

/// Content of a store of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Trees.
    pub trees: u64,
    /// Files of these trees.
    pub files: u64,
    /// Bytes of these trees, and of archives that are being unpacked.
    pub bytes: u64,
    /// Trees evicted since the store was opened.
    pub evicted: u64,
}

/// The store. Safe to use from many threads and many processes at once.
#[derive(Debug)]
pub struct Store {
    limits: TreeLimits,
    runs: CurrentSession,
    keeping: Keeping,
    /// Keys that a thread of this process is writing.
    turns: Turns,
}

/// The storage of trees.
#[derive(Debug)]
enum Keeping {
    Shared(Shared),
    Own(Arc<Own>),
}

/// A tree that is written, and the storage that it is added to.
enum Home<'a> {
    Shared(&'a Shared, Staged),
    Own(&'a Arc<Own>, (Arc<Session>, Staged)),
}

impl Store {
    /// Opens or creates a store, and removes what killed processes left in `tmp/` and among the run directories.
    pub fn open(options: StoreOptions) -> Result<Self, StoreError> {
        let StoreOptions { dir, runs_dir, limits } = options;
        let keeping = Keeping::Shared(Shared::open(&private_folder(&dir)?)?);
        let runs = CurrentSession::begin(&runs_dir)?;
        runs.get()?.sweep();
        Ok(Self { limits, runs, keeping, turns: Turns::default() })
    }

    /// Opens a store of this process alone, for servers. Everything is in a locked directory of this process, which is removed when the
    /// process ends, or by the next process if it was killed. Processes with one store directory do not interfere.
    ///
    /// If the directory is removed while the process runs, the store creates it again when it is next used.
    pub fn of_this_process(options: StoreOptions, bounds: StoreBounds) -> Result<ProcessStore, StoreError> {
        let StoreOptions { dir, runs_dir, limits } = options;
        let runs = CurrentSession::begin(&runs_dir)?;
        let own = Arc::new(Own::new(&dir, runs.get()?, bounds)?);
        let keeping = Keeping::Own(Arc::clone(&own));
        Ok(ProcessStore::new(Self { limits, runs, keeping, turns: Turns::default() }, own))
    }

    /// Sets whether trees of other processes are used.
    #[must_use]
    pub fn with_reuse(self, reuse: Reuse) -> Self {
        let keeping = match self.keeping {
            Keeping::Shared(shared) => Keeping::Shared(shared.with_reuse(reuse)),
            // It never has trees of other processes.
            Keeping::Own(own) => Keeping::Own(own),
        };
        Self { keeping, ..self }
    }

    /// Returns the limits of each tree except those from archives, which have limits of their own.
    pub fn limits(&self) -> TreeLimits {
        self.limits
    }

    /// Returns the content of a store of one process; nothing for a shared store.
    pub fn stats(&self) -> StoreStats {
        match &self.keeping {
            Keeping::Shared(_) => StoreStats::default(),
            Keeping::Own(own) => own.stats(),
        }
    }

    /// Returns the tree of this name if the store has it. A tree with removed or added entries, as by cleaners of temporary directories, is
    /// discarded: it would be rendered incompletely.
    pub fn get(&self, key: TreeKey) -> Option<Tree> {
        self.get_for(key, Instant::now())
    }

    /// Like [`Store::get`] for a caller that waited since `asked`: a store of one process does not check a tree again that it created or
    /// checked since. A check takes about a microsecond per file, on the caller's thread.
    pub fn get_for(&self, key: TreeKey, asked: Instant) -> Option<Tree> {
        match &self.keeping {
            Keeping::Shared(shared) => shared.get(key),
            Keeping::Own(own) => own.get(key, asked),
        }
    }

    /// Returns the tree of this name, written by `fill` if it is missing. It is written to another path and moved into place, so it is
    /// never visible incompletely. Of several writers of one key in this process one writes and the others wait. `fill` must not request
    /// the same key.
    pub fn get_or_write<E>(
        &self,
        key: TreeKey,
        fill: impl FnOnce(&mut TreeWriter) -> Result<(), E>,
    ) -> Result<Tree, E>
    where
        E: From<StoreError>,
    {
        if let Some(tree) = self.get(key) {
            return Ok(tree);
        }
        let _turn = self.turns.wait(key);
        if let Some(tree) = self.get(key) {
            return Ok(tree);
        }
        let (home, mut writer) = self.stage(Naming::Given)?;
        fill(&mut writer)?;
        let finished = writer.finish().map_err(StoreError::Write)?;
        Ok(home.keep(key, &finished)?)
    }

    /// Writes a tree whose name depends on its content (a working copy). The name is a digest of path, mode, link target and content digest
    /// of every entry, and of `salt`.
    pub fn write_by_content<E>(
        &self,
        salt: &[u8],
        fill: impl FnOnce(&mut TreeWriter) -> Result<(), E>,
    ) -> Result<Tree, E>
    where
        E: From<StoreError>,
    {
        let (home, mut writer) = self.stage(Naming::ByContent)?;
        fill(&mut writer)?;
        let mut finished = writer.finish().map_err(StoreError::Write)?;
        Ok(home.keep(digest::key(salt, &mut finished.records), &finished)?)
    }

    /// Returns directories that runs must not access, except for their own view: the other run directories, and the trees of a store of
    /// this process alone. Trees that processes share are not included: a plugin may itself be in one if it is taken from a revision.
    pub fn hidden_from_runs(&self) -> Vec<PathBuf> {
        let trees = match &self.keeping {
            Keeping::Shared(_) => None,
            Keeping::Own(own) => Some(own.shared()),
        };
        trees.into_iter().chain([self.runs.shared()]).map(Path::to_path_buf).collect()
    }

    /// Evicts the unused trees, for a caller that found the file system full. They are removed in the background. A shared store keeps its
    /// trees.
    pub fn make_room(&self) {
        match &self.keeping {
            Keeping::Shared(_) => {}
            Keeping::Own(own) => own.make_room(),
        }
    }

    /// Creates an empty run directory.
    pub fn run_dir(&self) -> Result<RunDir, StoreError> {
        RunDir::new(self.runs.get()?)
    }

    /// Removes the run directories of this process.
    fn close_runs(&self) {
        self.runs.close();
    }

    /// Creates a new tree that is not in place yet.
    fn stage(&self, naming: Naming) -> Result<(Home<'_>, TreeWriter), StoreError> {
        let home = match &self.keeping {
            Keeping::Shared(shared) => Home::Shared(shared, Staged::new(shared.fresh_path())?),
            Keeping::Own(own) => Home::Own(own, own.stage()?),
        };
        let (Home::Shared(_, staged) | Home::Own(_, (_, staged))) = &home;
        let writer = TreeWriter::new(staged.tree(), self.limits, naming)?;
        Ok((home, writer))
    }
}

impl Home<'_> {
    /// Moves a complete tree into place, or returns the existing one of this name.
    fn keep(self, key: TreeKey, finished: &Finished) -> Result<Tree, StoreError> {
        match self {
            Self::Shared(shared, staged) => shared.keep(key, staged),
            Self::Own(own, staged) => own.keep_written(key, staged, finished),
        }
    }
}

/// A directory that a tree is written to; removed on drop.
#[derive(Debug)]
struct Staged(PathBuf);

impl Staged {
    /// Creates the directory.
    fn new(place: PathBuf) -> Result<Self, StoreError> {
        fs::create_dir(&place).map_err(StoreError::io("make", &place))?;
        Ok(Self(place))
    }

    /// The directory.
    fn place(&self) -> &Path {
        &self.0
    }

    /// Returns the path of the tree in it.
    fn tree(&self) -> PathBuf {
        self.0.join(TREE)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // A failed removal leaves it in the session's directory, which is removed later. A tree that was moved is not there.
        remove_tree_or_log(&self.0);
    }
}

/// Whether the file system or a quota is full: bytes or files.
pub fn is_of_a_full_disk(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Returns the absolute path of a directory for this user alone, created if missing.
fn private_folder(dir: &Path) -> Result<PathBuf, StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(StoreError::io("make", dir))?;
    let owner = fs::metadata(dir).map_err(StoreError::io("look at", dir))?.uid();
    if !is_trusted_owner(owner) {
        return Err(StoreError::OfAnotherUser { path: dir.to_path_buf() });
    }
    std::path::absolute(dir).map_err(StoreError::io("find", dir))
}

/// Whether this process may use a directory of this owner for a store. The owner of a directory can replace its content. Root can anyway,
/// and volumes of containers belong to root.
pub fn is_trusted_owner(owner: u32) -> bool {
    is_trusted(owner, rustix::process::geteuid().as_raw())
}

fn is_trusted(owner: u32, user: u32) -> bool {
    owner == user || owner == 0
}
