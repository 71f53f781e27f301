//! Descendants by `/proc`, held by process descriptors.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper};

/// A process that was a descendant when it was looked at, and that its descriptor holds: a signal reaches it or nobody.
#[derive(Debug)]
pub(crate) struct Descendant {
    pid: Pid,
    started: u64,
    descriptor: OwnedFd,
}

impl Descendant {
    /// Holds a child of this process that nobody waits for meanwhile, so that the number is its own.
    pub(crate) fn hold(child: Pid, stat: &Stat) -> Option<Self> {
        let descriptor = pidfd_open(child, PidfdFlags::empty()).ok()?;
        Some(Self { pid: child, started: stat.started, descriptor })
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Number and start time, which no two processes share.
    pub(crate) fn identity(&self) -> (Pid, u64) {
        (self.pid, self.started)
    }

    /// Sends a signal; a process that is gone, or another user's, is passed over.
    pub(crate) fn signal(&self, signal: Signal) {
        let _gone_or_forbidden: rustix::io::Result<()> = pidfd_send_signal(&self.descriptor, signal);
    }

    fn is_alive(&self) -> bool {
        // A process descriptor is readable once the process ended.
        let mut polled = [PollFd::new(&self.descriptor, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(0)
    }
}

/// Makes this process the parent of every descendant whose own parent ends.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Whether this process may open nothing any more. Its commands can lower the limit: they are processes of the same user.
pub(crate) fn cannot_be_held() -> bool {
    matches!(pidfd_open(getpid(), PidfdFlags::empty()), Err(Errno::MFILE))
}

/// Every living descendant of this process that can be found now.
pub(crate) fn all() -> Vec<Descendant> {
    descendants_of(getpid())
}

/// Every living descendant that can be found now of this process or of a child that nobody has waited for, so that the number is its own.
/// One that forks meanwhile may have a child that is not in the list: call it again.
pub(crate) fn descendants_of(ancestor: Pid) -> Vec<Descendant> {
    let mut found: Vec<Descendant> = Vec::new();
    let table = if has_lists_of_children() { None } else { Some(parents()) };
    let mut next = 0;
    let mut parent = ancestor;
    loop {
        let children = match &table {
            None => children(parent),
            Some(table) => table.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid).collect(),
        };
        for pid in children {
            let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            let Some(stat) = stat(pid) else { continue };
            let descendant = Descendant { pid, started: stat.started, descriptor };
            // The parent is the ancestor or a descendant that is held. If both still live, the number that was read is the child's and
            // its parent's number is that parent's, so what the descriptor holds is a descendant.
            let parent_lives = next == 0 || found.get(next - 1).is_some_and(Descendant::is_alive);
            if stat.parent == Some(parent) && descendant.is_alive() && parent_lives {
                found.push(descendant);
            }
        }
        let Some(descendant) = found.get(next) else { return found };
        parent = descendant.pid;
        next += 1;
    }
}

/// Children of this process, those that ended but were not waited for included.
pub(crate) fn children_of_this_process() -> Vec<Pid> {
    let this = getpid();
    if has_lists_of_children() {
        return children(this);
    }
    parents().into_iter().filter(|(_, parent)| *parent == this).map(|(child, _)| child).collect()
}

fn has_lists_of_children() -> bool {
    fs::exists("/proc/thread-self/children").unwrap_or(false)
}

/// Children of all threads of a process.
fn children(parent: Pid) -> Vec<Pid> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_ascii_whitespace().filter_map(number).collect::<Vec<_>>()).collect()
}

/// Every process with its parent: the slow way, for kernels that do not list children.
fn parents() -> Vec<(Pid, Pid)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str().and_then(number));
    pids.filter_map(|pid| stat(pid)?.parent.map(|parent| (pid, parent))).collect()
}

/// What is needed of `/proc/<pid>/stat`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// `None` if the parent is outside of this container.
    pub(crate) parent: Option<Pid>,
    /// `None` if the session was begun outside of this container.
    pub(crate) session: Option<Pid>,
    /// In clock ticks since the system's start.
    pub(crate) started: u64,
}

/// What the system tells of a process, one that ended and was not waited for included; nothing of one that is being waited for.
pub(crate) fn stat(pid: Pid) -> Option<Stat> {
    // A program may have any bytes in its name.
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&line))
}

fn parse_stat(line: &str) -> Option<Stat> {
    // The second field is the program's name in parentheses, which may hold blanks and parentheses; fields count from 3 behind it.
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let parent = fields.nth(1).and_then(number);
    // A process that is taken away at this moment has the session -1 (proc(5) does not tell; `do_task_stat` of Linux does).
    let session = fields.nth(1).filter(|session| !session.starts_with('-')).map(number)?;
    let started = fields.nth(15)?.parse().ok()?;
    Some(Stat { parent, session, started })
}

/// A process's number; none for 0, which is a process outside of this container, and for what is no number of a process.
fn number(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|number| *number > 0).and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests;
