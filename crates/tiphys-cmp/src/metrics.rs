//! What the plugin server counts, and its text for a scrape.
//!
//! No label has a value that an application, a repository or a caller chose, so the number of series is fixed, and nothing secret can be
//! in one. What other parts know anyway (the store, the queue, the process) is asked at each scrape: [`Levels`].

mod labels;
mod levels;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};
use tiphys_plugin::{CommandEnd, Observer, Phase};
use tonic::Code;

pub(crate) use labels::{Method, Refusal, Upload, code_name};
pub use levels::{Build, Levels, StoreLevels};

use labels::{
    CallLabels, CommandLabels, EndLabel, MethodLabels, RefusalLabels, Step, StepLabels, UploadLabels,
};
use levels::{Sampled, Sampler};

/// Upper bounds of the histograms, in seconds: from a small answer of a warm server to the longest deadlines that callers set.
const SECONDS: [f64; 17] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 90.0, 300.0];

/// What the content type of [`Metrics::encode`]'s text is.
pub const METRICS_CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Where the time of an upload went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UploadSteps {
    /// Waiting for another upload of the same bytes, or for a place to be unpacked.
    pub(crate) waited: Duration,
    /// From the first byte to the end, without waiting in between.
    pub(crate) received: Duration,
    /// What unpacking took after the end; none if nothing was unpacked.
    pub(crate) unpacked: Option<Duration>,
}

type Seconds<L> = Family<L, Histogram, fn() -> Histogram>;

/// The metrics of one plugin server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    sampler: Arc<OnceLock<Sampler>>,
    calls: Family<CallLabels, Counter>,
    calls_running: Family<MethodLabels, Gauge>,
    call_seconds: Seconds<MethodLabels>,
    step_seconds: Seconds<StepLabels>,
    commands: Family<CommandLabels, Counter>,
    received_bytes: Counter,
    uploads: Family<UploadLabels, Counter>,
    uploads_waiting: Gauge,
    uploads_unpacking: Gauge,
    refusals: Family<RefusalLabels, Counter>,
    wait_seconds: Histogram,
    connections_open: Gauge,
    connections_full: Counter,
    connections_silent: Counter,
    connections_idle: Counter,
    accept_failures: Counter,
}

