//! The end of a run's processes: SIGTERM to all, a time of grace, SIGKILL until none is left.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, WaitStatus, kill_process_group,
    test_kill_process_group, wait as wait_for_child, waitid, waitpid,
};

use super::descendants;
use super::session::{Session, is_ready, readable_pipes, wait};
use crate::run::{Containment, Ended};

/// How long SIGKILL is repeated before the launcher gives up on what does not die: processes of another user, or stuck in the kernel.
pub(crate) const KILL_WAIT_MAX: Duration = Duration::from_secs(10);

/// Time between two looks for processes whose end no signal tells.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

impl Session {
    /// Reaps what ended. Tells how the given process ended, if it is among them.
    pub(super) fn reap(&mut self, awaited: Option<Pid>) -> Option<Ended> {
        self.signals.clear();
        match self.containment {
            Containment::Descendants => {
                let mut ended = None;
                while let Ok(Some((pid, status))) = wait_for_child(WaitOptions::NOHANG) {
                    if awaited == Some(pid) {
                        ended = of_status(status);
                    }
                }
                ended
            }
            // The leader of a group stays a zombie until the end, so that nobody else gets its number, which is the group's.
            Containment::ProcessGroups => {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
                let status = waitid(WaitId::Pid(awaited?), options).ok().flatten()?;
                of_id_status(&status)
            }
        }
    }

    /// Ends every process of the run; an error tells what could not be ended.
    pub(super) fn end_all_processes(&mut self) -> Result<(), String> {
        if self.all_gone() {
            return Ok(());
        }
        if self.containment == Containment::Descendants && descendants::cannot_be_held() {
            // The parent finds them among its own children once we are gone.
            return Err("the launcher was left without descriptors, by which it finds processes".to_owned());
        }
        self.terminate();
        let kill_at = Instant::now() + self.limits.grace;
        while Instant::now() < kill_at {
            if self.all_gone() {
                return Ok(());
            }
            self.look_again_at(kill_at).map_err(|error| error.to_string())?;
        }
        let give_up_at = Instant::now() + KILL_WAIT_MAX;
        loop {
            self.kill();
            if self.all_gone() {
                return Ok(());
            }
            if Instant::now() >= give_up_at {
                return Err(self.remaining());
            }
            self.look_again_at(Instant::now() + LOOK_AGAIN).map_err(|error| error.to_string())?;
        }
    }

    /// Asks every process once, including those that appear while we ask. A stopped one is continued, or it would not hear.
    fn terminate(&self) {
        match self.containment {
            Containment::Descendants => {
                let stop_at = Instant::now() + self.limits.grace;
                let mut asked = HashSet::new();
                loop {
                    let mut anyone_new = false;
                    for descendant in descendants::all() {
                        if asked.insert(descendant.identity()) {
                            anyone_new = true;
                            descendant.signal(Signal::TERM);
                            descendant.signal(Signal::CONT);
                        }
                    }
                    if !anyone_new || Instant::now() >= stop_at {
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

    /// A process that SIGKILL is on its way to cannot fork any more, so repeating this comes to an end.
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
            // A group without processes is what we want.
            let _already_gone: Result<(), Errno> = kill_process_group(*group, signal);
        }
    }

    /// Reaps, and tells whether nothing is left.
    fn all_gone(&mut self) -> bool {
        self.signals.clear();
        match self.containment {
            // We adopt orphans, so there is no descendant without a child.
            Containment::Descendants => loop {
                match wait_for_child(WaitOptions::NOHANG) {
                    Ok(Some(_)) | Err(Errno::INTR) => {}
                    Ok(None) => return false,
                    Err(_no_child) => return true,
                }
            },
            Containment::ProcessGroups => {
                self.groups.retain(|group| {
                    // The number stays the group's as long as anybody is in it, whether we reap the leader or not.
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

    /// Waits for the end of a child, at most to the given time; processes that are no children of ours are looked for now and then.
    fn look_again_at(&mut self, latest: Instant) -> io::Result<()> {
        let mut timeout = latest.saturating_duration_since(Instant::now());
        if self.containment == Containment::ProcessGroups {
            timeout = timeout.min(LOOK_AGAIN);
        }
        let mut polled = vec![PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN)];
        polled.extend(self.left_pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
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

fn of_status(status: WaitStatus) -> Option<Ended> {
    let code = status.exit_status().map(Ended::Exited);
    code.or_else(|| status.terminating_signal().map(Ended::Signalled))
}

fn of_id_status(status: &WaitIdStatus) -> Option<Ended> {
    let code = status.exit_status().map(Ended::Exited);
    code.or_else(|| status.terminating_signal().map(Ended::Signalled))
}
