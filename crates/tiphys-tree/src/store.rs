//! The content store: trees by key, each written once, and the folders of runs.
//!
//! There are two kinds. Commands share one, whose trees stay for the next command; its layout is in `shared.rs`. A server has one of its
//! own, which is bounded and gone with the process; its layout is in `own.rs`. In both, `<runs_dir>/session-<random>/` has the folders
//! of a process' runs, and a lock that says whether the process lives.

pub(crate) mod digest;
mod directory;
mod own;
mod process_store;
mod renewed;
mod run_dir;
mod seal;
mod session;
mod shared;
#[cfg(test)]
mod tests;
mod turns;

use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tiphys_removal::remove_tree_or_log;

use crate::path::shown;
use crate::writer::{Finished, Naming};
use crate::{TreeLimits, TreeWriter, WriteError};

pub use directory::{DirectoryEntry, look_at_files};
pub use own::Room;
pub use process_store::ProcessStore;
pub use run_dir::RunDir;

use own::{Lease, Own};
use renewed::Renewed;
use session::Session;
use shared::Shared;
use turns::Turns;

/// Name of the tree itself in its folder of the store.
const TREE: &str = "tree";
/// Name of the seal beside the tree.
const SEAL: &str = "seal";

/// Whether executable bits are kept. Argo CD's plugin server drops them unless `preserveFileMode` is set (`spec/cmp.md` 7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modes {
    /// Files are 0644, directories 0755.
    Plain,
    /// An executable file is 0755.
    Preserved,
}

/// Name of a tree: a digest over everything that can change what is in it, [`Modes`] included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeKey(pub [u8; 32]);

impl fmt::Display for TreeKey {
    /// 64 lower-case hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A read-only directory with known content. Cheap to clone. It stays while a clone of it lives.
#[derive(Clone, Debug)]
pub struct Tree {
    key: TreeKey,
    root: Arc<PathBuf>,
    in_use: InUse,
}

/// What keeps a tree from being removed.
#[derive(Clone, Debug)]
enum InUse {
    /// A lock that other processes see.
    ByThisBoot { _lock: Arc<File> },
    /// A place in the counts of this process' own store.
    ByThisProcess { lease: Arc<Lease> },
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

    /// Whether no entry was taken out of it or put into it since it was made. Only its directories are looked at, on the caller's thread,
    /// which takes about a millisecond for 10,000 files; that a file was changed in place is seen when the tree is asked for again. A
    /// tree that processes share is not looked at before that either.
    pub fn has_its_entries(&self) -> bool {
        match &self.in_use {
            InUse::ByThisBoot { .. } => true,
            InUse::ByThisProcess { lease } => lease.has_its_entries(),
        }
    }
}

/// Whether trees that other processes have written are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// They are, if nothing was taken out of them or put into them.
    #[default]
    AnyTree,
    /// Each tree is written anew once in this process.
    OwnTrees,
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

/// How much a store of one process keeps. What is used least recently goes first; a tree that is in use never goes. An archive that does not
/// fit beside those waits ([`ProcessStore::room`]) or is refused; a single tree may be larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreBounds {
    /// Bytes of all trees together; a file that several trees have counts once.
    pub bytes_max: u64,
    /// Trees.
    pub trees_max: usize,
}

/// What a store of one process has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Trees.
    pub trees: u64,
    /// Different files of these trees.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Trees that went because of the bounds, since the store was opened.
    pub evicted: u64,
}

/// The store. Safe to use from many threads and many processes at once.
#[derive(Debug)]
pub struct Store {
    limits: TreeLimits,
    runs: Renewed<Session>,
    keeping: Keeping,
    /// Keys that a thread of this process is writing.
    turns: Turns,
}

/// Where trees stay.
#[derive(Debug)]
enum Keeping {
    Shared(Shared),
    Own(Arc<Renewed<Own>>),
}

/// Where one tree is to stay.
enum Home<'a> {
    Shared(&'a Shared),
    Own(Arc<Own>),
}

/// Why the store could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system failed.
    #[error("cannot {action} {}", shown(path.as_os_str().as_bytes()))]
    Io {
        /// What was tried, as an infinitive.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A folder of the store belongs to somebody else, who could exchange what is in it.
    #[error("{path} belongs to another user; use a directory of your own")]
    OfAnotherUser {
        /// The folder.
        path: PathBuf,
    },
    /// The store's folder was removed while something was written to it.
    #[error("the folder {path} was removed by somebody while it was written to; the next call makes it anew")]
    Removed {
        /// The folder.
        path: PathBuf,
    },
    /// A file of the store was removed or changed while a tree was made of it.
    #[error("cannot write {}: somebody changed the store meanwhile; the next call makes it anew", shown(path.as_os_str().as_bytes()))]
    Changed {
        /// The file's path in the tree.
        path: PathBuf,
    },
    /// The store was closed, since its process ends.
    #[error("the store of trees is closed")]
    Closed,
    /// The tree could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl StoreError {
    /// What turns the system's answer into this error.
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_path_buf(), source }
    }
}

