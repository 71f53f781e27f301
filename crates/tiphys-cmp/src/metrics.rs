//! The metrics of the plugin server.
//!
//! No label has a value that an application, a repository or a caller chose. So the number of series is fixed, and no label contains a
//! secret. Values that other parts know anyway (the store, the queue, the process) are read at each scrape: [`ServerGauges`].

mod gauges;
mod labels;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};
use strum::VariantArray as _;
use tiphys_plugin::{CommandEnd, Observer, Phase};
use tonic::Code;

pub use gauges::{Build, ServerGauges, StoreGauges};
pub(crate) use labels::{Method, Refusal, UploadKind, code_name};

use gauges::{SampleCollector, Sampler};
use labels::{Labels, Step};

/// Upper bounds of the histogram buckets in seconds, from a small answer of a warm server to the longest deadlines of callers.
const SECONDS: [f64; 17] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 90.0, 300.0];

/// Content type of the result of [`Metrics::encode`].
pub const METRICS_CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Durations of the steps of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UploadSteps {
    /// Waiting for another upload of the same bytes, or for an unpack slot.
    pub(crate) waited: Duration,
    /// From the first byte to the last one, without waiting.
    pub(crate) received: Duration,
    /// Unpacking after the last byte; `None` if nothing was unpacked.
    pub(crate) unpacked: Option<Duration>,
}

type Seconds = Family<Labels<1>, Histogram, fn() -> Histogram>;

/// The metrics of one plugin server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    sampler: Arc<OnceLock<Sampler>>,
    calls: Family<Labels<2>, Counter>,
    calls_running: Family<Labels<1>, Gauge>,
    call_seconds: Seconds,
    step_seconds: Seconds,
    commands: Family<Labels<2>, Counter>,
    received_bytes: Counter,
    uploads: Family<Labels<1>, Counter>,
    uploads_waiting: Gauge,
    uploads_unpacking: Gauge,
    refusals: Family<Labels<1>, Counter>,
    wait_seconds: Histogram,
    connections_open: Gauge,
    connections_full: Counter,
    connections_silent: Counter,
    connections_idle: Counter,
    accept_failures: Counter,
}

impl Metrics {
    /// Creates metrics. Every series exists from the start, so that a first failure is visible as an increase.
    pub fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("tiphys_cmp");
        let sampler = Arc::new(OnceLock::new());
        let mut registrar = Registrar(&mut registry);
        let mut metrics = Self {
            calls: registrar.count("calls", "Calls that have ended, by gRPC code", Family::default()),
            calls_running: registrar.count("calls_running", "Running calls", Family::default()),
            call_seconds: registrar.measure(
                "call",
                "Time from the beginning of a call to its answer",
                Unit::Seconds,
                Family::new_with_constructor(seconds),
            ),
            step_seconds: registrar.measure(
                "step",
                "Duration of one step of a call",
                Unit::Seconds,
                Family::new_with_constructor(seconds),
            ),
            commands: registrar.count(
                "commands",
                "Plugin commands that have ended, by result",
                Family::default(),
            ),
            received_bytes: registrar.measure(
                "received",
                "Compressed bytes of received archives",
                Unit::Bytes,
                Counter::default(),
            ),
            uploads: registrar.count(
                "uploads",
                "Received archives, by whether their tree was in the store",
                Family::default(),
            ),
            uploads_waiting: registrar.count(
                "uploads_waiting",
                "Uploads that wait for another one of the same bytes, or for an unpack slot",
                Gauge::default(),
            ),
            uploads_unpacking: registrar.count(
                "uploads_unpacking",
                "Uploads that are being unpacked",
                Gauge::default(),
            ),
            refusals: registrar.count(
                "refusals",
                "Calls refused because of a limit, by limit",
                Family::default(),
            ),
            wait_seconds: registrar.measure(
                "queue_wait",
                "Time that a run waited in the queue",
                Unit::Seconds,
                seconds(),
            ),
            connections_open: registrar.count("connections_open", "Open connections", Gauge::default()),
            connections_full: registrar.count(
                "connections_full",
                "Times that callers had to wait because the maximum number of connections was open",
                Counter::default(),
            ),
            connections_silent: registrar.count(
                "connections_silent",
                "Connections that were closed because they sent no preface in time",
                Counter::default(),
            ),
            connections_idle: registrar.count(
                "connections_idle",
                "Connections that were closed because they had no call for too long",
                Counter::default(),
            ),
            accept_failures: registrar.count(
                "accept_failures",
                "Times that the system refused to accept a connection",
                Counter::default(),
            ),
            sampler: Arc::clone(&sampler),
            registry: Registry::default(),
        };
        registry.register_collector(Box::new(SampleCollector(sampler)));
        metrics.registry = registry;
        metrics.create_series();
        Arc::new(metrics)
    }

    /// Creates all series with the value zero.
    fn create_series(&self) {
        for &method in Method::VARIANTS {
            drop(self.calls_running.get_or_create(&[("method", method.into())]));
            drop(self.call_seconds.get_or_create(&[("method", method.into())]));
            drop(self.calls.get_or_create(&[("method", method.into()), ("code", code_name(Code::Ok))]));
        }
        for &step in Step::VARIANTS {
            drop(self.step_seconds.get_or_create(&[("step", step.into())]));
        }
        for &upload in UploadKind::VARIANTS {
            drop(self.uploads.get_or_create(&[("upload", upload.into())]));
        }
        for &bound in Refusal::VARIANTS {
            drop(self.refusals.get_or_create(&[("bound", bound.into())]));
        }
    }

    /// Sets the source of the values that are read at each scrape. It must be fast. Without it those series are missing. Only the first
    /// call has an effect.
    pub fn sample(&self, build: Build, levels: impl Fn() -> ServerGauges + Send + Sync + 'static) {
        drop(self.sampler.set(Sampler { build, levels: Box::new(levels) }));
    }

    /// Returns the metrics in the format of [`METRICS_CONTENT_TYPE`].
    pub fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// Records that a call begins.
    pub(crate) fn call(self: &Arc<Self>, method: Method) -> CallTimer {
        self.calls_running.get_or_create(&[("method", method.into())]).inc();
        CallTimer { metrics: Arc::clone(self), method, began: Instant::now(), code: Code::Cancelled }
    }

    /// Counts received bytes of an archive, complete or not.
    pub(crate) fn received(&self, bytes: u64) {
        self.received_bytes.inc_by(bytes);
    }

    /// Records the steps of an upload that was received completely and has its checksum.
    pub(crate) fn uploaded(&self, steps: UploadSteps) {
        let UploadSteps { waited, received, unpacked } = steps;
        self.step(Step::Wait, waited);
        self.step(Step::Receive, received);
        if let Some(unpacked) = unpacked {
            self.step(Step::Unpack, unpacked);
        }
    }

    /// Counts an upload whose tree or entries are available.
    pub(crate) fn unpacked(&self, upload: UploadKind) {
        self.uploads.get_or_create(&[("upload", upload.into())]).inc();
    }

    /// Counts an upload that waits for others until the result is dropped.
    pub(crate) fn upload_waiting(&self) -> GaugeGuard {
        GaugeGuard::new(&self.uploads_waiting)
    }

    /// Counts an upload that is being unpacked until the result is dropped.
    pub(crate) fn upload_unpacking(&self) -> GaugeGuard {
        GaugeGuard::new(&self.uploads_unpacking)
    }

    /// Counts an open connection until the result is dropped.
    pub(crate) fn connection(&self) -> GaugeGuard {
        GaugeGuard::new(&self.connections_open)
    }

    /// Counts that no connection is accepted until another one ends.
    pub(crate) fn connections_full(&self) {
        self.connections_full.inc();
    }

    /// Counts a connection that is closed because it sent no preface.
    pub(crate) fn connection_silent(&self) {
        self.connections_silent.inc();
    }

    /// Counts a connection that is closed because it had no call.
    pub(crate) fn connection_idle(&self) {
        self.connections_idle.inc();
    }

    /// Counts a failed `accept`.
    pub(crate) fn accept_failed(&self) {
        self.accept_failures.inc();
    }

    /// Counts a call that was refused because of a limit.
    pub(crate) fn refused(&self, bound: Refusal) {
        self.refusals.get_or_create(&[("bound", bound.into())]).inc();
    }

    fn step(&self, step: Step, took: Duration) {
        self.step_seconds.get_or_create(&[("step", step.into())]).observe(took.as_secs_f64());
    }
}

