//! Values that are read at each scrape.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Unit;

/// The build of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// Version of tiphys.
    pub version: String,
    /// Commit of the build; empty if unknown.
    pub commit: String,
    /// Start of the process since the Unix epoch.
    pub started: Duration,
}

/// Values of other parts at the time of a scrape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerGauges {
    /// Whether the server accepts calls.
    pub serving: bool,
    /// Runs that wait in the queue.
    pub waiting: u64,
    /// Running runs, including those that are being ended.
    pub running: u64,
    /// The content store.
    pub store: StoreGauges,
    /// Resident memory of this process; `None` if the system does not report it.
    pub resident_bytes: Option<u64>,
    /// Open descriptors of this process.
    pub descriptors: Option<u64>,
    /// Threads of this process.
    pub threads: Option<u64>,
    /// Visible processes of the container.
    pub processes: Option<u64>,
}

/// The content store at the time of a scrape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreGauges {
    /// Trees.
    pub trees: u64,
    /// Files of all trees.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Trees that were evicted since the start.
    pub evicted: u64,
}

pub(super) struct Sampler {
    pub(super) build: Build,
    pub(super) levels: Box<dyn Fn() -> ServerGauges + Send + Sync>,
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler").field("build", &self.build).finish_non_exhaustive()
    }
}

/// A collector that calls the sampler.
#[derive(Debug)]
pub(super) struct SampleCollector(pub(super) Arc<OnceLock<Sampler>>);

impl Collector for SampleCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(Sampler { build, levels }) = self.0.get() else { return Ok(()) };
        let ServerGauges {
            serving,
            waiting,
            running,
            store,
            resident_bytes,
            descriptors,
            threads,
            processes,
        } = levels();
        let mut lines = Lines { encoder: &mut encoder };
        lines.info(
            "build",
            "The program",
            vec![("version", build.version.clone()), ("commit", build.commit.clone())],
        )?;
        lines.seconds("start_time", "Start of the server since the Unix epoch", build.started)?;
        lines.gauge("serving", "Whether the server accepts calls", None, u64::from(serving))?;
        lines.gauge("queue_length", "Runs that wait in the queue", None, waiting)?;
        lines.gauge("runs", "Running runs, including those that are being ended", None, running)?;
        lines.gauge("store_trees", "Trees in the content store", None, store.trees)?;
        lines.gauge("store_files", "Files in the content store", None, store.files)?;
        lines.gauge("store", "Bytes of the content store", Some(&Unit::Bytes), store.bytes)?;
        lines.counter("store_evicted_trees", "Trees evicted to free space", store.evicted)?;
        if let Some(bytes) = resident_bytes {
            lines.gauge("process_resident", "Resident memory of the server", Some(&Unit::Bytes), bytes)?;
        }
        if let Some(count) = descriptors {
            lines.gauge("process_descriptors", "Open descriptors of the server", None, count)?;
        }
        if let Some(count) = threads {
            lines.gauge("process_threads", "Threads of the server", None, count)?;
        }
        if let Some(count) = processes {
            lines.gauge("processes", "Processes of the container, zombies included", None, count)?;
        }
        Ok(())
    }
}

struct Lines<'a, 'e> {
    encoder: &'a mut DescriptorEncoder<'e>,
}

impl Lines<'_, '_> {
    fn gauge(&mut self, name: &str, help: &str, unit: Option<&Unit>, value: u64) -> fmt::Result {
        self.write(name, help, unit, &ConstGauge::new(value))
    }

    fn seconds(&mut self, name: &str, help: &str, value: Duration) -> fmt::Result {
        self.write(name, help, Some(&Unit::Seconds), &ConstGauge::new(value.as_secs_f64()))
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.write(name, help, None, &ConstCounter::new(value))
    }

    fn info(&mut self, name: &str, help: &str, labels: Vec<(&'static str, String)>) -> fmt::Result {
        self.write(name, help, None, &Info::new(labels))
    }

    fn write(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        metric: &impl EncodeMetric,
    ) -> fmt::Result {
        let encoder = self.encoder.encode_descriptor(name, help, unit, metric.metric_type())?;
        metric.encode(encoder)
    }
}
