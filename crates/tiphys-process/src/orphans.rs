//! Ends processes whose launcher was killed.
//!
//! A running launcher adopts the orphans of its commands. If it is killed, the system reparents them to the next subreaper: to this
//! process, after [`adopt_orphans`] or as process 1. No other process would end them.
//!
//! They are identified by what a process cannot change about itself:
//! * They are children that this process did not start.
//! * They are not older than the launcher.
//! * They are not in the session of this process. The launcher began its own session, and no process can return to
//!   another one. So tools of this process, and other programs that it starts, never match.
//! * Their session was not begun by a process that entered this container from outside, such as the shell of an
//!   administrator. A program left in a session of its own, by such a shell or by a tool, cannot be distinguished: it
//!   is ended, too, if it started after a launcher that was killed.
//!
//! A mark in the environment would be simpler, but `env -i` removes it.

#[cfg(target_os = "linux")]
mod linux;

use std::io;
use std::time::Duration;

use rustix::process::Pid;

/// Start time of a process in clock ticks since boot. Comparable on one machine until it reboots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StartTime(pub(crate) u64);

/// Makes this process the parent of the orphans of a killed launcher, so that [`crate::Run::finish`] can end them. Must be called once,
/// before the first run. Does nothing on systems without child subreapers.
///
/// A long-lived process should also poll [`crate::reap_orphans`]: other orphans, such as background processes of git, are reparented to it
/// as well.
pub fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    crate::descendants::adopt_orphans()?;
    Ok(())
}

/// Returns the start time of a child that has not been waited for, `None` if the system does not report it.
pub(crate) fn start_time(child: Pid) -> Option<StartTime> {
    #[cfg(target_os = "linux")]
    return linux::start_time(child);
    #[cfg(not(target_os = "linux"))]
    {
        let _no_proc = child;
        None
    }
}

/// Ends every process that was lost by a launcher with this start time: SIGTERM, grace period, SIGKILL until none is left. Returns the
/// processes that could not be ended.
pub(crate) async fn end_lost(since: StartTime, grace: Duration) -> Vec<Pid> {
    #[cfg(target_os = "linux")]
    return linux::end_lost(since, grace).await;
    #[cfg(not(target_os = "linux"))]
    {
        let _no_orphans = (since, grace);
        Vec::new()
    }
}
