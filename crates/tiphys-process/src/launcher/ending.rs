//! Ends the processes of a run: SIGTERM, a grace period, SIGKILL until no process is left.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, WaitStatus, kill_process_group,
    test_kill_process_group, wait as wait_for_child, waitid, waitpid,
};

use super::session::{Session, is_ready, readable_pipes, wait};
use crate::descendants::{self, KILL_WAIT_MAX};
use crate::spec::{Containment, Ended};

/// Interval at which processes are looked for whose end no signal reports.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

impl Session {
    /// Reaps ended children. Returns how the awaited process ended, if it did.
    pub(super) fn reap(&mut self, awaited: Option<Pid>) -> Option<Ended> {
        self.signals.clear();
        match self.containment {
            Containment::Descendants => {
                let mut ended = None;
                while let Ok(Some((pid, status))) = wait_for_child(WaitOptions::NOHANG) {
                    if awaited == Some(pid) {
                        ended = ended_from_wait_status(status);
                    }
                }
                ended
            }
            // The leader of a group stays a zombie until the end, so that its PID, which is the group's ID, is not reused.
            Containment::ProcessGroups => {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
                let status = waitid(WaitId::Pid(awaited?), options).ok().flatten()?;
                ended_from_waitid_status(&status)
            }
        }
    }

    /// Ends every process of the run. The error names what could not be ended.
    pub(super) fn end_all_processes(&mut self) -> Result<(), String> {
        if self.all_ended() {
            return Ok(());
        }
        if self.containment == Containment::Descendants && descendants::cannot_be_held() {
            // The parent finds them among its own children after the launcher exited.
            return Err(
                "the launcher has no free file descriptors, so it cannot find the processes of the run"
                    .to_owned(),
            );
        }
        self.terminate();
        let kill_at = Instant::now() + self.limits.grace;
        while Instant::now() < kill_at {
            if self.all_ended() {
                return Ok(());
            }
            self.wait_for_child_until(kill_at).map_err(|error| error.to_string())?;
        }
        let give_up_at = Instant::now() + KILL_WAIT_MAX;
        loop {
            self.kill();
            if self.all_ended() {
                return Ok(());
            }
            if Instant::now() >= give_up_at {
                return Err(self.remaining());
            }
            self.wait_for_child_until(Instant::now() + POLL_INTERVAL).map_err(|error| error.to_string())?;
        }
    }

    /// Sends SIGTERM once to every process, including those that appear meanwhile. SIGCONT makes a stopped process handle it.
    fn terminate(&self) {
        match self.containment {
            Containment::Descendants => {
                let stop_at = Instant::now() + self.limits.grace;
                let mut signalled = HashSet::new();
                loop {
                    let mut found_new = false;
                    for descendant in descendants::all() {
                        if signalled.insert(descendant.identity()) {
                            found_new = true;
                            descendant.signal(Signal::TERM);
                            descendant.signal(Signal::CONT);
                        }
                    }
                    if !found_new || Instant::now() >= stop_at {
                        return;
                    }
                }
            }
            Containment::ProcessGroups => {
                self.signal_groups(Signal::TERM);
                self.signal_groups(Signal::CONT);
            }
        }
    }

    /// A process with a pending SIGKILL cannot fork, so repeating this terminates.
    fn kill(&self) {
        match self.containment {
            Containment::Descendants => {
                for descendant in descendants::all() {
                    descendant.signal(Signal::KILL);
                }
            }
            Containment::ProcessGroups => self.signal_groups(Signal::KILL),
        }
    }

    fn signal_groups(&self, signal: Signal) {
        for group in &self.groups {
            // A group without processes is the goal.
            let _no_such_group: Result<(), Errno> = kill_process_group(*group, signal);
        }
    }

    /// Reaps ended children. Returns whether no process is left.
    fn all_ended(&mut self) -> bool {
        self.signals.clear();
        match self.containment {
            // The launcher adopts orphans, so if it has no child, it has no descendant.
            Containment::Descendants => loop {
                match wait_for_child(WaitOptions::NOHANG) {
                    Ok(Some(_)) | Err(Errno::INTR) => {}
                    Ok(None) => return false,
                    Err(_no_child) => return true,
                }
            },
            Containment::ProcessGroups => {
                self.groups.retain(|group| {
                    // The ID stays the group's as long as the group has a process, whether the leader was reaped or not.
                    let leader_runs = matches!(waitpid(Some(*group), WaitOptions::NOHANG), Ok(None));
                    leader_runs || test_kill_process_group(*group).is_ok()
                });
                self.groups.is_empty()
            }
        }
    }

    fn remaining(&self) -> String {
        let pids: Vec<String> = match self.containment {
            Containment::Descendants => {
                descendants::all().iter().map(|descendant| descendant.pid().to_string()).collect()
            }
            Containment::ProcessGroups => self.groups.iter().map(|group| format!("group {group}")).collect(),
        };
        format!("processes that SIGKILL did not end: {}", pids.join(", "))
    }

    /// Waits until a child ends, at most to the given time. Processes that are not children are polled.
    fn wait_for_child_until(&mut self, latest: Instant) -> io::Result<()> {
        let mut timeout = latest.saturating_duration_since(Instant::now());
        if self.containment == Containment::ProcessGroups {
            timeout = timeout.min(POLL_INTERVAL);
        }
        let mut polled = vec![PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN)];
        polled.extend(self.orphaned_pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        wait(&mut polled, Some(timeout))?;
        let child_ended = is_ready(polled.first());
        let readable = readable_pipes(polled.get(1..).unwrap_or_default());
        if child_ended {
            self.signals.clear();
        }
        self.discard(&readable);
        Ok(())
    }
}

fn ended_from_wait_status(status: WaitStatus) -> Option<Ended> {
    let code = status.exit_status().map(Ended::Exited);
    code.or_else(|| status.terminating_signal().map(Ended::Signalled))
}

fn ended_from_waitid_status(status: &WaitIdStatus) -> Option<Ended> {
    let code = status.exit_status().map(Ended::Exited);
    code.or_else(|| status.terminating_signal().map(Ended::Signalled))
}
