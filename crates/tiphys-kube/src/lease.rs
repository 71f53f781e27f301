//! Leader election with a Lease of `coordination.k8s.io/v1`.
//!
//! All times are measured by the monotonic clock of this process; those in the Lease are only written. A leader may write for
//! `renew_deadline` after it *sent* its last successful renewal. A candidate takes the Lease only if it has *read* the same version for the
//! duration of the Lease, so the leader's time has ended before. It takes a missing Lease at once, unless it has seen the holder. Each write has the `resourceVersion` that was read, so one of several
//! candidates succeeds.

mod leadership;
mod observation;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tiphys_engine::{Manifest, Scope, ServedKind};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::leadership::Validity;
use self::observation::{Observation, may_take};
use crate::cluster_reader::{ClusterError, ClusterReader as _};
use crate::{KubeCluster, ObjectPart, WriteError, WriteErrorKind, Written};

pub use self::leadership::Leadership;

/// A Lease, and the times of its election. `renew_interval` must be shorter than `renew_deadline`, and that shorter than `duration`.
#[derive(Clone, Debug)]
pub struct LeaseSettings {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease.
    pub name: String,
    /// Name of this process, which is unique among the candidates.
    pub identity: String,
    /// Time after which other candidates may take a Lease that is not renewed, rounded up to seconds.
    pub duration: Duration,
    /// Pause between two renewals, and between two attempts of a candidate.
    pub renew_interval: Duration,
    /// Time that a leader may write after a renewal. One request takes at most the half of it.
    pub renew_deadline: Duration,
    /// The wall clock, for the times in the Lease. Its value must increase: a renewal with the same time does not change the Lease.
    pub clock: fn() -> SystemTime,
}

impl LeaseSettings {
    /// Returns settings with the times of Kubernetes' own components: 15, 2 and 10 seconds.
    pub fn new(namespace: String, name: String, identity: String, clock: fn() -> SystemTime) -> Self {
        let [duration, renew_interval, renew_deadline] = [15, 2, 10].map(Duration::from_secs);
        Self { namespace, name, identity, duration, renew_interval, renew_deadline, clock }
    }
}

/// A candidate for a Lease.
pub struct Elector {
    cluster: Arc<KubeCluster>,
    kind: ServedKind,
    settings: LeaseSettings,
    validity: watch::Sender<Validity>,
    /// The term for which this process sent a Lease that the server may have stored.
    term: Option<Term>,
    /// The Lease of this term as it was last read or written.
    held: Option<Value>,
    /// The Lease of another process.
    observed: Option<Observation>,
    /// The last problem, which is logged once.
    problem: Option<String>,
}

/// The time of one leader, from taking the Lease to losing it. Renewals do not change it.
#[derive(Clone, PartialEq, Eq)]
struct Term {
    acquire_time: String,
    transitions: u64,
}

/// A failed request.
#[derive(Debug, thiserror::Error)]
enum LeaseError {
    #[error(transparent)]
    Read(#[from] ClusterError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("no response within {0:?}")]
    Timeout(Duration),
}

/// The way to write a Lease.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    Create,
    Replace,
}

impl Elector {
    /// Returns a candidate, and the view of its result. Nothing is requested yet. The cluster should have no other requests, because these
    /// could delay renewals. An elector of a dry run never leads.
    pub fn new(cluster: Arc<KubeCluster>, settings: LeaseSettings) -> (Self, Leadership) {
        let (validity, receiver) = watch::channel(Validity::Never);
        let kind = ServedKind {
            group: "coordination.k8s.io".to_owned(),
            version: "v1".to_owned(),
            kind: "Lease".to_owned(),
            plural: "leases".to_owned(),
            scope: Scope::Namespaced,
            verbs: ["create", "get", "update"].map(str::to_owned).into(),
        };
        let (term, held, observed, problem) = (None, None, None, None);
        let elector = Self { cluster, kind, settings, validity, term, held, observed, problem };
        (elector, Leadership::new(receiver))
    }

