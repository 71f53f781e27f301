//! Waits for children that this process did not start.

use std::convert::Infallible;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};
use tokio::signal::unix::{SignalKind, signal};

use crate::children::Census;
use crate::descendants::children_of_this_process;

/// Scans whenever a child ended. Several signals may arrive as one, so each scan covers all children.
pub(super) async fn reap() -> io::Result<Infallible> {
    if !std::path::Path::new("/proc/self/stat").exists() {
        tracing::warn!(
            "orphans are not reaped: /proc is not mounted, so they cannot be distinguished from other children"
        );
        return std::future::pending().await;
    }
    let mut child_ended = signal(SignalKind::child())?;
    loop {
        // May read all of /proc, and blocks the start of children.
        tokio::task::spawn_blocking(reap_now).await.map_err(io::Error::other)?;
        if child_ended.recv().await.is_none() {
            return Err(io::Error::other("SIGCHLD is no longer delivered"));
        }
    }
}

/// Reaps every zombie orphan.
fn reap_now() {
    if !has_zombie() {
        return;
    }
    let census = Census::take();
    let children = children_of_this_process().into_iter();
    let children = children.filter_map(|child| u32::try_from(child.as_raw_pid()).ok()).collect();
    for orphan in census.orphans(&children) {
        let Some(process) = i32::try_from(orphan).ok().and_then(Pid::from_raw) else { continue };
        // It stays a child of this process until it is reaped, so the PID is not reused.
        if let Ok(Some(_)) = waitpid(Some(process), WaitOptions::NOHANG) {
            tracing::debug!(process = orphan, "reaped an orphan");
        }
    }
}

/// Whether a child is a zombie. Its status stays available.
fn has_zombie() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::All, look) {
            Ok(found) => return found.is_some(),
            Err(Errno::INTR) => {}
            Err(_no_child) => return false,
        }
    }
}
