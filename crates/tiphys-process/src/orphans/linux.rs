//! Finds lost processes among the children of this process.

use std::collections::HashSet;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, waitpid};
use tokio::time::{Instant, interval};

use super::StartTime;
use crate::children::Census;
use crate::descendants::{
    Descendant, KILL_WAIT_MAX, Stat, children_of_this_process, descendants_of, is_given_orphans, stat,
};

/// Interval between two scans.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Successive scans that must find nothing. A list of children may miss one if children start and end while it is read.
const EMPTY_SCANS: u32 = 2;

/// Result of one scan.
struct Lost {
    /// Running processes with all their descendants.
    running: Vec<Descendant>,
    /// Whether a lost process was reaped. Its children may have been reparented to this process after the scan.
    any_ended: bool,
}

pub(super) fn start_time(child: Pid) -> Option<StartTime> {
    stat(child).map(|stat| StartTime(stat.started))
}

pub(super) async fn end_lost(since: StartTime, grace: Duration) -> Vec<Pid> {
    if !is_given_orphans() {
        return Vec::new();
    }
    let kill_at = Instant::now() + grace;
    let give_up_at = kill_at + KILL_WAIT_MAX;
    let mut signalled = HashSet::new();
    let mut empty_scans = 0;
    let mut tick = interval(POLL_INTERVAL);
    loop {
        tick.tick().await;
        // May read all of /proc, and blocks the start of children.
        let Ok(lost) = tokio::task::spawn_blocking(move || scan(since)).await else { return Vec::new() };
        empty_scans = if lost.running.is_empty() && !lost.any_ended { empty_scans + 1 } else { 0 };
        if empty_scans >= EMPTY_SCANS {
            return Vec::new();
        }
        let now = Instant::now();
        if now >= give_up_at {
            return lost.running.iter().map(Descendant::pid).collect();
        }
        for process in lost.running {
            if now >= kill_at {
                process.signal(Signal::KILL);
            } else if signalled.insert(process.identity()) {
                process.signal(Signal::TERM);
                process.signal(Signal::CONT);
            }
        }
    }
}

/// Holds every lost process that is visible now, and reaps zombies.
fn scan(since: StartTime) -> Lost {
    let mut lost = Lost { running: Vec::new(), any_ended: false };
    let Some(own) = stat(getpid()) else { return lost };
    // No other code reaps an orphan during the census, so PIDs are not reused.
    let census = Census::take();
    let children = children_of_this_process().into_iter();
    let children = children.filter_map(|child| u32::try_from(child.as_raw_pid()).ok()).collect();
    for orphan in census.orphans(&children) {
        let Some(orphan) = i32::try_from(orphan).ok().and_then(Pid::from_raw) else { continue };
        let Some(stat) = stat(orphan).filter(|stat| is_lost(stat, since, &own)) else { continue };
        if matches!(waitpid(Some(orphan), WaitOptions::NOHANG), Ok(Some(_))) {
            lost.any_ended = true;
            continue;
        }
        lost.running.extend(Descendant::hold(orphan, &stat));
        lost.running.extend(descendants_of(orphan));
    }
    lost
}

/// Whether a child that this process did not start belonged to a run whose launcher had this start time.
fn is_lost(orphan: &Stat, since: StartTime, own: &Stat) -> bool {
    StartTime(orphan.started) >= since && orphan.session != own.session && !came_from_outside(orphan.session)
}

/// Whether the session leader runs and has its parent outside this PID namespace.
fn came_from_outside(session: Option<Pid>) -> bool {
    // The ID stays the session's as long as it has a process.
    session.and_then(stat).is_some_and(|leader| leader.parent.is_none())
}

#[cfg(test)]
mod tests;
