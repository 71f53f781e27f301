//! The content store: trees by key, each written once, and the folders of runs.
//!
//! ```text
//! <dir>/gate                      locked while a process begins
//! <dir>/trees/<boot>/<key>/       a tree; moved here when it is whole
//! <dir>/trees/<boot>.lock         held, shared, by every process that may have a tree of this boot in use
//! <dir>/tmp/session-<random>/     a process' own folder, where it writes trees; holds a lock that says whether the process lives
//! <runs_dir>/session-<random>/    the same for the folders of runs
//! ```
//!
//! Nothing is synced to disk, because a tree can be written again faster than that takes. So a tree may be torn by a crash of
//! the machine, though never by one of a process: trees are kept per boot, and those of an earlier boot are removed.

pub(crate) mod digest;
mod directory;
mod remove;
mod run_dir;
mod seal;
mod session;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::archive::{self, ArchiveError, Intake};
use crate::writer::Naming;
use crate::{TreeLimits, TreeWriter, WriteError};

pub use directory::{DirectoryEntry, look_at_files};
pub use run_dir::RunDir;

use remove::remove_tree;
use session::{Gate, Session, is_unlocked, lock_file};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    _in_use: Arc<File>,
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

/// How much a store of one process keeps. What is used least recently goes first; a tree that is in use never goes, so that a store may
/// have more for a while.
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
    /// Where trees of this boot are.
    trees: PathBuf,
    limits: TreeLimits,
    /// Where trees are written.
    staging: Session,
    runs: Arc<Session>,
    in_use: Arc<File>,
    /// Keys of trees that this process has written or has found as they were written.
    trusted: Mutex<HashSet<[u8; 32]>>,
    /// Whether trees of other processes are used.
    reuse: Reuse,
    /// Keys that a thread of this process is writing.
    writing: Mutex<HashSet<[u8; 32]>>,
    written: Condvar,
}

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
        source: io::Error,
    },
    /// A folder of the store belongs to somebody else, who could exchange what is in it.
    #[error(
        "{path} belongs to another user; name a folder of your own with --cache-dir, or --workdir for the plugin server"
    )]
    OfAnotherUser {
        /// The folder.
        path: PathBuf,
    },
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
        let (dir, runs_dir) = (private_folder(&dir)?, private_folder(&runs_dir)?);
        let boot = boot_id();
        let all_trees = dir.join("trees");
        let trees = private_folder(&all_trees.join(&boot))?;
        let tmp = private_folder(&dir.join("tmp"))?;

        let gate = Gate::close(&dir)?;
        let staging = Session::begin(&tmp, &gate)?;
        let in_use = lock_file(&all_trees.join(format!("{boot}.lock")))?;
        in_use.lock_shared().map_err(StoreError::io("lock", &all_trees))?;
        take_over_other_boots(&all_trees, &boot, &staging)?;
        drop(gate);
        let gate = Gate::close(&runs_dir)?;
        let runs = Session::begin(&runs_dir, &gate)?;
        drop(gate);

        staging.sweep();
        runs.sweep();
        Ok(Self {
            trees,
            limits,
            staging,
            runs: Arc::new(runs),
            in_use: Arc::new(in_use),
            trusted: Mutex::default(),
            reuse: Reuse::AnyTree,
            writing: Mutex::default(),
            written: Condvar::new(),
        })
    }

    /// A store of this process alone, for servers: everything is below a folder of this process with a lock, gone when the process ends,
    /// and swept by the next one when it was killed. Processes with one folder do not disturb each other.
    pub fn of_this_process(options: StoreOptions, _bounds: StoreBounds) -> Result<Self, StoreError> {
        Self::open(options)
    }

    /// The tree that an archive (tar within gzip) holds.
    pub fn take_in(&self, archive: &mut dyn Read, intake: &Intake<'_>) -> Result<Tree, ArchiveError> {
        self.write_by_content(b"", |writer| {
            writer.set_modes(intake.modes);
            archive::unpack_into(archive, intake, writer)
        })
    }

    /// What the store has.
    pub fn stats(&self) -> StoreStats {
        StoreStats { trees: self.trusted().len() as u64, ..StoreStats::default() }
    }

    /// This store, using trees of other processes or writing each anew.
    #[must_use]
    pub fn with_reuse(self, reuse: Reuse) -> Self {
        Self { reuse, ..self }
    }

    /// Bounds of each tree.
    pub fn limits(&self) -> TreeLimits {
        self.limits
    }

    /// The tree of this name, if it is there. One that something was taken out of or put into, as cleaners of temporary folders do,
    /// is thrown away: it would render with something missing.
    pub fn get(&self, key: TreeKey) -> Option<Tree> {
        let place = self.place(key);
        if self.trusted().contains(&key.0) {
            return Some(self.tree(key, &place));
        }
        if !place.is_dir() {
            return None;
        }
        if self.reuse == Reuse::OwnTrees || !seal::holds(&place.join(TREE), &place.join(SEAL)) {
            self.staging.take_over(&place);
            return None;
        }
        self.trusted().insert(key.0);
        Some(self.tree(key, &place))
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
        let _turn = Turn::wait(self, key);
        if let Some(tree) = self.get(key) {
            return Ok(tree);
        }
        let (staged, mut writer) = self.stage(Naming::Given)?;
        fill(&mut writer)?;
        writer.finish().map_err(StoreError::Write)?;
        Ok(self.keep(key, staged)?)
    }

    /// A tree whose name is not known before it is read (a working copy, an archive): written beside while its content is hashed,
    /// then named by path, mode, link target and digest of bytes of every entry. `salt` goes into the name.
    pub fn write_by_content<E>(
        &self,
        salt: &[u8],
        fill: impl FnOnce(&mut TreeWriter) -> Result<(), E>,
    ) -> Result<Tree, E>
    where
        E: From<StoreError>,
    {
        let (staged, mut writer) = self.stage(Naming::ByContent)?;
        fill(&mut writer)?;
        let mut records = writer.finish().map_err(StoreError::Write)?;
        Ok(self.keep(digest::key(salt, &mut records), staged)?)
    }

    /// An empty folder for one run.
    pub fn run_dir(&self) -> Result<RunDir, StoreError> {
        RunDir::new(Arc::clone(&self.runs))
    }

    /// A new tree that is not in place yet.
    fn stage(&self, naming: Naming) -> Result<(Staged, TreeWriter), StoreError> {
        let staged = Staged(self.staging.fresh_path());
        fs::create_dir(&staged.0).map_err(StoreError::io("make", &staged.0))?;
        let writer = TreeWriter::new(staged.0.join(TREE), self.limits, naming)?;
        Ok((staged, writer))
    }

    fn place(&self, key: TreeKey) -> PathBuf {
        self.trees.join(key.to_string())
    }

    fn tree(&self, key: TreeKey, place: &Path) -> Tree {
        Tree { key, root: Arc::new(place.join(TREE)), _in_use: Arc::clone(&self.in_use) }
    }

    fn trusted(&self) -> MutexGuard<'_, HashSet<[u8; 32]>> {
        self.trusted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves a whole tree into place. If another process was faster its tree is taken: both have the same content.
    fn keep(&self, key: TreeKey, staged: Staged) -> Result<Tree, StoreError> {
        if let Some(tree) = self.get(key) {
            return Ok(tree);
        }
        let place = self.place(key);
        seal::write(&staged.0.join(TREE), &staged.0.join(SEAL)).map_err(StoreError::io("seal", &staged.0))?;
        match fs::rename(&staged.0, &place) {
            Ok(()) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists
                ) => {}
            Err(source) => return Err(StoreError::Io { action: "move a tree to", path: place, source }),
        }
        drop(staged);
        self.trusted().insert(key.0);
        Ok(self.tree(key, &place))
    }
}

