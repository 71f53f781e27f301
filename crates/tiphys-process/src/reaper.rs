//! Reaps orphans that the system reparents to this process: as process 1 of a container, or as a child subreaper.
//!
//! No other process waits for them. Each would stay a zombie, until the container reaches its process limit. They appear when a launcher is
//! killed: a running launcher reaps the orphans of its commands. [`crate::Run::finish`] ends running orphans of its run; this module reaps
//! those that ended.

use std::convert::Infallible;
use std::io;

#[cfg(target_os = "linux")]
mod linux;

/// Reaps orphans while it is polled. Returns only on an error. Does nothing in a process that gets no orphans, and on systems without child
/// subreapers.
///
/// Exit statuses of processes that this crate started stay available.
pub async fn reap_orphans() -> io::Result<Infallible> {
    #[cfg(target_os = "linux")]
    if crate::descendants::is_given_orphans() {
        return linux::reap().await;
    }
    std::future::pending().await
}
