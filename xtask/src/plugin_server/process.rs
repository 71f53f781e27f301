//! Resources of a process and its descendants, from `/proc`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};

use crate::Failure;

/// The ID of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessId(pub(crate) u32);

/// The resources of a process at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Descriptors and threads of the process itself.
    pub(crate) descriptors: u64,
    pub(crate) threads: u64,
    /// Descendants that run, and zombies.
    pub(crate) descendants: u64,
    pub(crate) zombies: u64,
    /// Memory of the process and its descendants. Shared memory counts once.
    pub(crate) resident_bytes: u64,
    /// Peak memory of the process itself.
    pub(crate) peak_bytes: u64,
    /// CPU time of the process and its descendants, with those that ended and were waited for.
    pub(crate) processor_time: Duration,
}

impl ProcessId {
    /// Reads the resources.
    pub(crate) fn look(self) -> Result<Look, Failure> {
        let folder = Path::new("/proc").join(self.0.to_string());
        let gone = || Failure::new(format!("the server, process {}, has ended", self.0));
        let own = Stat::of(self.0).ok_or_else(gone)?;
        let mut look = Look {
            descriptors: fs::read_dir(folder.join("fd")).map_err(|_| gone())?.count() as u64,
            threads: own.threads,
            peak_bytes: peak_bytes(&folder).ok_or_else(gone)?,
            ..Look::default()
        };
        let mut ticks = own.ticks;
        look.resident_bytes = proportional_bytes(self.0);
        for descendant in descendants(self.0) {
            ticks += descendant.ticks;
            look.resident_bytes += proportional_bytes(descendant.id);
            if descendant.is_zombie {
                look.zombies += 1;
            } else {
                look.descendants += 1;
            }
        }
        let ticks_per_second = system_value(SysconfVar::CLK_TCK)?;
        look.processor_time = Duration::from_millis(ticks * 1_000 / ticks_per_second);
        Ok(look)
    }
}

/// Counts files and directories below a directory, and the bytes of the files. Files that disappear meanwhile are not counted.
pub(crate) fn occupied(folder: &Path) -> (u64, u64) {
    let mut sum = (0, 0);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        let below = if metadata.is_dir() { occupied(&entry.path()) } else { (0, metadata.len()) };
        sum = (sum.0 + 1 + below.0, sum.1 + below.1);
    }
    sum
}

/// A line of `/proc/<pid>/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stat {
    id: u32,
    parent: u32,
    is_zombie: bool,
    threads: u64,
    ticks: u64,
}

impl Stat {
    fn of(id: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    fn parse(line: &str) -> Option<Self> {
        // The name may contain spaces and parentheses.
        let (id, rest) = line.split_once(" (")?;
        let (_, rest) = rest.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // Numbers of proc_pid_stat(5), of which the third comes first here.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            id: id.parse().ok()?,
            parent: u32::try_from(number(4)?).ok()?,
            is_zombie: fields.first()? == &"Z",
            threads: number(20)?,
            ticks: number(14)? + number(15)? + number(16)? + number(17)?,
        })
    }
}

fn descendants(of: u32) -> Vec<Stat> {
    let all: Vec<Stat> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Stat::of(entry.file_name().to_str()?.parse().ok()?))
        .collect();
    let mut found: Vec<Stat> = Vec::new();
    let mut parents = vec![of];
    while let Some(parent) = parents.pop() {
        for child in all.iter().filter(|process| process.parent == parent) {
            parents.push(child.id);
            found.push(child.clone());
        }
    }
    found
}

fn peak_bytes(folder: &Path) -> Option<u64> {
    kibibytes(&fs::read_to_string(folder.join("status")).ok()?, "VmHWM:")
}

/// The proportional set size of a process; zero if it has ended.
pub(crate) fn proportional_bytes(id: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default();
    kibibytes(&text, "Pss:").unwrap_or(0)
}

/// A line's number of kibibytes, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

fn system_value(variable: SysconfVar) -> Result<u64, Failure> {
    let value = sysconf(variable).ok().flatten().and_then(|value| u64::try_from(value).ok());
    value
        .filter(|value| *value > 0)
        .ok_or_else(|| Failure::new(format!("{variable:?}: unknown on this system")))
}

#[cfg(test)]
mod tests;
