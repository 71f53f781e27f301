//! The limit of open file descriptors.

use rustix::process::{Resource, getrlimit};

/// Returns how many file descriptors this process and its children may each have open (`ulimit -n`), `None` if unlimited.
pub fn descriptors_max() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
