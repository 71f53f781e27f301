//! How many files this process may have open.

use rustix::process::{Resource, getrlimit};

/// Files, pipes and sockets that this process, and what it starts, may have open at once; `None` if the system sets no limit (`ulimit -n`).
pub fn descriptors_max() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
