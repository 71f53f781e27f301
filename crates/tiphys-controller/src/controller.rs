//! The controller's life: watches, leadership, and concurrent reconciles.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tiphys_kube::{Elector, KubeCluster, KubeConnection, KubeOptions, Leadership, WriteOptions};
use tiphys_service::Service;
use tokio::task::{Id, JoinSet};
use tokio::time::{sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;
use crate::object::{ObjectName, Watched};
use crate::options::ControllerOptions;
use crate::others::{FIELD_MANAGER, holds_lease};
use crate::queue::{Ended, Next};
use crate::reconcile::Reconciler;
use crate::state::State;
use crate::turn::{Turn, Turns};
use crate::watches::follow;
use crate::webhook::Webhooks;

/// Time for running reconciles to end after the controller was asked to stop.
const SHUTDOWN_MAX: Duration = Duration::from_secs(10);

/// An ApplicationSet controller.
pub struct Controller {
    reconciler: Arc<Reconciler>,
    state: Arc<State>,
    elector: Option<Elector>,
    leadership: Leadership,
    turns: Turns,
}

/// A view of a controller.
#[derive(Clone, Debug)]
pub struct ControllerStatus {
    state: Arc<State>,
    metrics: Arc<Metrics>,
}

impl ControllerStatus {
    /// Whether all watched objects are known.
    pub fn is_ready(&self) -> bool {
        self.state.is_synced()
    }

    /// Returns the metrics, of the type [`METRICS_CONTENT_TYPE`](crate::METRICS_CONTENT_TYPE).
    pub fn metrics(&self) -> String {
        self.metrics.encode()
    }
}

impl Controller {
    /// Creates a controller. Without leader election, it waits for the lease all the same if another process holds it now.
    pub async fn new(
        service: Service,
        connection: &KubeConnection,
        limits: KubeOptions,
        options: ControllerOptions,
    ) -> Self {
        let write = WriteOptions { field_manager: FIELD_MANAGER.to_owned(), is_dry_run: options.is_dry_run };
        let limits = KubeOptions { write, ..limits };
        let cluster = |request_timeout| {
            let limits = KubeOptions { request_timeout, ..limits.clone() };
            Arc::new(KubeCluster::new(connection.clone(), limits))
        };
        let (reader, mut writer) = (cluster(limits.request_timeout), cluster(limits.request_timeout));
        let lease = &options.lease;
        // A dry run cannot write a lease, and changes nothing.
        let is_elected = !options.is_dry_run
            && (options.is_elected || holds_lease(&reader, lease, Timestamp::now()).await);
        let (elector, leadership) = if is_elected {
            if !options.is_elected {
                tracing::warn!(
                    lease = lease.name,
                    "another controller holds the lease, so this one takes part in the election"
                );
            }
            // A write must end before another process may take the lease.
            writer = cluster(lease.duration.saturating_sub(lease.renew_deadline));
            // Renewals must not wait for other requests.
            let (elector, leadership) = Elector::new(cluster(limits.request_timeout), lease.clone());
            (Some(elector), leadership)
        } else {
            (None, Leadership::always())
        };
        let state = Arc::new(State::default());
        let turns = Turns::new(options.concurrent_reconciliations);
        let reconciler = Reconciler {
            service,
            reader,
            writer,
            connection: connection.clone(),
            limits,
            options,
            metrics: Arc::new(Metrics::new(Arc::clone(&state), leadership.clone())),
            state: Arc::clone(&state),
            leadership: leadership.clone(),
            started: Timestamp::now(),
        };
        Self { reconciler: Arc::new(reconciler), state, elector, leadership, turns }
    }

    /// Returns a view of the controller for probes and collectors.
    pub fn status(&self) -> ControllerStatus {
        ControllerStatus { state: Arc::clone(&self.state), metrics: Arc::clone(&self.reconciler.metrics) }
    }

    /// Returns the receiver of webhooks.
    pub fn webhooks(&self) -> Webhooks {
        Webhooks { reconciler: Arc::clone(&self.reconciler) }
    }

    /// Follows the cluster and reconciles sets until `stop`. Running reconciles end then, and the lease is released after the last write. The
    /// error is that of a part which must not end before.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), PartEnded> {
        let mut watches = JoinSet::new();
        let Reconciler { reader, options, .. } = &*self.reconciler;
        for kind in Watched::ALL {
            let namespaces = options.namespaces.clone();
            watches.spawn(follow(
                Arc::clone(reader),
                kind,
                namespaces,
                options.relist,
                Arc::clone(&self.state),
            ));
        }
        let release = CancellationToken::new();
        let mut electing = JoinSet::new();
        if let Some(elector) = self.elector.take() {
            electing.spawn(elector.run(release.clone()));
        }
        let mut running = Running::default();
        let mut result = Ok(());
        while !stop.is_cancelled() && result.is_ok() {
            result = tokio::select! {
                () = self.start_due(&mut running, &stop) => Ok(()),
                Some(_) = watches.join_next() => Err(PartEnded("a watch")),
                Some(_) = electing.join_next() => Err(PartEnded("the leader election")),
            };
        }
        stop.cancel();
        let ended = async { while running.tasks.join_next().await.is_some() {} };
        if timeout(SHUTDOWN_MAX, ended).await.is_err() {
            tracing::warn!("reconciles did not end within {SHUTDOWN_MAX:?} and are abandoned");
            running.tasks.shutdown().await;
        }
        release.cancel();
        electing.join_all().await;
        result
    }

    /// Starts a set that is due, or waits until something changes.
    async fn start_due(&mut self, running: &mut Running, stop: &CancellationToken) {
        let may_start = self.state.is_synced() && self.leadership.is_leader();
        let mut wake = None;
        if may_start && let Some(turn) = self.turns.take() {
            match self.state.next() {
                Next::Reconcile(set) => {
                    let task = reconcile(Arc::clone(&self.reconciler), set.clone(), turn, stop.clone());
                    running.sets.insert(running.tasks.spawn(task).id(), set);
                    return;
                }
                Next::Wait(at) => wake = Some(at),
                Next::Idle => {}
            }
        }
        let timer = async {
            match wake {
                Some(at) => sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.state.changed.notified() => {}
            _is_leader = self.leadership.changed() => {}
            Some(ended) = running.tasks.join_next_with_id() => {
                let (id, result) = match ended {
                    Ok((id, result)) => (id, result),
                    Err(error) => {
                        tracing::error!("a reconcile ended unexpectedly: {error}");
                        (error.id(), Ended::Failed)
                    }
                };
                if let Some(set) = running.sets.remove(&id) {
                    self.state.done(&set, result);
                }
            }
            () = timer => {}
        }
    }
}

/// A part of the controller ended that never should.
#[derive(Debug, thiserror::Error)]
#[error("{0} ended unexpectedly; this is a bug")]
pub struct PartEnded(&'static str);

/// The running reconciles, and the set of each: one that panics must not stop its set for ever.
#[derive(Default)]
struct Running {
    tasks: JoinSet<Ended>,
    sets: HashMap<Id, ObjectName>,
}

async fn reconcile(
    reconciler: Arc<Reconciler>,
    set: ObjectName,
    mut turn: Turn,
    stop: CancellationToken,
) -> Ended {
    let started = Instant::now();
    let ended = reconciler.reconcile(&set, &mut turn, &stop).await;
    match ended {
        Ended::Gone => reconciler.metrics.forget(&set),
        Ended::Succeeded(_) | Ended::Failed => reconciler.metrics.reconciled(&set, started.elapsed()),
    }
    tracing::debug!(applicationset = %set, duration = ?started.elapsed(), "reconciled");
    ended
}
