//! What is in a session's folder, and is made anew when somebody removed that.
//!
//! Folders for temporary files are cleaned by people and by programs, also below a server that runs for months. What was in the folder is
//! lost then, but not the use of it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::session::{Gate, Session};
use super::{StoreError, private_folder};

/// Something that is in the folder of a session.
pub(super) trait InSession {
    /// Whether the folder is there, and what there always is in it.
    fn is_there(&self) -> bool;

    /// Removes the folder.
    fn remove(&self);
}

impl InSession for Session {
    fn is_there(&self) -> bool {
        Self::is_there(self)
    }

    fn remove(&self) {
        Self::remove(self);
    }
}

/// What is in a session's folder now.
#[derive(Debug)]
pub(super) struct Renewed<T> {
    /// Where sessions have their folders.
    shared: PathBuf,
    current: Mutex<Arc<T>>,
    /// Nothing is made anew any more.
    closed: AtomicBool,
}

impl<T: InSession> Renewed<T> {
    /// Begins with what `make` makes in a new session's folder.
    pub(super) fn begin(
        shared: &Path,
        make: impl FnOnce(Session) -> Result<T, StoreError>,
    ) -> Result<Self, StoreError> {
        let shared = private_folder(shared)?;
        let current = Mutex::new(Arc::new(make(begin_session(&shared)?)?));
        Ok(Self { shared, current, closed: AtomicBool::new(false) })
    }

    /// The folder that sessions have theirs in.
    pub(super) fn shared(&self) -> &Path {
        &self.shared
    }

    /// What was there when it was used last.
    pub(super) fn latest(&self) -> Arc<T> {
        Arc::clone(&self.current())
    }

    /// What is there. If it was removed, what `make` makes in the folder of a new session takes its place; it gets what was there before.
    pub(super) fn there(
        &self,
        make: impl FnOnce(Session, &T) -> Result<T, StoreError>,
    ) -> Result<Arc<T>, StoreError> {
        let mut current = self.current();
        if current.is_there() {
            return Ok(Arc::clone(&current));
        }
        if self.closed.load(Ordering::Relaxed) {
            return Err(StoreError::Closed);
        }
        let made = Arc::new(make(begin_session(&self.shared)?, &current)?);
        let before = std::mem::replace(&mut *current, Arc::clone(&made));
        drop(current);
        // With the lock free: its end may wait for its thread.
        drop(before);
        Ok(made)
    }

    /// Removes the folder, whoever still has something of it, and makes no other.
    pub(super) fn close(&self) {
        let current = self.current();
        self.closed.store(true, Ordering::Relaxed);
        current.remove();
    }

    fn current(&self) -> MutexGuard<'_, Arc<T>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A new session in a folder, which is made if it is missing.
fn begin_session(shared: &Path) -> Result<Session, StoreError> {
    let shared = private_folder(shared)?;
    let gate = Gate::close(&shared)?;
    Session::begin(&shared, &gate)
}
