//! Finding lost processes among the children of this one.

use std::collections::HashSet;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, waitpid};
use tokio::time::{Instant, interval};

use super::Started;
use crate::launcher::{Descendant, KILL_WAIT_MAX, Stat, children_of_this_process, descendants_of, stat};
use crate::own::Census;
use crate::reaper::is_given_orphans;

/// Time between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Looks that must find nobody, one after another: a list of children that is read while children come and go may miss one.
const EMPTY_LOOKS: u32 = 2;

/// What one look found.
struct Lost {
    /// Processes that live, with all their descendants.
    living: Vec<Descendant>,
    /// Whether one had ended and was reaped: its children may have come to us after the look.
    any_ended: bool,
}

pub(super) fn started(child: Pid) -> Option<Started> {
    stat(child).map(|stat| Started(stat.started))
}

pub(super) async fn end_lost(since: Started, grace: Duration) -> Vec<Pid> {
    if !is_given_orphans() {
        return Vec::new();
    }
    let kill_at = Instant::now() + grace;
    let give_up_at = kill_at + KILL_WAIT_MAX;
    let mut asked = HashSet::new();
    let mut empty_looks = 0;
    let mut again = interval(LOOK_AGAIN);
    loop {
        again.tick().await;
        // Reads all of /proc where the kernel has no lists of children, and no child is started meanwhile.
        let Ok(lost) = tokio::task::spawn_blocking(move || look(since)).await else { return Vec::new() };
        empty_looks = if lost.living.is_empty() && !lost.any_ended { empty_looks + 1 } else { 0 };
        if empty_looks >= EMPTY_LOOKS {
            return Vec::new();
        }
        let now = Instant::now();
        if now >= give_up_at {
            return lost.living.iter().map(Descendant::pid).collect();
        }
        for process in lost.living {
            if now >= kill_at {
                process.signal(Signal::KILL);
            } else if asked.insert(process.identity()) {
                process.signal(Signal::TERM);
                process.signal(Signal::CONT);
            }
        }
    }
}

/// Holds every lost process that can be found now, and reaps those that have ended.
fn look(since: Started) -> Lost {
    let mut lost = Lost { living: Vec::new(), any_ended: false };
    let Some(own) = stat(getpid()) else { return lost };
    // Nobody else reaps an orphan during the census, so that the numbers of orphans are their own.
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
        lost.living.extend(Descendant::hold(orphan, &stat));
        lost.living.extend(descendants_of(orphan));
    }
    lost
}

/// Whether a child that we did not start was of a run whose launcher had started then.
fn is_lost(orphan: &Stat, since: Started, own: &Stat) -> bool {
    Started(orphan.started) >= since && orphan.session != own.session && !came_from_outside(orphan.session)
}

/// Whether a session's first process lives and has its parent outside of this container.
fn came_from_outside(session: Option<Pid>) -> bool {
    // A number stays a session's as long as anybody is in it.
    session.and_then(stat).is_some_and(|leader| leader.parent.is_none())
}

#[cfg(test)]
mod tests;
