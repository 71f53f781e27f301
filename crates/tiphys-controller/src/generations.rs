//! The last result of each set whose generators ask servers. It is used again until something that it is made from changes or its timer ends.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tiphys_service::GeneratedSet;

use crate::cache::any_generator;
use crate::object::ObjectName;

/// The results by set.
#[derive(Default)]
pub(crate) struct Generations(Mutex<HashMap<ObjectName, Entry>>);

#[derive(Default)]
struct Entry {
    /// Changes with each [`Generations::forget`].
    epoch: u64,
    last: Option<Generation>,
}

/// A result, and when the generators are asked again.
#[derive(Clone)]
pub(crate) struct Generation {
    pub(crate) generated: Arc<GeneratedSet>,
    /// `metadata.uid` and `metadata.generation` of the set.
    of: (Value, Value),
    /// The version of the control plane, which also decides whether Applications are valid.
    control_plane: u64,
    until: Option<Instant>,
}

/// The state of a set when its generators were asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch(u64);

impl Generations {
    /// Returns the last result, if it may still be used for this state of the set and of the control plane.
    pub(crate) fn last(
        &self,
        name: &ObjectName,
        set: &Value,
        control_plane: u64,
        now: Instant,
    ) -> Option<Generation> {
        let last = self.entries().get(name)?.last.clone()?;
        let is_current = last.of == identity(set)
            && last.control_plane == control_plane
            && last.until.is_none_or(|until| now < until);
        is_current.then_some(last)
    }

    /// Begins to generate.
    pub(crate) fn begin(&self, set: &ObjectName) -> Epoch {
        Epoch(self.entries().entry(set.clone()).or_default().epoch)
    }

    /// Returns a result, and stores it if its generators ask servers, it is complete, and nothing that it is made from has changed meanwhile.
    pub(crate) fn end(
        &self,
        name: &ObjectName,
        set: &Value,
        epoch: Epoch,
        (generated, control_plane): (GeneratedSet, u64),
        now: Instant,
    ) -> Generation {
        let pause = generated.requeue_after_seconds().map(Duration::from_secs);
        let is_complete = generated.is_complete();
        let until = pause.map(|pause| now + pause);
        let generation =
            Generation { generated: Arc::new(generated), of: identity(set), control_plane, until };
        let mut entries = self.entries();
        let entry = entries.entry(name.clone()).or_default();
        let is_costly =
            any_generator(&set["spec"]["generators"], &|kind, _| !["list", "clusters"].contains(&kind));
        if is_costly && is_complete && Epoch(entry.epoch) == epoch {
            entry.last = Some(generation.clone());
        }
        generation
    }

    /// Forgets a result, and one that is being generated.
    pub(crate) fn forget(&self, set: &ObjectName) {
        let mut entries = self.entries();
        let entry = entries.entry(set.clone()).or_default();
        *entry = Entry { epoch: entry.epoch + 1, last: None };
    }

    /// Forgets a set that does not exist any more.
    pub(crate) fn remove(&self, set: &ObjectName) {
        self.entries().remove(set);
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<ObjectName, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn identity(set: &Value) -> (Value, Value) {
    let metadata = &set["metadata"];
    (metadata["uid"].clone(), metadata["generation"].clone())
}

impl Generation {
    /// Returns the time until the generators are asked again.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(now))
    }
}

impl fmt::Debug for Generations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Generations").field(&self.entries().len()).finish()
    }
}
