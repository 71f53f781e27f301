//! The end of processes whose launcher was killed, by one of them or by somebody else.
//!
//! A launcher that lives adopts all that its commands leave behind. If it is killed, the system gives its processes to the next one above
//! that adopts orphans: to this one, after [`adopt_orphans`] or as process 1. Nobody else would ever look for them.
//!
//! Which children of this process they are follows from what a process cannot change of itself. They are children that we did not start.
//! They are no older than the launcher. They are not of our session, since the launcher began one of its own and no process can go back to
//! another: so the tools that we start, and what other code of this process starts, are never among them. And their session was not begun
//! by a process that came into this container from outside, as a person's shell does. A program that such a person, or a tool of ours,
//! left behind in a session of its own cannot be told apart: it is ended, too, if it began after a launcher that was then killed.
//!
//! A mark in the environment would be simpler, and is gone with `env -i`.

#[cfg(target_os = "linux")]
mod linux;

use std::io;
use std::time::Duration;

use rustix::process::Pid;

/// When a process started, in the clock ticks of the system: comparable on one machine between two starts of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Started(pub(crate) u64);

/// Makes this process the parent of what a killed launcher leaves behind, so that [`crate::Run::finish`] finds and ends it. To be called
/// once, before the first run; it holds until the process ends. Does nothing on systems that have no child subreapers.
///
/// Whoever lives long should poll [`crate::reap_orphans`], too: other orphans, such as what git leaves running, come as well.
pub fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// When a child that nobody has waited for was started; `None` where the system does not tell.
pub(crate) fn started(child: Pid) -> Option<Started> {
    #[cfg(target_os = "linux")]
    return linux::started(child);
    #[cfg(not(target_os = "linux"))]
    {
        let _no_proc = child;
        None
    }
}

/// Ends every process that was lost by a launcher that had started then: SIGTERM, the time of grace, SIGKILL until none is left. Gives those
/// that could not be ended.
pub(crate) async fn end_lost(since: Started, grace: Duration) -> Vec<Pid> {
    #[cfg(target_os = "linux")]
    return linux::end_lost(since, grace).await;
    #[cfg(not(target_os = "linux"))]
    {
        let _nobody_is_adopted = (since, grace);
        Vec::new()
    }
}
