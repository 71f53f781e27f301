//! The resource limits of this process, which every process of the same user can change (`prlimit`).

use rustix::process::{Resource, Rlimit, getrlimit};

/// Limits that a process can lose its use by, with the names of `prlimit`.
#[cfg(target_os = "linux")]
const RESOURCES: [(&str, Resource); 16] = [
    ("as", Resource::As),
    ("core", Resource::Core),
    ("cpu", Resource::Cpu),
    ("data", Resource::Data),
    ("fsize", Resource::Fsize),
    ("locks", Resource::Locks),
    ("memlock", Resource::Memlock),
    ("msgqueue", Resource::Msgqueue),
    ("nice", Resource::Nice),
    ("nofile", Resource::Nofile),
    ("nproc", Resource::Nproc),
    ("rss", Resource::Rss),
    ("rtprio", Resource::Rtprio),
    ("rttime", Resource::Rttime),
    ("sigpending", Resource::Sigpending),
    ("stack", Resource::Stack),
];

/// No other process can change them on other systems.
#[cfg(not(target_os = "linux"))]
const RESOURCES: [(&str, Resource); 0] = [];

/// The soft and hard resource limits of this process at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessLimits([Rlimit; RESOURCES.len()]);

impl ProcessLimits {
    /// The limits now.
    pub fn now() -> Self {
        Self(RESOURCES.map(|(_, resource)| getrlimit(resource)))
    }

    /// The name of a limit that is different in `other`.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let mut pairs = RESOURCES.iter().zip(self.0.iter().zip(&other.0));
        pairs.find(|(_, (one, other))| one != other).map(|((name, _), _)| *name)
    }
}
