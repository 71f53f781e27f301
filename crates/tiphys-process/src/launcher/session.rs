//! One run: from the view's set-up to the last process and file.

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
use crate::closed::close_to_others;
use crate::message::{Event, Request};
use crate::run::{Containment, Limits, View};

/// Bytes that are read from a pipe at once.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;

/// State of the launcher after set-up.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) channel: Channel,
    pub(super) signals: Signals,
    pub(super) limits: Limits,
    pub(super) containment: Containment,
    /// Leaders of the commands' process groups that are not known to be gone.
    pub(super) groups: Vec<Pid>,
    /// Pipes of commands that ended, still held by descendants; read and thrown away so that nobody blocks on them or dies of SIGPIPE.
    pub(super) left_pipes: Vec<OwnedFd>,
    pub(super) chunk: Vec<u8>,
}

/// What follows a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Wait for another one.
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
        // Without /proc descendants cannot be found.
        let containment = match containment {
            Containment::Descendants if Path::new("/proc/self/stat").exists() => Containment::Descendants,
            _ => Containment::ProcessGroups,
        };
        if containment == Containment::Descendants {
            super::descendants::adopt_orphans()?;
        }
        Ok(Self {
            channel,
            signals,
            limits,
            containment,
            groups: Vec::new(),
            left_pipes: Vec::new(),
            chunk: vec![0; CHUNK_BYTES],
        })
    }

    /// Sets up the view, serves requests until the parent wants the end or is gone, and leaves nothing behind.
    pub(super) fn serve(mut self, view: &View) -> io::Result<()> {
        let mut covered = Vec::new();
        let heard = match view::set_up(view) {
            Ok(prepared) => {
                // Not before the view stands: the id maps of its user namespace are written by way of `/proc`.
                close_to_others();
                covered = prepared.covered;
                let root = prepared.root.clone();
                let copied_because = prepared.copied_because.unwrap_or_default();
                let others = prepared.others;
                let ready = self.channel.send(&Event::Ready { root, others, copied_because });
                ready.and_then(|()| self.listen_whatever_happens(&prepared.root))
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
        let told = self.channel.send(&Event::Gone { message: left.join("; ") });
        heard.and(told)
    }

    /// A panic is a bug, but no reason to leave processes and files behind.
    fn listen_whatever_happens(&mut self, root: &Path) -> io::Result<()> {
        let listened = panic::catch_unwind(AssertUnwindSafe(|| self.listen(root)));
        listened.unwrap_or_else(|_panic| Err(io::Error::other("a bug in the launcher")))
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
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "a second set-up"));
                }
            }
        }
    }

    /// Waits for the parent, meanwhile reaping what ends and reading what nobody wants.
    fn wait_for_request(&mut self) -> io::Result<()> {
        loop {
            let mut polled = vec![
                PollFd::from_borrowed_fd(self.channel.descriptor(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN),
            ];
            polled.extend(self.left_pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
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

    /// Reads and throws away what the pipes at these places hold, and forgets those that are closed.
    pub(super) fn discard(&mut self, readable: &[bool]) {
        let mut readable = readable.iter();
        let chunk = &mut self.chunk;
        self.left_pipes.retain(|pipe| {
            if readable.next().copied().unwrap_or(false) {
                !matches!(read_some(pipe, chunk), Ok(Some(0)) | Err(_))
            } else {
                true
            }
        });
    }
}

/// Polls; an interruption by a signal counts as a wake-up with nothing ready.
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

/// Whether poll found something, an error and a hang-up included.
pub(super) fn is_ready(polled: Option<&PollFd<'_>>) -> bool {
    polled.is_some_and(|polled| !polled.revents().is_empty())
}

pub(super) fn readable_pipes(polled: &[PollFd<'_>]) -> Vec<bool> {
    polled.iter().map(|polled| is_ready(Some(polled))).collect()
}

/// Reads once from a pipe that does not block: the number of bytes, 0 at its end, `None` if there is nothing now.
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
