//! Executes one command, until it ends or the run does.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;

use super::program;
use super::session::{Next, Session, is_ready, read_some, readable_pipes, wait};
use crate::bounded::HeadAndTail;
use crate::message::Event;
use crate::spec::{CommandSpec, Ended};

/// Bytes read from a pipe after the command ended. More than a pipe can hold, so that all output of the command is read, but limited,
/// because a descendant may write forever.
const LAST_READ_BYTES_MAX: usize = 1024 * 1024;

/// A running command.
struct Execution {
    pid: Pid,
    stdout: Option<OwnedFd>,
    stdout_bytes: usize,
    stderr: Option<OwnedFd>,
    stderr_text: HeadAndTail,
}

/// Result of reading a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Some(usize),
    Nothing,
    TooMuch,
}

impl Session {
    /// Runs a command and sends its standard output as it is read.
    pub(super) fn execute(&mut self, root: &Path, command: &CommandSpec) -> io::Result<Next> {
        let mut child = match program::start(root, command) {
            Ok(child) => child,
            Err(failure) => {
                self.channel.send(&Event::NotStarted { errno: failure.errno, message: failure.message })?;
                return Ok(Next::Listen);
            }
        };
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("a process without an id"))?;
        self.groups.push(pid);
        let mut execution = Execution {
            pid,
            stdout: child.stdout.take().map(OwnedFd::from),
            stdout_bytes: 0,
            stderr: child.stderr.take().map(OwnedFd::from),
            stderr_text: HeadAndTail::new(self.limits.stderr_bytes_max),
        };
        for pipe in [&execution.stdout, &execution.stderr].into_iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let followed = self.follow(&mut execution).and_then(|ended| {
            // All output of the command itself is in the pipes by now.
            let last = self.read_the_rest(&mut execution)?;
            Ok(if last == Read::TooMuch { Ended::OutputTooLarge } else { ended })
        });
        // Also after an error: a process that receives SIGTERM may still write.
        self.orphaned_pipes.extend(execution.stdout);
        self.orphaned_pipes.extend(execution.stderr);
        let ended = followed?;
        self.channel.send(&Event::Finished { ended, stderr: execution.stderr_text.into_bytes() })?;
        Ok(match ended {
            Ended::Exited(_) | Ended::Signalled(_) => Next::Listen,
            Ended::DeadlineExceeded | Ended::Cancelled | Ended::OutputTooLarge => Next::End,
        })
    }

    /// Reads until the command ended, printed too much, or the parent requests the end. The parent replaces [`Ended::Cancelled`] by its own
    /// reason.
    fn follow(&mut self, execution: &mut Execution) -> io::Result<Ended> {
        loop {
            let mut polled = vec![
                PollFd::from_borrowed_fd(self.channel.descriptor(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN),
            ];
            // A closed pipe keeps its index, so that the indices behind it do not change.
            let placeholder = self.signals.descriptor();
            for pipe in [&execution.stdout, &execution.stderr] {
                let (descriptor, flags) = match pipe {
                    Some(pipe) => (pipe.as_fd(), PollFlags::IN),
                    None => (placeholder, PollFlags::empty()),
                };
                polled.push(PollFd::from_borrowed_fd(descriptor, flags));
            }
            polled.extend(self.orphaned_pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            wait(&mut polled, None)?;
            let requested = is_ready(polled.first());
            let child_ended = is_ready(polled.get(1));
            let stdout_ready = is_ready(polled.get(2));
            let stderr_ready = is_ready(polled.get(3));
            let orphaned_ready = readable_pipes(polled.get(4..).unwrap_or_default());
            if requested {
                // The parent sends no request while a command runs, so this is the end of the run: a request or a closed pipe.
                self.channel.receive()?;
                return Ok(Ended::Cancelled);
            }
            if stdout_ready && self.read_stdout(execution)? == Read::TooMuch {
                return Ok(Ended::OutputTooLarge);
            }
            if stderr_ready {
                self.read_stderr(execution);
            }
            self.discard(&orphaned_ready);
            if child_ended && let Some(ended) = self.reap(Some(execution.pid)) {
                return Ok(ended);
            }
        }
    }

    fn read_the_rest(&mut self, execution: &mut Execution) -> io::Result<Read> {
        let mut bytes = 0;
        while bytes < LAST_READ_BYTES_MAX {
            match self.read_stdout(execution)? {
                Read::Some(read) => bytes += read,
                Read::Nothing => break,
                Read::TooMuch => return Ok(Read::TooMuch),
            }
        }
        let mut bytes = 0;
        while bytes < LAST_READ_BYTES_MAX
            && let Read::Some(read) = self.read_stderr(execution)
        {
            bytes += read;
        }
        Ok(Read::Nothing)
    }

    fn read_stdout(&mut self, execution: &mut Execution) -> io::Result<Read> {
        let Some(pipe) = &execution.stdout else { return Ok(Read::Nothing) };
        match read_some(pipe, &mut self.chunk) {
            Ok(None) => Ok(Read::Nothing),
            Ok(Some(0)) | Err(_) => {
                execution.stdout = None;
                Ok(Read::Nothing)
            }
            Ok(Some(read)) => {
                let room = self.limits.stdout_bytes_max - execution.stdout_bytes;
                let kept = read.min(room);
                execution.stdout_bytes += kept;
                let chunk = Bytes::copy_from_slice(self.chunk.get(..kept).unwrap_or_default());
                self.channel.send(&Event::Stdout(chunk))?;
                Ok(if read > room { Read::TooMuch } else { Read::Some(read) })
            }
        }
    }

    fn read_stderr(&mut self, execution: &mut Execution) -> Read {
        let Some(pipe) = &execution.stderr else { return Read::Nothing };
        match read_some(pipe, &mut self.chunk) {
            Ok(None) => Read::Nothing,
            Ok(Some(0)) | Err(_) => {
                execution.stderr = None;
                Read::Nothing
            }
            Ok(Some(read)) => {
                execution.stderr_text.write(self.chunk.get(..read).unwrap_or_default());
                Read::Some(read)
            }
        }
    }
}
