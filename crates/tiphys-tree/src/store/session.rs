//! A process' own folder below a shared one, and the removal of what killed processes left.
//!
//! Whether a process lives is asked of the kernel, by a lock on a file in its folder: process ids are used again, and mean
//! nothing in another container.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tiphys_removal::remove_tree_or_log;

use crate::StoreError;

/// Begins the name of every session's folder, so that a sweep touches nothing else.
const SESSION_PREFIX: &str = "session-";
/// The file in a session's folder that is locked as long as its process lives.
const LOCK_FILE: &str = "lock";
/// The file in the shared folder that is locked while sessions begin or are swept.
const GATE_FILE: &str = "gate";

/// A folder of this process alone. Removed on drop.
#[derive(Debug)]
pub(crate) struct Session {
    dir: PathBuf,
    next: AtomicU64,
    /// Locked; the kernel unlocks it when the process ends, however it ends.
    _lock: File,
}

/// Kept while sessions of a folder begin or are swept; unlocked on drop.
#[derive(Debug)]
pub(crate) struct Gate {
    _lock: File,
}

impl Gate {
    /// Waits for other processes that begin or sweep sessions in this folder.
    pub(crate) fn close(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(GATE_FILE);
        let lock = lock_file(&path)?;
        lock.lock().map_err(StoreError::io("lock", &path))?;
        Ok(Self { _lock: lock })
    }
}

impl Session {
    /// Makes a folder for this process, and takes over those whose process is gone.
    pub(crate) fn begin(shared: &Path, _gate: &Gate) -> Result<Self, StoreError> {
        let dir = tempfile::Builder::new()
            .prefix(SESSION_PREFIX)
            .tempdir_in(shared)
            .map_err(StoreError::io("make a folder in", shared))?
            .keep();
        let path = dir.join(LOCK_FILE);
        let lock = lock_file(&path)?;
        lock.lock().map_err(StoreError::io("lock", &path))?;
        let session = Self { dir, next: AtomicU64::new(0), _lock: lock };
        for entry in fs::read_dir(shared).map_err(StoreError::io("read", shared))?.flatten() {
            let place = entry.path();
            let is_session = entry.file_name().to_string_lossy().starts_with(SESSION_PREFIX);
            if is_session && place != session.dir && is_unlocked(&place.join(LOCK_FILE)) {
                session.take_over(&place);
            }
        }
        Ok(session)
    }

    /// Its folder.
    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    /// Whether its folder is there. Without its lock others would take it for one whose process is gone.
    pub(crate) fn is_there(&self) -> bool {
        self.dir.join(LOCK_FILE).exists()
    }

    /// Moves something into this session, to be removed by [`Self::sweep`] or, if this process is killed first, by the next one's.
    pub(crate) fn take_over(&self, place: &Path) {
        // A folder that cannot be moved is left where it is: it costs space, and the store works without it.
        drop(fs::rename(place, self.dir.join(format!("stale-{}", self.number()))));
    }

    /// Removes what was taken over. Needs no gate.
    pub(crate) fn sweep(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("stale-") {
                remove_tree_or_log(&entry.path());
            }
        }
    }

    /// A path in this folder where nothing is.
    pub(crate) fn fresh_path(&self) -> PathBuf {
        self.dir.join(self.number().to_string())
    }

    /// A new empty folder, 0700.
    pub(crate) fn folder(&self) -> Result<PathBuf, StoreError> {
        let path = self.fresh_path();
        DirBuilder::new().mode(0o700).create(&path).map_err(StoreError::io("make", &path))?;
        Ok(path)
    }

    /// Removes its folder with everything in it.
    pub(crate) fn remove(&self) {
        // What cannot be removed now is swept by the next process: the lock goes with this one.
        remove_tree_or_log(&self.dir);
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Opens a file to lock, made if it is missing.
pub(crate) fn lock_file(path: &Path) -> Result<File, StoreError> {
    fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(StoreError::io("open", path))
}

/// Whether nobody holds a lock. A missing file is one that nobody holds: sessions begin behind the gate, so none is half made.
pub(crate) fn is_unlocked(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => !matches!(file.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_))),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