impl Observer for Metrics {
    fn command_ended(&self, phase: Phase, took: Duration, ended: CommandEnd) {
        let step = Step::from(phase);
        self.commands.get_or_create(&[("step", step.into()), ("ended", ended.into())]).inc();
        self.step(step, took);
    }

    fn output_parsed(&self, took: Duration) {
        self.step(Step::Parse, took);
    }

    fn waited(&self, took: Duration) {
        self.wait_seconds.observe(took.as_secs_f64());
    }

    fn refused(&self) {
        Self::refused(self, Refusal::Queue);
    }
}

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

/// Registers metrics in the order of their creation.
struct Registrar<'a>(&'a mut Registry);

impl Registrar<'_> {
    /// Registers a metric without a unit.
    fn count<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.0.register(name, help, metric.clone());
        metric
    }

    /// Registers a metric with a unit, which is appended to its name.
    fn measure<M: Metric + Clone>(&mut self, name: &str, help: &str, unit: Unit, metric: M) -> M {
        self.0.register_with_unit(name, help, unit, metric.clone());
        metric
    }
}

/// Increments a gauge until it is dropped.
#[derive(Debug)]
#[must_use = "it counts only until it is dropped"]
pub(crate) struct GaugeGuard(Gauge);

impl GaugeGuard {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// A running call. If it is dropped without a code, the caller cancelled it (`Cancelled` in gRPC).
#[derive(Debug)]
#[must_use = "the call ends when the timer is dropped"]
pub(crate) struct CallTimer {
    metrics: Arc<Metrics>,
    method: Method,
    began: Instant,
    code: Code,
}

impl CallTimer {
    /// Records the answer of the call.
    pub(crate) fn finish(mut self, code: Code) {
        self.code = code;
    }
}

impl Drop for CallTimer {
    fn drop(&mut self) {
        let Self { metrics, method, began, code } = self;
        metrics.calls_running.get_or_create(&[("method", (*method).into())]).dec();
        metrics.calls.get_or_create(&[("method", (*method).into()), ("code", code_name(*code))]).inc();
        metrics
            .call_seconds
            .get_or_create(&[("method", (*method).into())])
            .observe(began.elapsed().as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
