//! Resource limits of this process. Every process of the same user can change them (`prlimit`).

use rustix::process::{Resource, Rlimit, getrlimit};

/// Limits whose change can make a process fail, with their names in `prlimit`.
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

/// On other systems no other process can change them.
#[cfg(not(target_os = "linux"))]
const RESOURCES: [(&str, Resource); 0] = [];

/// The soft and hard resource limits of this process at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessLimits([Rlimit; RESOURCES.len()]);

impl ProcessLimits {
    /// Reads the current limits.
    pub fn now() -> Self {
        Self(RESOURCES.map(|(_, resource)| getrlimit(resource)))
    }

    /// Returns the name of a limit that differs in `other`.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let mut pairs = RESOURCES.iter().zip(self.0.iter().zip(&other.0));
        pairs.find(|(_, (one, other))| one != other).map(|((name, _), _)| *name)
    }
}
