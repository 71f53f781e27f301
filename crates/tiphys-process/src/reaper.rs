//! Orphans that the system gives to this process: as process 1 of a container, or as a child subreaper.
//!
//! Their own parent is gone and nobody waits for them, so that each would stay a zombie, until the container may have no more processes.
//! They appear when a launcher is killed: a launcher that lives adopts and reaps all that its commands leave behind. Ending those that still
//! run is the end of their run's ([`crate::Run::finish`]); here everybody is reaped who has ended.

use std::convert::Infallible;
use std::io;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(crate) use linux::is_given_orphans;

/// Reaps orphans for as long as it is polled; it does not end but with an error. Does nothing in a process that is given none, and on
/// systems that give none.
///
/// Exit statuses of processes that this crate has started are left to those who wait for them.
pub async fn reap_orphans() -> io::Result<Infallible> {
    #[cfg(target_os = "linux")]
    if is_given_orphans() {
        return linux::reap().await;
    }
    std::future::pending().await
}
