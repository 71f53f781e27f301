//! The content of a session's directory, which is created again if it was removed.
//!
//! Temporary directories are cleaned by users and programs, even while a server runs for months. Their content is lost then, but the server
//! must continue.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::private_folder;
use super::session::{Gate, Session};
use crate::StoreError;

/// The content of a session's directory.
pub(super) trait InSession {
    /// Whether the directory and its fixed content exist.
    fn is_there(&self) -> bool;

    /// Removes the directory.
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

/// The current content of a session's directory.
#[derive(Debug)]
pub(super) struct Renewed<T> {
    /// The parent of the sessions' directories.
    shared: PathBuf,
    current: Mutex<Arc<T>>,
    /// Closed: nothing is created again.
    closed: AtomicBool,
}

impl<T: InSession> Renewed<T> {
    /// Starts with the result of `make` in a new session's directory.
    pub(super) fn begin(
        shared: &Path,
        make: impl FnOnce(Session) -> Result<T, StoreError>,
    ) -> Result<Self, StoreError> {
        let shared = private_folder(shared)?;
        let current = Mutex::new(Arc::new(make(begin_session(&shared)?)?));
        Ok(Self { shared, current, closed: AtomicBool::new(false) })
    }

    /// Returns the parent of the sessions' directories.
    pub(super) fn shared(&self) -> &Path {
        &self.shared
    }

    /// Returns the content at its last use.
    pub(super) fn latest(&self) -> Arc<T> {
        Arc::clone(&self.current())
    }

    /// Returns the content. If it was removed, `make` replaces it in a new session's directory; its argument is the old content.
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
        // After the lock is released: dropping it may wait for its thread.
        drop(before);
        Ok(made)
    }

    /// Removes the directory, even if it is in use, and never creates another one.
    pub(super) fn close(&self) {
        let current = self.current();
        self.closed.store(true, Ordering::Relaxed);
        current.remove();
    }

    fn current(&self) -> MutexGuard<'_, Arc<T>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates a session in a directory, which is created if missing.
fn begin_session(shared: &Path) -> Result<Session, StoreError> {
    let shared = private_folder(shared)?;
    let gate = Gate::close(&shared)?;
    Session::begin(&shared, &gate)
}
