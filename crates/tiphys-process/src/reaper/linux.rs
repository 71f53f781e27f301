//! Waiting for children that we did not start.

use std::convert::Infallible;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, child_subreaper, getpid, waitid, waitpid};
use tokio::signal::unix::{SignalKind, signal};

use crate::launcher::children_of_this_process;
use crate::own::Census;

/// Whether the system makes this process the parent of others' orphans.
pub(crate) fn is_given_orphans() -> bool {
    getpid() == Pid::INIT || matches!(child_subreaper(), Ok(Some(_)))
}

/// Looks whenever a child ended; several signals may come as one, so each look is at all of them.
pub(super) async fn reap() -> io::Result<Infallible> {
    if !std::path::Path::new("/proc/self/stat").exists() {
        tracing::warn!("orphans are not reaped: without /proc they cannot be told from other children");
        return std::future::pending().await;
    }
    let mut child_ended = signal(SignalKind::child())?;
    loop {
        // Reads all of /proc where the kernel has no lists of children, and no child is started meanwhile.
        tokio::task::spawn_blocking(reap_now).await.map_err(io::Error::other)?;
        if child_ended.recv().await.is_none() {
            return Err(io::Error::other("the signals of children are no longer told"));
        }
    }
}

/// Reaps every orphan that has ended.
fn reap_now() {
    if !anybody_ended() {
        return;
    }
    let census = Census::take();
    let children = children_of_this_process().into_iter();
    let children = children.filter_map(|child| u32::try_from(child.as_raw_pid()).ok()).collect();
    for orphan in census.orphans(&children) {
        let Some(process) = i32::try_from(orphan).ok().and_then(Pid::from_raw) else { continue };
        // It is our child and will be until we reap it, so the number is its own.
        if let Ok(Some(_)) = waitpid(Some(process), WaitOptions::NOHANG) {
            tracing::debug!(process = orphan, "reaped an orphan");
        }
    }
}

/// Whether any child has ended and was not waited for. A look only: its status stays.
fn anybody_ended() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::All, look) {
            Ok(found) => return found.is_some(),
            Err(Errno::INTR) => {}
            Err(_no_child) => return false,
        }
    }
}