impl Store {
    /// Opens or makes a store, and sweeps what killed programs left in `tmp/` and in the runs' folder.
    pub fn open(options: StoreOptions) -> Result<Self, StoreError> {
        let StoreOptions { dir, runs_dir, limits } = options;
        let keeping = Keeping::Shared(Shared::open(&private_folder(&dir)?)?);
        let runs = Renewed::begin(&runs_dir, Ok)?;
        runs.latest().sweep();
        Ok(Self { limits, runs, keeping, turns: Turns::default() })
    }

    /// A store of this process alone, for servers: everything is below a folder of this process with a lock, gone when the process ends,
    /// and swept by the next one when it was killed. Processes with one folder do not disturb each other.
    ///
    /// A thread that ends with the store sweeps and removes, so that this call and others do not wait for that. If the folder is
    /// removed below the process, the store forgets what it had, and makes it anew when it is used next.
    pub fn of_this_process(options: StoreOptions, bounds: StoreBounds) -> Result<ProcessStore, StoreError> {
        let StoreOptions { dir, runs_dir, limits } = options;
        let runs = Renewed::begin(&runs_dir, Ok)?;
        let own = Renewed::begin(&dir, |session| Own::new(session, runs.latest(), bounds))?;
        let own = Arc::new(own);
        let keeping = Keeping::Own(Arc::clone(&own));
        Ok(ProcessStore::new(Self { limits, runs, keeping, turns: Turns::default() }, own))
    }

    /// This store, using trees of other processes or writing each anew.
    #[must_use]
    pub fn with_reuse(self, reuse: Reuse) -> Self {
        let keeping = match self.keeping {
            Keeping::Shared(shared) => Keeping::Shared(shared.with_reuse(reuse)),
            // It has no trees of other processes.
            Keeping::Own(own) => Keeping::Own(own),
        };
        Self { keeping, ..self }
    }

    /// Bounds of each tree that is written, but those of archives, which come with each.
    pub fn limits(&self) -> TreeLimits {
        self.limits
    }

    /// What the store has. For a store that processes share, only the trees that this process has used.
    pub fn stats(&self) -> StoreStats {
        match &self.keeping {
            Keeping::Shared(shared) => StoreStats {
                trees: u64::try_from(shared.trees()).unwrap_or(u64::MAX),
                ..StoreStats::default()
            },
            Keeping::Own(own) => own.latest().stats(),
        }
    }

    /// Sets whether the change times of files are watched, so that a file that a command changed in place is not used again, whatever
    /// modification time it was given. That is needed where commands can write to the store's folder, and so it is the default. A store
    /// that processes share watches nothing.
    pub fn watch_change_times(&self, watch: bool) {
        if let Keeping::Own(own) = &self.keeping {
            own.latest().watch_change_times(watch);
        }
    }

    /// The tree of this name, if it is there. One that something was taken out of or put into, as cleaners of temporary folders do,
    /// is thrown away: it would render with something missing.
    pub fn get(&self, key: TreeKey) -> Option<Tree> {
        self.get_for(key, Instant::now())
    }

    /// The same for somebody who asked at `asked` and had to wait: a store of one process does not look at a tree again that it has made
    /// or looked at since. Looking takes about a microsecond for each file, on the caller's thread.
    pub fn get_for(&self, key: TreeKey, asked: Instant) -> Option<Tree> {
        match &self.keeping {
            Keeping::Shared(shared) => shared.get(key),
            Keeping::Own(own) => own.latest().get(key, asked),
        }
    }