    /// Takes and renews the Lease until `stop` is cancelled, and then releases it. The caller must end its own writes first. Ends within
    /// twice the time of a request.
    pub async fn run(mut self, stop: CancellationToken) {
        let LeaseSettings { namespace, name, .. } = &self.settings;
        let lease = format!("{namespace}/{name}");
        if self.cluster.session.options.write.is_dry_run {
            tracing::error!(lease, "A dry run cannot take a Lease, so this process does not lead");
            return stop.cancelled().await;
        }
        let mut was_leader = false;
        loop {
            let problem = self.attempt(&stop).await.err().map(|error| error_chain(&error));
            if let Some(problem) = problem.as_ref().filter(|_| problem != self.problem) {
                tracing::warn!(lease, "Leader election: {problem}");
            }
            self.problem = problem;
            let is_leader = self.validity.borrow().is_current();
            match (was_leader, is_leader) {
                (false, true) => tracing::info!(lease, "This process leads"),
                (true, false) => tracing::warn!(lease, "This process does not lead any more"),
                _ => {}
            }
            was_leader = is_leader;
            if stop.run_until_cancelled(sleep(self.settings.renew_interval)).await.is_none() {
                break;
            }
        }
        if let Err(error) = self.release().await {
            tracing::warn!(lease, "The Lease is not released: {}", error_chain(&error));
        }
    }

    /// Renews the Lease, or takes it if that is possible.
    async fn attempt(&mut self, stop: &CancellationToken) -> Result<(), LeaseError> {
        if let Some(held) = self.held.clone() {
            match self.renew(held).await {
                // An earlier renewal may be stored although it had no response, or another client has changed a label.
                Err(LeaseError::Write(error)) if error.kind == WriteErrorKind::Conflict => self.held = None,
                result => return result,
            }
        }
        let LeaseSettings { namespace, name, .. } = &self.settings;
        let read = async { Ok(self.cluster.get(&self.kind, namespace, name).await?) };
        let Some(lease) = stop.run_until_cancelled(self.in_time(read)).await else { return Ok(()) };
        let Some(lease) = lease?.map(Manifest::into_value) else {
            let metadata = json!({"namespace": namespace, "name": name});
            let lease = json!({"apiVersion": self.kind.api_version(), "kind": "Lease", "metadata": metadata});
            self.lose();
            let now = Instant::now();
            self.observed = self.observed.as_ref().map(|observed| Observation::missing(observed, now));
            if self.observed.as_ref().is_some_and(|observed| !may_take(observed, now)) {
                return Ok(());
            }
            return self.take(lease, 0, Claim::Create).await;
        };
        if self.term.is_some() && self.term_of(&lease) == self.term {
            return self.renew(lease).await;
        }
        self.lose();
        let now = Instant::now();
        let observed = Observation::new(&lease, self.observed.as_ref(), self.settings.duration, now);
        if observed.is_new_holder {
            let holder = &observed.holder;
            tracing::info!(holder, name = self.settings.name, "Another process holds the Lease");
        }
        let is_free = may_take(&observed, now);
        self.observed = Some(observed);
        if !is_free {
            return Ok(());
        }
        let transitions = lease["spec"]["leaseTransitions"].as_u64().unwrap_or_default();
        self.take(lease, transitions + 1, Claim::Replace).await
    }

    /// Writes the Lease of the current term.
    async fn renew(&mut self, lease: Value) -> Result<(), LeaseError> {
        let renewed = with_spec(lease, json!({"renewTime": self.now()}));
        self.claim(renewed, Claim::Replace).await
    }

