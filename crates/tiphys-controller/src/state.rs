//! The state that watches, reconciles and endpoints share.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::iter::successors;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tiphys_kube::cluster_reader::{ClusterError, ClusterErrorKind, WatchEvent};
use tokio::sync::Notify;

use crate::cache::{Cache, Concerned, Need, needs};
use crate::generations::Generations;
use crate::object::{ObjectName, Watched};
use crate::queue::{Ended, Next, Queue};

/// Time without a write of another controller after which this one writes again.
pub(crate) const OTHER_CONTROLLER_TIME: Duration = Duration::from_mins(10);

/// The cache, the queue, what was generated, and the kinds whose objects are known.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) cache: Cache,
    queue: Mutex<Queue>,
    pub(crate) generations: Generations,
    /// The kinds whose objects are known.
    listed: Mutex<BTreeSet<Watched>>,
    /// The kinds that the controller may not read, with the server's answer.
    refused: Mutex<BTreeMap<Watched, String>>,
    /// The field manager of another controller, and when it was seen last.
    other_controller: Mutex<Option<(String, Instant)>>,
    /// Notified when a set is due, or when all kinds are known.
    pub(crate) changed: Notify,
}

impl State {
    /// Applies an event of a watch.
    pub(crate) fn apply(&self, kind: Watched, event: WatchEvent) {
        let is_list = matches!(event, WatchEvent::Listed(_));
        let mut concerned = self.cache.apply(kind, event);
        if is_list {
            lock(&self.listed).insert(kind);
            if lock(&self.refused).remove(&kind).is_some() {
                concerned.extend(self.cache.sets().into_iter().map(|set| (set, Need::Generate)));
            }
        }
        self.make_due(&concerned);
        if is_list {
            self.changed.notify_one();
        }
    }

    /// Stores what a write returned.
    pub(crate) fn remember(&self, kind: Watched, object: Value) {
        let concerned = self.cache.remember(kind, object);
        self.make_due(&concerned);
    }

    fn make_due(&self, concerned: &Concerned) {
        let now = Instant::now();
        for (set, need) in concerned {
            if *need == Need::Generate {
                self.generations.forget(set);
            }
            lock(&self.queue).add(set, *need, now);
        }
        if !concerned.is_empty() {
            self.changed.notify_one();
        }
    }

    /// Makes a set due, whose generators are asked again.
    pub(crate) fn refresh(&self, set: &ObjectName) {
        self.generations.forget(set);
        lock(&self.queue).add(set, Need::Generate, Instant::now());
        self.changed.notify_one();
    }

    /// Logs the failure of a watch. Without permission, the sets that need the objects are not reconciled, and the others are.
    pub(crate) fn watch_failed(&self, kind: Watched, namespace: Option<&str>, error: &ClusterError) {
        let causes = successors(error.source(), |cause| (*cause).source()).map(|cause| format!(": {cause}"));
        let causes: String = causes.collect();
        let served = kind.kind();
        let is_forbidden = error.kind == ClusterErrorKind::Forbidden;
        let rule = if is_forbidden { missing_rule(&served.plural, namespace) } else { String::new() };
        tracing::warn!(kind = served.kind, "{error}{rule}{causes}");
        if is_forbidden && !lock(&self.listed).contains(&kind) {
            lock(&self.refused).insert(kind, format!("{error}{rule}"));
            self.changed.notify_one();
        }
    }

    /// Whether the objects of all kinds are known, or may not be read. Nothing is decided before.
    pub(crate) fn is_synced(&self) -> bool {
        let (listed, refused) = (lock(&self.listed), lock(&self.refused));
        Watched::ALL.iter().all(|kind| {
            let may_be_missing = !kind.is_of_sets() && refused.contains_key(kind);
            listed.contains(kind) || may_be_missing
        })
    }

    /// Whether the objects of a kind are known.
    pub(crate) fn has(&self, kind: Watched) -> bool {
        lock(&self.listed).contains(&kind)
    }

    /// Returns the server's answer about a kind of objects that a set needs and the controller may not read.
    pub(crate) fn refused_for(&self, set: &Value) -> Option<String> {
        let refused = lock(&self.refused);
        refused.iter().find(|(kind, _)| needs(**kind, set)).map(|(_, answer)| answer.clone())
    }

    /// Notes that another controller writes.
    pub(crate) fn saw_other_controller(&self, manager: String) {
        *lock(&self.other_controller) = Some((manager, Instant::now()));
    }

    /// Returns the field manager of another controller that wrote within [`OTHER_CONTROLLER_TIME`].
    pub(crate) fn other_controller(&self) -> Option<String> {
        let seen = lock(&self.other_controller);
        let recent = seen.as_ref().filter(|(_, at)| at.elapsed() < OTHER_CONTROLLER_TIME);
        recent.map(|(manager, _)| manager.clone())
    }

    /// Returns what to do next.
    pub(crate) fn next(&self) -> Next {
        lock(&self.queue).next(Instant::now())
    }

    /// Ends a reconcile.
    pub(crate) fn done(&self, set: &ObjectName, ended: Ended) {
        lock(&self.queue).done(set, ended, Instant::now());
    }

    /// Returns the number of sets that are due or being reconciled.
    pub(crate) fn queued(&self) -> usize {
        lock(&self.queue).len(Instant::now())
    }
}

/// Returns the permission that a watch needs, as the end of a message.
fn missing_rule(plural: &str, namespace: Option<&str>) -> String {
    let namespace = namespace.map_or_else(|| "all namespaces".to_owned(), |name| format!("namespace {name}"));
    format!(": the controller needs the verbs list and watch on {plural} in {namespace}")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
