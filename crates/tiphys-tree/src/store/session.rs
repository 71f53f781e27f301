//! A directory of one process in a shared one, and the removal of what killed processes left.
//!
//! A lock on a file in the directory shows whether the process is running: PIDs are reused, and differ between containers.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tiphys_process::removal::remove_tree_or_log;

use super::private_folder;
use crate::{FileOwner, StoreError, open_file};

/// Prefix of the sessions' directories, so that a sweep affects no others.
const SESSION_PREFIX: &str = "session-";
/// The file in a session's directory that is locked while its process runs.
const LOCK_FILE: &str = "lock";
/// The file in the shared directory that is locked while sessions begin or are swept.
const GATE_FILE: &str = "gate";

/// A directory of this process alone, removed on drop.
#[derive(Debug)]
pub(crate) struct Session {
    dir: PathBuf,
    next: AtomicU64,
    /// Locked. The kernel unlocks it when the process ends.
    _lock: File,
}

/// Held while sessions begin or are swept; unlocked on drop.
#[derive(Debug)]
pub(crate) struct Gate {
    _lock: File,
}

impl Gate {
    /// Waits for other processes that begin or sweep sessions in this directory.
    pub(crate) fn close(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(GATE_FILE);
        let lock = lock_file(&path)?;
        lock.lock().map_err(StoreError::io("lock", &path))?;
        Ok(Self { _lock: lock })
    }
}

impl Session {
    /// Creates a directory for this process, and takes over those of ended processes.
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

    /// Returns its directory.
    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    /// Whether its directory exists. Without its lock other processes would regard it as abandoned.
    pub(crate) fn is_there(&self) -> bool {
        self.dir.join(LOCK_FILE).exists()
    }

    /// Moves a directory into this session, to be removed by [`Self::sweep`] or, if this process is killed first, by the next session.
    pub(crate) fn take_over(&self, place: &Path) {
        // A directory that cannot be moved stays: it takes space, but the store works without it.
        drop(fs::rename(place, self.dir.join(format!("stale-{}", self.number()))));
    }

    /// Removes what was taken over. Does not need the gate.
    pub(crate) fn sweep(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("stale-") {
                remove_tree_or_log(&entry.path());
            }
        }
    }

    /// Returns an unused path in this directory.
    pub(crate) fn fresh_path(&self) -> PathBuf {
        self.dir.join(self.number().to_string())
    }

    /// Creates an empty directory, 0700.
    pub(crate) fn folder(&self) -> Result<PathBuf, StoreError> {
        let path = self.fresh_path();
        DirBuilder::new().mode(0o700).create(&path).map_err(StoreError::io("make", &path))?;
        Ok(path)
    }

    /// Removes its directory with everything in it.
    pub(crate) fn remove(&self) {
        // The next process sweeps the rest: the lock is released with this process.
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

/// The session of a running process. It is replaced by a new one if its directory was removed: users and programs clean temporary
/// directories, even while a server runs for months.
#[derive(Debug)]
pub(crate) struct CurrentSession {
    /// The parent of the sessions' directories.
    shared: PathBuf,
    /// `None` after the end of the last one.
    current: Mutex<Option<Arc<Session>>>,
}

impl CurrentSession {
    /// Begins the first session in a directory, which is created if missing.
    pub(crate) fn begin(shared: &Path) -> Result<Self, StoreError> {
        let shared = private_folder(shared)?;
        let current = Mutex::new(Some(begin_session(&shared)?));
        Ok(Self { shared, current })
    }

    /// Returns the parent of the sessions' directories.
    pub(crate) fn shared(&self) -> &Path {
        &self.shared
    }

    /// Returns the session, a new one if its directory was removed.
    pub(crate) fn get(&self) -> Result<Arc<Session>, StoreError> {
        let mut current = self.current();
        let session = current.as_mut().ok_or(StoreError::Closed)?;
        if !session.is_there() {
            *session = begin_session(&self.shared)?;
            session.sweep();
        }
        Ok(Arc::clone(session))
    }

    /// Removes the directory, even if it is in use, and never creates another one.
    pub(crate) fn close(&self) {
        if let Some(session) = self.current().take() {
            session.remove();
        }
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Session>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn begin_session(shared: &Path) -> Result<Arc<Session>, StoreError> {
    let shared = private_folder(shared)?;
    let gate = Gate::close(&shared)?;
    Session::begin(&shared, &gate).map(Arc::new)
}

/// Opens a file to lock, created if missing.
pub(crate) fn lock_file(path: &Path) -> Result<File, StoreError> {
    let mut options = File::options();
    open_file(path, FileOwner::Repository, options.read(true).write(true).create(true).truncate(false))
        .map_err(|error| StoreError::io("open", path)(error.into()))
}

/// Whether a lock is free. A missing file counts as free: sessions begin under the gate, so none is incomplete.
pub(crate) fn is_unlocked(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => !matches!(file.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_))),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
