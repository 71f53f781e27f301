//! The metrics of the controller: Argo CD's, by their names and labels, and our own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tiphys_kube::Leadership;

use crate::object::ObjectName;
use crate::state::State;

/// Upper bounds of the histogram in seconds, those that Prometheus' Go client has by default.
const SECONDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Content type of the result of [`ControllerStatus::metrics`](crate::ControllerStatus::metrics).
pub const METRICS_CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Labels = Vec<(&'static str, String)>;

/// The metrics of one controller.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    reconciles: Family<Labels, Histogram, fn() -> Histogram>,
    generations: Counter,
}

impl Metrics {
    pub(crate) fn new(state: Arc<State>, leadership: Leadership) -> Self {
        let mut registry = Registry::default();
        let reconciles = Family::new_with_constructor((|| Histogram::new(SECONDS)) as fn() -> Histogram);
        let help = "Application reconciliation performance in seconds";
        registry.register("argocd_appset_reconcile", help, reconciles.clone());
        let generations = Counter::default();
        let help = "Times that the generators of a set were asked";
        registry.register("tiphys_appset_generations", help, generations.clone());
        registry.register_collector(Box::new(StateCollector { state, leadership }));
        Self { registry, reconciles, generations }
    }

    /// Counts a reconcile.
    pub(crate) fn reconciled(&self, set: &ObjectName, duration: Duration) {
        self.reconciles.get_or_create(&labels(set)).observe(duration.as_secs_f64());
    }

    /// Counts that the generators of a set were asked.
    pub(crate) fn generated(&self) {
        self.generations.inc();
    }

    /// Removes the series of a set that does not exist any more.
    pub(crate) fn forget(&self, set: &ObjectName) {
        self.reconciles.remove(&labels(set));
    }

    /// Returns the metrics as `OpenMetrics` text.
    pub(crate) fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _written: fmt::Result = encode(&mut text, &self.registry);
        text
    }
}

fn labels(set: &ObjectName) -> Labels {
    vec![("namespace", set.namespace.clone()), ("name", set.name.clone())]
}

/// Reads the state at each scrape.
#[derive(Debug)]
struct StateCollector {
    state: Arc<State>,
    leadership: Leadership,
}

impl Collector for StateCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let sets = self.state.cache.set_counts();
        let help = "Information about applicationset";
        let mut info = encoder.encode_descriptor("argocd_appset_info", help, None, MetricType::Gauge)?;
        for (set, status, _) in &sets {
            let labels = [labels(set), vec![("resource_update_status", status.clone())]].concat();
            ConstGauge::new(1).encode(info.encode_family(&labels)?)?;
        }
        let help = "Number of applications owned by the applicationset";
        let name = "argocd_appset_owned_applications";
        let mut owned = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (set, _, applications) in &sets {
            ConstGauge::new(i64::from(*applications)).encode(owned.encode_family(&labels(set))?)?;
        }
        let queued = i64::try_from(self.state.queued()).unwrap_or(i64::MAX);
        for (name, help, value) in [
            ("tiphys_appset_queue_length", "Sets that are due or being reconciled", queued),
            (
                "tiphys_appset_leader",
                "Whether this process may write",
                i64::from(self.leadership.is_leader()),
            ),
        ] {
            let gauge = ConstGauge::new(value);
            gauge.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)?;
        }
        Ok(())
    }
}
