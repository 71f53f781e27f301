//! The machine of a measurement, without which figures have no meaning.

use std::fs;

use serde::Serialize;

/// The properties of the machine.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Machine {
    processor: String,
    processors: usize,
    memory_mebibytes: u64,
    kernel: String,
    file_system: &'static str,
    /// Load average of the last minute.
    load: String,
}

impl Machine {
    /// Reads the properties of this machine. An unknown one is `?`.
    pub(super) fn here() -> Self {
        let field = |file: &str, name: &str| {
            let text = fs::read_to_string(file).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'));
            line.map_or_else(|| "?".to_owned(), |(_, value)| value.trim().to_owned())
        };
        let memory = field("/proc/meminfo", "MemTotal");
        let kibibytes: u64 = memory.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
        Self {
            processor: field("/proc/cpuinfo", "model name"),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mebibytes: kibibytes / 1024,
            kernel: first_word("/proc/sys/kernel/osrelease"),
            file_system: "tmpfs",
            load: load(),
        }
    }

    /// One line.
    pub(super) fn line(&self) -> String {
        let Self { processor, processors, memory_mebibytes, kernel, file_system, load } = self;
        let memory = memory_mebibytes.div_ceil(1024);
        format!(
            "{processor}, {processors} processors, {memory} GiB, Linux {kernel}, {file_system}, load {load} before"
        )
    }
}

/// The load average of the last minute.
pub(super) fn load() -> String {
    first_word("/proc/loadavg")
}

fn first_word(file: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_owned()
}