/// A directory that a tree is written to; removed on drop if it is still there.
struct Staged(PathBuf);

impl Drop for Staged {
    fn drop(&mut self) {
        // What cannot be removed stays below the session's folder and goes with it.
        drop(remove_tree(&self.0));
    }
}

/// The right to write one key; others of this process wait until it is dropped.
struct Turn<'a> {
    store: &'a Store,
    key: TreeKey,
}

impl<'a> Turn<'a> {
    fn wait(store: &'a Store, key: TreeKey) -> Self {
        let writing = store.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writing = store
            .written
            .wait_while(writing, |writing| writing.contains(&key.0))
            .unwrap_or_else(PoisonError::into_inner);
        writing.insert(key.0);
        Self { store, key }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.store.writing.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key.0);
        self.store.written.notify_all();
    }
}

/// A folder for this user alone, made if it is missing; its absolute path.
fn private_folder(dir: &Path) -> Result<PathBuf, StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(StoreError::io("make", dir))?;
    let owner = fs::metadata(dir).map_err(StoreError::io("look at", dir))?.uid();
    if !is_trusted(owner, rustix::process::geteuid().as_raw()) {
        return Err(StoreError::OfAnotherUser { path: dir.to_path_buf() });
    }
    std::path::absolute(dir).map_err(StoreError::io("find", dir))
}

/// Whether a folder of this owner may be used by this user. Whoever owns it can exchange what is in it; root can anyway, and volumes
/// of containers are root's.
fn is_trusted(owner: u32, user: u32) -> bool {
    owner == user || owner == 0
}

/// Trees of other boots that no process uses: on this machine none does, on a shared file system another machine may.
fn take_over_other_boots(all_trees: &Path, boot: &str, session: &Session) -> Result<(), StoreError> {
    for entry in fs::read_dir(all_trees).map_err(StoreError::io("read", all_trees))?.flatten() {
        let (place, name) = (entry.path(), entry.file_name());
        let lock = place.with_extension("lock");
        if name.to_str() != Some(boot) && place.is_dir() && is_unlocked(&lock) {
            session.take_over(&place);
            drop(fs::remove_file(lock));
        }
    }
    Ok(())
}

/// What tells one boot of this machine from the next. Where the system does not say, all boots count as one.
fn boot_id() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let id: String = id.chars().filter(char::is_ascii_hexdigit).collect();
    if id.is_empty() { "one".to_owned() } else { id }
}
