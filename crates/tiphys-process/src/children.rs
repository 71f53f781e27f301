//! Children that this process started, as opposed to orphans that were reparented to it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

/// Held for reading while a child is started. A holder of the write lock knows every child.
static STARTING: RwLock<()> = RwLock::new(());

/// PIDs of children whose exit status may still be requested, each with the number of its start, because PIDs are reused.
static STARTED: Mutex<BTreeMap<u32, u64>> = Mutex::new(BTreeMap::new());

/// Number of started children.
static STARTS: AtomicU64 = AtomicU64::new(0);

/// A child that this process started. Only the holder waits for its exit status.
#[derive(Debug)]
pub(crate) struct OwnChild {
    child: Child,
    id: Option<u32>,
    start: u64,
}

impl OwnChild {
    /// Starts a child.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Self> {
        let _starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        let (id, start) = (child.id(), STARTS.fetch_add(1, Ordering::Relaxed));
        started().extend(id.map(|id| (id, start)));
        Ok(Self { child, id, start })
    }

    /// Returns the PID until the child has been waited for. Until then the PID is not reused.
    pub(crate) fn pid(&self) -> Option<Pid> {
        self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    /// Sends a signal, unless the child has been waited for.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            let _ended_or_forbidden: rustix::io::Result<()> = kill_process(pid, signal);
        }
    }
}

impl Deref for OwnChild {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.child
    }
}

impl DerefMut for OwnChild {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for OwnChild {
    /// Forgets a child that has been waited for. The runtime waits for other children, so they stay known until they exit.
    fn drop(&mut self) {
        let waited_for = self.child.id().is_none();
        if let Some(id) = self.id.filter(|_| waited_for) {
            let mut started = started();
            if started.get(&id) == Some(&self.start) {
                started.remove(&id);
            }
        }
    }
}

/// A lock under which no child is started, so that an unknown child is an orphan.
#[derive(Debug)]
pub(crate) struct Census {
    _starting: RwLockWriteGuard<'static, ()>,
}

impl Census {
    pub(crate) fn take() -> Self {
        Self { _starting: STARTING.write().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Returns the children that this process did not start. `children` are all children, listed during this census.
    #[expect(clippy::unused_self, reason = "without a census a started child may not be registered yet")]
    pub(crate) fn orphans(&self, children: &BTreeSet<u32>) -> Vec<u32> {
        let mut started = started();
        started.retain(|id, _| children.contains(id));
        children.iter().copied().filter(|id| !started.contains_key(id)).collect()
    }
}

fn started() -> MutexGuard<'static, BTreeMap<u32, u64>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}
