//! The machine of a measurement, without which figures have no meaning.

use std::fs;

/// Describes this machine on one line. An unknown property is `?`.
pub(super) fn line() -> String {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'));
        line.map_or_else(|| "?".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = field("/proc/cpuinfo", "model name");
    let memory = field("/proc/meminfo", "MemTotal");
    let memory = memory.trim_end_matches(" kB").parse::<u64>().unwrap_or(0).div_ceil(1 << 20);
    let kernel = first_word("/proc/sys/kernel/osrelease");
    format!(
        "{processor}, {processors} processors, {memory} GiB, Linux {kernel}, tmpfs, load {} before",
        load()
    )
}

/// The load average of the last minute.
pub(super) fn load() -> String {
    first_word("/proc/loadavg")
}

fn first_word(file: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_owned()
}
