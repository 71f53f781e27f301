//! Children that this process has started itself, told apart from orphans that the system gives to it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

/// Held for reading while a child is started, so that whoever holds it for writing knows every child.
static STARTING: RwLock<()> = RwLock::new(());

/// Process ids of children whose exit status somebody may still ask for, each with the start that it belongs to: a number may come again.
static OWN: Mutex<BTreeMap<u32, u64>> = Mutex::new(BTreeMap::new());

/// Number of starts.
static STARTS: AtomicU64 = AtomicU64::new(0);

/// A child of our own, whose exit status is left to whoever has this.
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
        own().extend(id.map(|id| (id, start)));
        Ok(Self { child, id, start })
    }

    /// Its number, as long as nobody has waited for it, so that the number is its own.
    pub(crate) fn pid(&self) -> Option<Pid> {
        self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    /// Sends a signal, unless it was waited for.
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
    /// One that was waited for is forgotten. Another one is the runtime's to wait for, so it stays known until it is gone.
    fn drop(&mut self) {
        let waited_for = self.child.id().is_none();
        if let Some(id) = self.id.filter(|_| waited_for) {
            let mut own = own();
            if own.get(&id) == Some(&self.start) {
                own.remove(&id);
            }
        }
    }
}

/// As long as this lives no child is started, so that a child that is not known is an orphan of others.
#[derive(Debug)]
pub(crate) struct Census {
    _nobody_starts: RwLockWriteGuard<'static, ()>,
}

impl Census {
    pub(crate) fn take() -> Self {
        Self { _nobody_starts: STARTING.write().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Those of this process' children that it has not started itself. `children` are all of them, looked up during this census.
    #[expect(clippy::unused_self, reason = "without a census a child may be there and not be known yet")]
    pub(crate) fn orphans(&self, children: &BTreeSet<u32>) -> Vec<u32> {
        let mut own = own();
        own.retain(|id, _| children.contains(id));
        children.iter().copied().filter(|id| !own.contains_key(id)).collect()
    }
}

fn own() -> MutexGuard<'static, BTreeMap<u32, u64>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}
