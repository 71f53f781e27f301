//! The values that the metrics read from the server at each scrape.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use tiphys_cmp::{Build, METRICS_CONTENT_TYPE, Metrics, ServerGauges, StoreGauges};
use tiphys_plugin::Slots;
use tiphys_tree::Store;
use tiphys_web::{Health, Observed};

use crate::build;
use crate::settings::now;

/// Whether calls are served.
#[derive(Clone, Debug, Default)]
pub(super) struct Serving(Arc<AtomicBool>);

impl Serving {
    /// Sets it to true.
    pub(super) fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Sets it to false.
    pub(super) fn end(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    fn now(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The server's metrics and health, for its HTTP endpoint.
#[derive(Debug)]
pub(super) struct ServerObserved {
    metrics: Arc<Metrics>,
    serving: Serving,
}

impl ServerObserved {
    /// Registers these parts as the source of the gauges.
    pub(super) fn new(
        metrics: Arc<Metrics>,
        store: &Arc<Store>,
        slots: &Arc<Slots>,
        serving: Serving,
    ) -> Self {
        let (store, slots, asked) = (Arc::clone(store), Arc::clone(slots), serving.clone());
        metrics.sample(build(), move || {
            let stats = store.stats();
            let process = Process::this();
            ServerGauges {
                serving: asked.now(),
                waiting: count(slots.waiting()),
                running: count(slots.running()),
                store: StoreGauges {
                    trees: stats.trees,
                    files: stats.files,
                    bytes: stats.bytes,
                    evicted: stats.evicted,
                },
                resident_bytes: process.resident_bytes,
                descriptors: process.descriptors,
                threads: process.threads,
                processes: process.processes,
            }
        });
        Self { metrics, serving }
    }
}

impl Observed for ServerObserved {
    fn metrics(&self) -> String {
        self.metrics.encode()
    }

    fn content_type(&self) -> &'static str {
        METRICS_CONTENT_TYPE
    }

    fn health(&self) -> Health {
        if self.serving.now() { Health::Serving } else { Health::NotServing }
    }
}

fn build() -> Build {
    Build {
        version: build::VERSION.to_owned(),
        commit: build::COMMIT.unwrap_or_default().to_owned(),
        started: now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Values of `/proc` for this process; empty on systems without it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Process {
    resident_bytes: Option<u64>,
    descriptors: Option<u64>,
    threads: Option<u64>,
    processes: Option<u64>,
}

impl Process {
    fn this() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        // Reading the directory opens a descriptor.
        let descriptors = entries(Path::new("/proc/self/fd"), |_| true).map(|count| count.saturating_sub(1));
        let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
        Self { descriptors, processes: entries(Path::new("/proc"), is_process), ..Self::of_status(&status) }
    }

    /// Parses lines `NAME: NUMBER`. Memory is in kB.
    fn of_status(status: &str) -> Self {
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        Self {
            resident_bytes: field("VmRSS").map(|kib| kib * 1024),
            threads: field("Threads"),
            ..Self::default()
        }
    }
}

fn entries(folder: &Path, counts: impl Fn(&str) -> bool) -> Option<u64> {
    let names = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Some(count(names.filter(|name| counts(name)).count()))
}

#[cfg(test)]
mod tests;
