//! The descendants of a process, each held by a process descriptor, so that a signal cannot reach another process.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

use std::time::Duration;

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    Descendant, Stat, adopt_orphans, all, cannot_be_held, children_of_this_process, descendants_of,
    is_given_orphans, stat,
};
#[cfg(not(target_os = "linux"))]
pub(crate) use none::{adopt_orphans, all, cannot_be_held, descendants_of};

/// How long SIGKILL is repeated before giving up: a process may be stuck in the kernel or belong to another user.
pub(crate) const KILL_WAIT_MAX: Duration = Duration::from_secs(10);