    /// Writes a Lease for a new term. A lost race is not an error.
    async fn take(&mut self, lease: Value, transitions: u64, claim: Claim) -> Result<(), LeaseError> {
        let now = self.now();
        let spec = json!({
            "holderIdentity": self.settings.identity,
            "leaseDurationSeconds": seconds(self.settings.duration),
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": transitions
        });
        self.term = Some(Term { acquire_time: now, transitions });
        match self.claim(with_spec(lease, spec), claim).await {
            Err(LeaseError::Write(WriteError {
                kind: WriteErrorKind::Conflict | WriteErrorKind::AlreadyExists,
                ..
            })) => {
                self.lose();
                Ok(())
            }
            result => result,
        }
    }

    /// Writes a Lease that names this process. The time of the leadership begins before the request.
    async fn claim(&mut self, lease: Value, claim: Claim) -> Result<(), LeaseError> {
        let begin = Instant::now();
        let written = self.write(&lease, claim).await?;
        if claim == Claim::Replace && written.is_created {
            // The Lease was deleted, and another process may have led since then. Servers refuse this because of the `uid`.
            self.lose();
            return Ok(());
        }
        self.held = Some(written.object);
        self.observed = None;
        let time = self.settings.renew_deadline.min(self.settings.duration);
        self.validity.send_replace(Validity::Until(begin + time));
        Ok(())
    }

    async fn write(&self, lease: &Value, claim: Claim) -> Result<Written, LeaseError> {
        let (cluster, kind, LeaseSettings { namespace, name, .. }) =
            (&self.cluster, &self.kind, &self.settings);
        let write = async {
            Ok(match claim {
                Claim::Create => {
                    let object = cluster.create(kind, namespace, lease).await?;
                    Written { object, is_created: true }
                }
                Claim::Replace => cluster.replace(kind, namespace, name, ObjectPart::Main, lease).await?,
            })
        };
        self.in_time(write).await
    }

    /// Ends the leadership, and permits the next candidate to take the Lease at once.
    async fn release(mut self) -> Result<(), LeaseError> {
        let held = self.held.take();
        self.lose();
        let Some(held) = held else { return Ok(()) };
        let spec = json!({"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": self.now()});
        match self.write(&with_spec(held, spec), Claim::Replace).await {
            // Another process has it already.
            Err(LeaseError::Write(error)) if error.kind == WriteErrorKind::Conflict => Ok(()),
            result => result.map(drop),
        }
    }

    fn lose(&mut self) {
        (self.term, self.held) = (None, None);
        self.validity.send_replace(Validity::Never);
    }

    /// Returns the term of a Lease of this process.
    fn term_of(&self, lease: &Value) -> Option<Term> {
        let spec = &lease["spec"];
        let acquire_time = spec["acquireTime"].as_str()?.to_owned();
        let transitions = spec["leaseTransitions"].as_u64()?;
        (spec["holderIdentity"] == self.settings.identity).then_some(Term { acquire_time, transitions })
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, LeaseError>>) -> Result<T, LeaseError> {
        let time = self.settings.renew_deadline / 2;
        timeout(time, work).await.unwrap_or(Err(LeaseError::Timeout(time)))
    }

    fn now(&self) -> String {
        micro_time((self.settings.clock)())
    }
}

/// Returns a Lease with fields of its `spec` replaced.
fn with_spec(mut lease: Value, fields: Value) -> Value {
    let spec = lease.get_mut("spec").map(Value::take);
    let [spec, fields] = [spec.unwrap_or_default(), fields].map(|value| match value {
        Value::Object(map) => map,
        _ => Map::new(),
    });
    lease["spec"] = spec.into_iter().chain(fields).collect();
    lease
}

/// Returns a time as the server expects it, with six fractional digits.
fn micro_time(time: SystemTime) -> String {
    format!("{:.6}", Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// Returns a duration in seconds, rounded up, at least 1.
fn seconds(duration: Duration) -> u64 {
    (duration.as_secs() + u64::from(duration.subsec_nanos() > 0)).max(1)
}

fn error_chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(error.source(), |source| source.source());
    sources.fold(error.to_string(), |text, source| format!("{text}: {source}"))
}

#[cfg(test)]
mod tests;
