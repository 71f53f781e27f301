//! The state that watches, reconciles and endpoints share.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tiphys_kube::cluster_reader::{ClusterError, WatchEvent};
use tokio::sync::Notify;

use crate::cache::Cache;
use crate::object::{ObjectName, Watched};
use crate::queue::{Ended, Next, Queue};

/// The cache, the queue, and the kinds whose objects are known.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) cache: Cache,
    queue: Mutex<Queue>,
    listed: Mutex<BTreeSet<Watched>>,
    /// Notified when a set is due, or when all kinds are known.
    pub(crate) changed: Notify,
}

impl State {
    /// Applies an event of a watch.
    pub(crate) fn apply(&self, kind: Watched, event: WatchEvent) {
        let is_list = matches!(event, WatchEvent::Listed(_));
        let concerned = self.cache.apply(kind, event);
        if is_list {
            lock(&self.listed).insert(kind);
        }
        if is_list || !concerned.is_empty() {
            let mut queue = lock(&self.queue);
            let now = Instant::now();
            for set in &concerned {
                queue.add(set, now);
            }
            drop(queue);
            self.changed.notify_one();
        }
    }

    /// Logs the failure of a watch.
    #[expect(clippy::unused_self, reason = "failures are counted here")]
    pub(crate) fn watch_failed(&self, kind: Watched, error: &ClusterError) {
        tracing::warn!(kind = kind.kind().kind, "{error}");
    }

    /// Whether the objects of all kinds are known. Nothing is decided before.
    pub(crate) fn is_synced(&self) -> bool {
        lock(&self.listed).len() == Watched::ALL.len()
    }

    /// Returns what to do next.
    pub(crate) fn next(&self) -> Next {
        lock(&self.queue).next(Instant::now())
    }

    /// Ends a reconcile.
    pub(crate) fn done(&self, set: &ObjectName, ended: Ended) {
        lock(&self.queue).done(set, ended, Instant::now());
    }

    /// Returns the number of sets that wait or are being reconciled.
    pub(crate) fn queued(&self) -> usize {
        lock(&self.queue).len()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
