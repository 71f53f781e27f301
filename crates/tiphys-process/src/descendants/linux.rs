//! Descendants from `/proc`, held by pidfds.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, child_subreaper, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper,
};

/// A process that was a descendant when its pidfd was opened. A signal reaches this process or none.
#[derive(Debug)]
pub(crate) struct Descendant {
    pid: Pid,
    started: u64,
    descriptor: OwnedFd,
}

impl Descendant {
    /// Holds a child of this process. It must not be waited for concurrently, so that its PID is not reused.
    pub(crate) fn hold(child: Pid, stat: &Stat) -> Option<Self> {
        let descriptor = pidfd_open(child, PidfdFlags::empty()).ok()?;
        Some(Self { pid: child, started: stat.started, descriptor })
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// PID and start time, which no two processes share.
    pub(crate) fn identity(&self) -> (Pid, u64) {
        (self.pid, self.started)
    }

    /// Sends a signal. A process that ended, or of another user, is skipped.
    pub(crate) fn signal(&self, signal: Signal) {
        let _gone_or_forbidden: rustix::io::Result<()> = pidfd_send_signal(&self.descriptor, signal);
    }

    fn is_alive(&self) -> bool {
        // A pidfd is readable after the process ended.
        let mut polled = [PollFd::new(&self.descriptor, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(0)
    }
}

/// Makes this process a child subreaper: the new parent of every descendant whose own parent ends.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Whether the kernel reparents orphans of other processes to this process.
pub(crate) fn is_given_orphans() -> bool {
    getpid() == Pid::INIT || matches!(child_subreaper(), Ok(Some(_)))
}

/// Whether this process has no free file descriptors. Its commands can lower the limit, because they run as the same user.
pub(crate) fn cannot_be_held() -> bool {
    matches!(pidfd_open(getpid(), PidfdFlags::empty()), Err(Errno::MFILE))
}

/// Returns every running descendant of this process that is visible now.
pub(crate) fn all() -> Vec<Descendant> {
    descendants_of(getpid())
}

/// Returns every running descendant that is visible now. `ancestor` is this process or a child that has not been waited for, so that its
/// PID is not reused. A descendant that forks concurrently may have a child that is missing from the result: call this again.
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
            // The parent is the ancestor or a held descendant. If it and the child both still run, the PID that was read is the child's and
            // the parent PID is that parent's, so the pidfd holds a descendant.
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

/// Returns the children of this process, zombies included.
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

/// Returns the children of all threads of a process.
fn children(parent: Pid) -> Vec<Pid> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_ascii_whitespace().filter_map(number).collect::<Vec<_>>()).collect()
}

/// Returns every process with its parent. Slow; for kernels without lists of children (`CONFIG_PROC_CHILDREN`).
fn parents() -> Vec<(Pid, Pid)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str().and_then(number));
    pids.filter_map(|pid| stat(pid)?.parent.map(|parent| (pid, parent))).collect()
}

/// The fields of `/proc/PID/stat` that are needed here (proc(5)).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// `None` if the parent is outside this PID namespace.
    pub(crate) parent: Option<Pid>,
    /// `None` if the session began outside this PID namespace.
    pub(crate) session: Option<Pid>,
    /// In clock ticks since boot.
    pub(crate) started: u64,
}

/// Reads a process, also a zombie. `None` if it does not exist or is being reaped.
pub(crate) fn stat(pid: Pid) -> Option<Stat> {
    // The program name may contain any bytes.
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&line))
}

fn parse_stat(line: &str) -> Option<Stat> {
    // The second field is the program name in parentheses. It may contain blanks and parentheses. Fields behind it count from 3.
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let parent = fields.nth(1).and_then(number);
    // A process that is being reaped has the session -1 (`do_task_stat` of Linux; not documented in proc(5)).
    let session = fields.nth(1).filter(|session| !session.starts_with('-')).map(number)?;
    let started = fields.nth(15)?.parse().ok()?;
    Some(Stat { parent, session, started })
}

/// Parses a PID. `None` for 0, which is a process outside this PID namespace, and for other invalid PIDs.
fn number(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|number| *number > 0).and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests;
