//! The launcher's side of one run, from the set-up of the view to the removal of everything.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;

use super::channel::Channel;
use super::signals::Signals;
use super::view;
use crate::dumpable::set_not_dumpable;
use crate::message::{Event, Request};
use crate::spec::{Containment, Limits, View};

/// Bytes read from a pipe at once.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;

/// State of the launcher after its set-up.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) channel: Channel,
    pub(super) signals: Signals,
    pub(super) limits: Limits,
    pub(super) containment: Containment,
    /// Leaders of the process groups that may still exist.
    pub(super) groups: Vec<Pid>,
    /// Pipes of ended commands that descendants hold open. Their data is read and discarded, so that no descendant blocks or gets SIGPIPE.
    pub(super) orphaned_pipes: Vec<OwnedFd>,
    pub(super) chunk: Vec<u8>,
}

/// The launcher's action after a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Wait for the next request.
    Listen,
    /// End the run.
    End,
}

impl Session {
    pub(super) fn new(
        channel: Channel,
        signals: Signals,
        limits: Limits,
        containment: Containment,
    ) -> io::Result<Self> {
        // Descendants are found in /proc.
        let containment = match containment {
            Containment::Descendants if Path::new("/proc/self/stat").exists() => Containment::Descendants,
            _ => Containment::ProcessGroups,
        };
        if containment == Containment::Descendants {
            crate::descendants::adopt_orphans()?;
        }
        Ok(Self {
            channel,
            signals,
            limits,
            containment,
            groups: Vec::new(),
            orphaned_pipes: Vec::new(),
            chunk: vec![0; CHUNK_BYTES],
        })
    }

    /// Sets up the view, serves requests until the parent closes the pipe, and removes everything.
    pub(super) fn serve(mut self, view: &View) -> io::Result<()> {
        let mut covered = Vec::new();
        let served = match view::set_up(view) {
            Ok(prepared) => {
                // After the view is set up: the ID maps of its user namespace are written through `/proc`.
                set_not_dumpable();
                covered = prepared.covered;
                let root = prepared.root.clone();
                let copied_because = prepared.copied_because.unwrap_or_default();
                let others = prepared.others;
                let ready = self.channel.send(&Event::Ready { root, others, copied_because });
                ready.and_then(|()| self.listen_catching_panics(&prepared.root))
            }
            Err(message) => self.channel.send(&Event::SetUpFailed { message }),
        };
        let mut left = Vec::new();
        if let Err(message) = self.end_all_processes() {
            left.push(message);
        }
        if let Err(message) = view::remove(view, &covered) {
            left.push(message);
        }
        let reported = self.channel.send(&Event::Gone { message: left.join("; ") });
        served.and(reported)
    }

    /// After a panic processes and files are removed, too.
    fn listen_catching_panics(&mut self, root: &Path) -> io::Result<()> {
        let listened = panic::catch_unwind(AssertUnwindSafe(|| self.listen(root)));
        listened.unwrap_or_else(|_panic| Err(io::Error::other("panic in the launcher")))
    }

    fn listen(&mut self, root: &Path) -> io::Result<()> {
        loop {
            self.wait_for_request()?;
            match self.channel.receive()? {
                Some(Request::Execute(command)) => {
                    if self.execute(root, &command)? == Next::End {
                        return Ok(());
                    }
                }
                None => return Ok(()),
                Some(Request::SetUp { .. }) => {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "unexpected second set-up"));
                }
            }
        }
    }

    /// Waits for a request. Reaps ended children and discards data of orphaned pipes meanwhile.
    fn wait_for_request(&mut self) -> io::Result<()> {
        loop {
            let mut polled = vec![
                PollFd::from_borrowed_fd(self.channel.descriptor(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN),
            ];
            polled.extend(self.orphaned_pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            wait(&mut polled, None)?;
            let requested = is_ready(polled.first());
            let child_ended = is_ready(polled.get(1));
            let readable = readable_pipes(polled.get(2..).unwrap_or_default());
            if child_ended {
                self.reap(None);
            }
            self.discard(&readable);
            if requested {
                return Ok(());
            }
        }
    }

    /// Reads and discards the data of the readable pipes, and drops closed ones.
    pub(super) fn discard(&mut self, readable: &[bool]) {
        let mut readable = readable.iter();
        let chunk = &mut self.chunk;
        self.orphaned_pipes.retain(|pipe| {
            if readable.next().copied().unwrap_or(false) {
                !matches!(read_some(pipe, chunk), Ok(Some(0)) | Err(_))
            } else {
                true
            }
        });
    }
}

/// Polls. After an interruption by a signal nothing is ready.
pub(super) fn wait(polled: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(polled, timeout.as_ref()) {
        Ok(_) => Ok(()),
        Err(Errno::INTR) => {
            polled.iter_mut().for_each(PollFd::clear_revents);
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether poll reported an event, an error or a hang-up.
pub(super) fn is_ready(polled: Option<&PollFd<'_>>) -> bool {
    polled.is_some_and(|polled| !polled.revents().is_empty())
}

pub(super) fn readable_pipes(polled: &[PollFd<'_>]) -> Vec<bool> {
    polled.iter().map(|polled| is_ready(Some(polled))).collect()
}

/// Reads once from a non-blocking pipe. Returns the number of bytes, 0 at its end, `None` if it has no data now.
pub(super) fn read_some(pipe: impl AsFd, chunk: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        match rustix::io::read(&pipe, &mut *chunk) {
            Ok(read) => return Ok(Some(read)),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
