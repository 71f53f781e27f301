//! The Lease of another process as this process saw it.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

/// One version of a Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Observation {
    /// Its `resourceVersion`; empty for a Lease that does not exist any more.
    pub(super) version: String,
    /// The holder; empty for a released Lease.
    pub(super) holder: String,
    /// The time that the holder asks others to wait.
    pub(super) duration: Duration,
    /// When this process read this version for the first time.
    pub(super) since: Instant,
    /// Whether the observation before had another holder.
    pub(super) is_new_holder: bool,
}

impl Observation {
    /// Returns the observation of a Lease that was read at `now`. `duration` applies to a Lease without one.
    pub(super) fn new(lease: &Value, previous: Option<&Self>, duration: Duration, now: Instant) -> Self {
        let (metadata, spec) = (&lease["metadata"], &lease["spec"]);
        let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (version, holder) = (string(&metadata["resourceVersion"]), string(&spec["holderIdentity"]));
        let since = previous.filter(|previous| previous.version == version);
        let is_known = previous.is_some_and(|previous| previous.holder == holder);
        let seconds = spec["leaseDurationSeconds"].as_u64();
        Self {
            since: since.map_or(now, |previous| previous.since),
            version,
            duration: seconds.map_or(duration, Duration::from_secs),
            is_new_holder: !is_known && !holder.is_empty(),
            holder,
        }
    }

    /// Returns the observation that the Lease does not exist any more. Its holder leads until it notices.
    pub(super) fn missing(previous: &Self, now: Instant) -> Self {
        let since = if previous.version.is_empty() { previous.since } else { now };
        Self { version: String::new(), since, is_new_holder: false, ..previous.clone() }
    }
}

/// Whether a candidate may take a Lease that it saw: it is released, or it has not changed for its duration.
pub(super) fn may_take(observed: &Observation, now: Instant) -> bool {
    observed.holder.is_empty() || now.saturating_duration_since(observed.since) >= observed.duration
}