impl Metrics {
    /// Metrics that have counted nothing. Every series that can be is there from the start, so that a first failure is seen as a rise.
    pub fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("tiphys_cmp");
        let sampler = Arc::new(OnceLock::new());
        let mut made = Made(&mut registry);
        let mut metrics = Self {
            calls: made.count("calls", "Calls that have ended, by gRPC code", Family::default()),
            calls_running: made.count("calls_running", "Calls under way", Family::default()),
            call_seconds: made.measure(
                "call",
                "Time from the beginning of a call to its answer",
                Unit::Seconds,
                Family::new_with_constructor(seconds),
            ),
            step_seconds: made.measure(
                "step",
                "Time that one step of a call took",
                Unit::Seconds,
                Family::new_with_constructor(seconds),
            ),
            commands: made.count("commands", "Plugin commands that have ended, by how", Family::default()),
            received_bytes: made.measure(
                "received",
                "Bytes of archives received, as they came over the socket",
                Unit::Bytes,
                Counter::default(),
            ),
            uploads: made.count(
                "uploads",
                "Archives received, by whether their tree was in the store already",
                Family::default(),
            ),
            uploads_waiting: made.count(
                "uploads_waiting",
                "Uploads that wait for another one of the same bytes, or for a place to be unpacked",
                Gauge::default(),
            ),
            uploads_unpacking: made.count(
                "uploads_unpacking",
                "Uploads that are being unpacked",
                Gauge::default(),
            ),
            refusals: made.count("refusals", "Calls refused because of a bound, by which", Family::default()),
            wait_seconds: made.measure(
                "queue_wait",
                "Time that a run waited for its turn",
                Unit::Seconds,
                seconds(),
            ),
            connections_open: made.count(
                "connections_open",
                "Connections of callers that are open",
                Gauge::default(),
            ),
            connections_full: made.count(
                "connections_full",
                "Times that callers had to wait because so many connections were open as there may be",
                Counter::default(),
            ),
            connections_silent: made.count(
                "connections_silent",
                "Connections that were closed because they had not begun to speak in time",
                Counter::default(),
            ),
            connections_idle: made.count(
                "connections_idle",
                "Connections that were closed because they had no call for too long",
                Counter::default(),
            ),
            accept_failures: made.count(
                "accept_failures",
                "Times that the system did not let a connection be accepted",
                Counter::default(),
            ),
            sampler: Arc::clone(&sampler),
            registry: Registry::default(),
        };
        registry.register_collector(Box::new(Sampled(sampler)));
        metrics.registry = registry;
        metrics.create_series();
        Arc::new(metrics)
    }

    /// Counts at zero, for all that can be counted.
    fn create_series(&self) {
        for &method in Method::ALL {
            drop(self.calls_running.get_or_create(&MethodLabels { method }));
            drop(self.call_seconds.get_or_create(&MethodLabels { method }));
            drop(self.calls.get_or_create(&CallLabels::new(method, Code::Ok)));
        }
        for &step in Step::ALL {
            drop(self.step_seconds.get_or_create(&StepLabels { step }));
        }
        for &upload in Upload::ALL {
            drop(self.uploads.get_or_create(&UploadLabels { upload }));
        }
        for &bound in Refusal::ALL {
            drop(self.refusals.get_or_create(&RefusalLabels { bound }));
        }
    }

    /// Says what is asked at each scrape, once; it must be quick. Without it those lines are missing.
    pub fn sample(&self, build: Build, levels: impl Fn() -> Levels + Send + Sync + 'static) {
        // A second one would be a second server in this process, whose levels the first cannot speak for.
        drop(self.sampler.set(Sampler { build, levels: Box::new(levels) }));
    }

    /// The text of a scrape, in the form of [`METRICS_CONTENT_TYPE`].
    pub fn encode(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// A call has begun.
    pub(crate) fn call(self: &Arc<Self>, method: Method) -> CallTimer {
        self.calls_running.get_or_create(&MethodLabels { method }).inc();
        CallTimer { metrics: Arc::clone(self), method, began: Instant::now(), code: Code::Cancelled }
    }

    /// So many bytes of an archive have come over the socket, be it whole or not.
    pub(crate) fn received(&self, bytes: u64) {
        self.received_bytes.inc_by(bytes);
    }

    /// An upload was received whole and is what it was said to be.
    pub(crate) fn uploaded(&self, steps: UploadSteps) {
        let UploadSteps { waited, received, unpacked } = steps;
        self.step(Step::Wait, waited);
        self.step(Step::Receive, received);
        if let Some(unpacked) = unpacked {
            self.step(Step::Unpack, unpacked);
        }
    }

    /// The tree of an upload, or what else was wanted of it, is there.
    pub(crate) fn unpacked(&self, upload: Upload) {
        self.uploads.get_or_create(&UploadLabels { upload }).inc();
    }

    /// An upload waits for others until what is returned is dropped.
    pub(crate) fn upload_waiting(&self) -> OneMore {
        OneMore::new(&self.uploads_waiting)
    }

    /// An upload is unpacked until what is returned is dropped.
    pub(crate) fn upload_unpacking(&self) -> OneMore {
        OneMore::new(&self.uploads_unpacking)
    }

    /// A connection is open until what is returned is dropped.
    pub(crate) fn connection(&self) -> OneMore {
        OneMore::new(&self.connections_open)
    }

    /// Nobody is accepted until a connection ends.
    pub(crate) fn connections_full(&self) {
        self.connections_full.inc();
    }

    /// A connection is closed since it has not begun to speak.
    pub(crate) fn connection_silent(&self) {
        self.connections_silent.inc();
    }

    /// A connection is closed since it had no call for too long.
    pub(crate) fn connection_idle(&self) {
        self.connections_idle.inc();
    }

    /// The system did not let a connection be accepted.
    pub(crate) fn accept_failed(&self) {
        self.accept_failures.inc();
    }

    /// A call was refused because of a bound.
    pub(crate) fn refused(&self, bound: Refusal) {
        self.refusals.get_or_create(&RefusalLabels { bound }).inc();
    }

    fn step(&self, step: Step, took: Duration) {
        self.step_seconds.get_or_create(&StepLabels { step }).observe(took.as_secs_f64());
    }
}

impl Observer for Metrics {
    fn command_ended(&self, phase: Phase, took: Duration, ended: CommandEnd) {
        let step = Step::from(phase);
        self.commands.get_or_create(&CommandLabels { step, ended: EndLabel(ended) }).inc();
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

/// What makes metrics: each is in the registry as soon as it is made, and stands in a scrape in that order.
struct Made<'a>(&'a mut Registry);

impl Made<'_> {
    /// A number of things.
    fn count<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.0.register(name, help, metric.clone());
        metric
    }

    /// An amount of a unit, which is added to the name.
    fn measure<M: Metric + Clone>(&mut self, name: &str, help: &str, unit: Unit, metric: M) -> M {
        self.0.register_with_unit(name, help, unit, metric.clone());
        metric
    }
}

/// One more in a gauge while this is there.
#[derive(Debug)]
#[must_use = "it counts only while it is there"]
pub(crate) struct OneMore(Gauge);

impl OneMore {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for OneMore {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// A call under way. One that is dropped without a code was given up by its caller, which is what gRPC calls `Cancelled`.
#[derive(Debug)]
#[must_use = "the call ends when the timer does"]
pub(crate) struct CallTimer {
    metrics: Arc<Metrics>,
    method: Method,
    began: Instant,
    code: Code,
}

impl CallTimer {
    /// The call has been answered.
    pub(crate) fn finish(mut self, code: Code) {
        self.code = code;
    }
}

impl Drop for CallTimer {
    fn drop(&mut self) {
        let Self { metrics, method, began, code } = self;
        metrics.calls_running.get_or_create(&MethodLabels { method: *method }).dec();
        metrics.calls.get_or_create(&CallLabels::new(*method, *code)).inc();
        metrics
            .call_seconds
            .get_or_create(&MethodLabels { method: *method })
            .observe(began.elapsed().as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
