//! The work queue: sets that are due, each at most once at a time. Pure; the caller passes the time.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use crate::cache::Need;
use crate::object::ObjectName;

/// The pause after the first failure of a set. It doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause after failures.
const LONGEST_PAUSE: Duration = Duration::from_mins(3);

/// Sets that wait for a reconcile, and those that are being reconciled.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    entries: HashMap<ObjectName, Entry>,
    due: BTreeSet<(Instant, ObjectName)>,
}

#[derive(Debug, Default)]
struct Entry {
    /// When it is due, if it waits.
    due: Option<Instant>,
    is_running: bool,
    /// Why it became due while it was running.
    due_again: Option<Need>,
    failures: u32,
}

/// The next step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// This set is due. [`Queue::done`] must follow.
    Reconcile(ObjectName),
    /// None is due before this time.
    Wait(Instant),
    /// None is due before one is added.
    Idle,
}

/// The end of a reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It is due again after this time, or when something changes.
    Succeeded(Option<Duration>),
    /// It is repeated after a pause.
    Failed,
    /// The set does not exist any more.
    Gone,
}

impl Queue {
    /// Makes a set due now.
    pub(crate) fn add(&mut self, set: &ObjectName, need: Need, now: Instant) {
        let entry = self.entries.entry(set.clone()).or_default();
        if entry.is_running {
            entry.due_again = entry.due_again.max(Some(need));
        } else {
            Self::schedule(&mut self.due, set, entry, now);
        }
    }

    /// Returns the set that is due for the longest time.
    pub(crate) fn next(&mut self, now: Instant) -> Next {
        match self.due.first().cloned() {
            None => Next::Idle,
            Some((at, _)) if at > now => Next::Wait(at),
            Some((at, set)) => {
                self.due.remove(&(at, set.clone()));
                let entry = self.entries.entry(set.clone()).or_default();
                (entry.due, entry.is_running) = (None, true);
                Next::Reconcile(set)
            }
        }
    }

    /// Ends a reconcile.
    pub(crate) fn done(&mut self, set: &ObjectName, ended: Ended, now: Instant) {
        let Some(entry) = self.entries.get_mut(set) else { return };
        entry.is_running = false;
        let due_again = entry.due_again.take();
        let pause = match ended {
            Ended::Succeeded(pause) => {
                entry.failures = 0;
                pause
            }
            Ended::Failed => {
                let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(entry.failures));
                entry.failures += 1;
                Some(pause.min(LONGEST_PAUSE))
            }
            Ended::Gone if due_again.is_none() => {
                self.entries.remove(set);
                return;
            }
            Ended::Gone => None,
        };
        // A change does not wait for the end of a pause, but one of Applications may come from the failed reconcile itself.
        let is_at_once = match due_again {
            Some(Need::Generate) => true,
            Some(Need::Compare) => ended != Ended::Failed,
            None => false,
        };
        let pause = if is_at_once { Some(Duration::ZERO) } else { pause };
        if let Some(pause) = pause {
            Self::schedule(&mut self.due, set, entry, now + pause);
        }
    }

    /// Returns the number of sets that are due or being reconciled.
    pub(crate) fn len(&self, now: Instant) -> usize {
        self.due.iter().take_while(|(at, _)| *at <= now).count()
            + self.entries.values().filter(|entry| entry.is_running).count()
    }

    /// Makes a set due at a time, unless it is due earlier.
    fn schedule(due: &mut BTreeSet<(Instant, ObjectName)>, set: &ObjectName, entry: &mut Entry, at: Instant) {
        if entry.due.is_some_and(|due| due <= at) {
            return;
        }
        if let Some(later) = entry.due.replace(at) {
            due.remove(&(later, set.clone()));
        }
        due.insert((at, set.clone()));
    }
}

#[cfg(test)]
mod tests;