    /// The tree of this name, written by `fill` if it is not there. Written beside and moved into place, so that nobody sees half of it;
    /// of several writers of one key in this process one writes and the others wait. `fill` must not ask for the same key.
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
        let (home, staged, mut writer) = self.stage(Naming::Given)?;
        fill(&mut writer)?;
        let finished = writer.finish().map_err(StoreError::Write)?;
        Ok(home.keep(key, staged, &finished)?)
    }

    /// A tree whose name is not known before it is read (a working copy): written beside while its content is hashed, then named by
    /// path, mode, link target and digest of bytes of every entry. `salt` goes into the name.
    pub fn write_by_content<E>(
        &self,
        salt: &[u8],
        fill: impl FnOnce(&mut TreeWriter) -> Result<(), E>,
    ) -> Result<Tree, E>
    where
        E: From<StoreError>,
    {
        let (home, staged, mut writer) = self.stage(Naming::ByContent)?;
        fill(&mut writer)?;
        let mut finished = writer.finish().map_err(StoreError::Write)?;
        Ok(home.keep(digest::key(salt, &mut finished.records), staged, &finished)?)
    }

    /// Folders that a run has no business in, but for its own view: where the other views are, and the trees of a store of this process
    /// alone. Trees that processes share are not among them: a plugin may itself be in one, where it is taken from a revision.
    pub fn hidden_from_runs(&self) -> Vec<PathBuf> {
        let trees = match &self.keeping {
            Keeping::Shared(_) => None,
            Keeping::Own(own) => Some(own.shared()),
        };
        trees.into_iter().chain([self.runs.shared()]).map(Path::to_path_buf).collect()
    }

    /// Lets the trees go that nobody uses, for whoever found the file system full. They are removed behind the caller's back. A store that
    /// processes share keeps its trees.
    pub fn make_room(&self) {
        match &self.keeping {
            Keeping::Shared(_) => {}
            Keeping::Own(own) => own.latest().make_room(),
        }
    }

    /// An empty folder for one run.
    pub fn run_dir(&self) -> Result<RunDir, StoreError> {
        RunDir::new(self.runs.there(|session, _| Ok(session))?)
    }

    /// Removes the folder of this process' runs.
    fn close_runs(&self) {
        self.runs.close();
    }

    /// A new tree that is not in place yet.
    fn stage(&self, naming: Naming) -> Result<(Home<'_>, Staged, TreeWriter), StoreError> {
        let (home, staged) = match &self.keeping {
            Keeping::Shared(shared) => (Home::Shared(shared), Staged::new(shared.fresh_path())?),
            Keeping::Own(own) => {
                let own = self.own(own)?;
                let staged = own.stage(&|| false)?;
                (Home::Own(own), staged)
            }
        };
        let writer = TreeWriter::new(staged.tree(), self.limits, naming)?;
        Ok((home, staged, writer))
    }

    /// The trees of this process, without any if their folder was removed.
    fn own(&self, own: &Renewed<Own>) -> Result<Arc<Own>, StoreError> {
        own.there(|session, before| Own::instead_of(before, session, self.runs.latest()))
    }
}

impl Home<'_> {
    /// Puts a whole tree in place, or takes the one of this name that is there already.
    fn keep(&self, key: TreeKey, staged: Staged, finished: &Finished) -> Result<Tree, StoreError> {
        match self {
            Self::Shared(shared) => shared.keep(key, staged),
            Self::Own(own) => own.keep_written(key, staged, finished),
        }
    }
}

/// A folder that a tree is written to; removed on drop if it is still there.
#[derive(Debug)]
struct Staged(PathBuf);

impl Staged {
    /// Makes the folder.
    fn new(place: PathBuf) -> Result<Self, StoreError> {
        fs::create_dir(&place).map_err(StoreError::io("make", &place))?;
        Ok(Self(place))
    }

    /// The folder.
    fn place(&self) -> &Path {
        &self.0
    }

    /// Where the tree is in it.
    fn tree(&self) -> PathBuf {
        self.0.join(TREE)
    }

    /// Leaves the folder where it is.
    fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // What cannot be removed stays below the session's folder and goes with it.
        if !self.0.as_os_str().is_empty() {
            remove_tree_or_log(&self.0);
        }
    }
}

/// Whether the system refused for want of room: of bytes, of files, or of what this user may have of them.
pub fn is_of_a_full_disk(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// A folder for this user alone, made if it is missing; its absolute path.
fn private_folder(dir: &Path) -> Result<PathBuf, StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(StoreError::io("make", dir))?;
    let owner = fs::metadata(dir).map_err(StoreError::io("look at", dir))?.uid();
    if !is_trusted_owner(owner) {
        return Err(StoreError::OfAnotherUser { path: dir.to_path_buf() });
    }
    std::path::absolute(dir).map_err(StoreError::io("find", dir))
}

/// Whether this process may use a folder of this owner for a store. The owner of a folder can exchange what is in it; root can anyway, and
/// volumes of containers are root's.
pub fn is_trusted_owner(owner: u32) -> bool {
    is_trusted(owner, rustix::process::geteuid().as_raw())
}

fn is_trusted(owner: u32, user: u32) -> bool {
    owner == user || owner == 0
}
