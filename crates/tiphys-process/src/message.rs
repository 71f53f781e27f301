//! Messages between the parent and the launcher, over the launcher's standard input and output.
//!
//! A frame is one byte for the kind, four bytes for the length (little endian), and the payload. Both ends are the same executable, so
//! there is no version. Paths and output are bytes, so the format is not JSON.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::spec::{CommandSpec, Containment, Ended, Limits, PrivateView, Shielded, View};

/// Bytes of kind and length in front of a payload.
pub(crate) const HEADER_BYTES: usize = 5;

/// A request of the parent. The parent requests the end of the run by closing the pipe, even within a request. The launcher then ends every
/// process, removes the view, and sends [`Event::Gone`]. A request for the end could be stuck behind others if the launcher is stopped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// The first request, sent once.
    SetUp {
        /// The view of the commands.
        view: View,
        /// Limits of every command.
        limits: Limits,
        /// How the processes of the run are found at its end.
        containment: Containment,
    },
    /// Executes a command.
    Execute(CommandSpec),
}

/// An answer of the launcher.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The view is set up.
    Ready {
        /// The root as the commands see it.
        root: PathBuf,
        /// The roots of the other trees, in order.
        others: Vec<PathBuf>,
        /// Why the trees were copied although an overlay was requested. Empty if they were not.
        copied_because: String,
    },
    /// The view could not be set up. Everything is removed and the launcher exits.
    SetUpFailed {
        /// The reason.
        message: String,
    },
    /// The command could not be started.
    NotStarted {
        /// `errno`, 0 if unknown.
        errno: i32,
        /// The message. Empty for the system's message.
        message: String,
    },
    /// A part of the command's standard output.
    Stdout(Vec<u8>),
    /// The command ended, or is about to be ended with the run.
    Finished {
        /// How it ended.
        ended: Ended,
        /// Standard error, limited.
        stderr: Vec<u8>,
    },
    /// Every process ended and everything is removed.
    Gone {
        /// The processes and files that could not be ended or removed. Empty if there are none.
        message: String,
    },
}

mod kind {
    pub(super) const SET_UP: u8 = b'S';
    pub(super) const EXECUTE: u8 = b'X';
    pub(super) const READY: u8 = b'r';
    pub(super) const SET_UP_FAILED: u8 = b'f';
    pub(super) const NOT_STARTED: u8 = b'n';
    pub(super) const STDOUT: u8 = b'1';
    pub(super) const FINISHED: u8 = b'x';
    pub(super) const GONE: u8 = b'g';
}

impl Request {
    /// The frame.
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::SetUp { view, limits, containment } => {
                let mut frame = Writer::new(kind::SET_UP);
                match view {
                    View::Direct { dir } => {
                        frame.number(0);
                        frame.path(dir);
                    }
                    View::Private { lower, others, run_dir, how, shielded } => {
                        frame.number(match how {
                            PrivateView::Auto => 1,
                            PrivateView::Copy => 2,
                            PrivateView::Overlay => 3,
                        });
                        frame.path(lower);
                        frame.paths(others);
                        frame.path(run_dir);
                        frame.paths(&shielded.hidden);
                        frame.paths(&shielded.read_only);
                    }
                }
                frame.number(limits.stdout_bytes_max as u64);
                frame.number(limits.stderr_bytes_max as u64);
                frame.number(u64::try_from(limits.grace.as_millis()).unwrap_or(u64::MAX));
                frame.number(match containment {
                    Containment::Descendants => 0,
                    Containment::ProcessGroups => 1,
                });
                frame.finish()
            }
            Self::Execute(command) => {
                let mut frame = Writer::new(kind::EXECUTE);
                frame.number(command.argv.len() as u64);
                for argument in &command.argv {
                    frame.bytes(argument.as_bytes());
                }
                frame.number(command.env.len() as u64);
                for (name, value) in &command.env {
                    frame.bytes(name.as_bytes());
                    frame.bytes(value.as_bytes());
                }
                frame.path(&command.dir);
                frame.finish()
            }
        }
    }

    /// Decodes the payload of a frame.
    pub(crate) fn decode(kind: u8, payload: &[u8]) -> io::Result<Self> {
        let mut payload = Reader(payload);
        let request = match kind {
            kind::SET_UP => {
                let view = match payload.number()? {
                    0 => View::Direct { dir: payload.path()? },
                    kind => {
                        let how = match kind {
                            1 => PrivateView::Auto,
                            2 => PrivateView::Copy,
                            3 => PrivateView::Overlay,
                            _ => return Err(malformed()),
                        };
                        let (lower, others) = (payload.path()?, payload.paths()?);
                        let run_dir = payload.path()?;
                        let shielded = Shielded { hidden: payload.paths()?, read_only: payload.paths()? };
                        View::Private { lower, others, run_dir, how, shielded }
                    }
                };
                let limits = Limits {
                    stdout_bytes_max: payload.size()?,
                    stderr_bytes_max: payload.size()?,
                    grace: Duration::from_millis(payload.number()?),
                };
                let containment = match payload.number()? {
                    0 => Containment::Descendants,
                    _ => Containment::ProcessGroups,
                };
                Self::SetUp { view, limits, containment }
            }
            kind::EXECUTE => {
                let mut argv = Vec::new();
                for _ in 0..payload.number()? {
                    argv.push(payload.string()?);
                }
                let mut env = Vec::new();
                for _ in 0..payload.number()? {
                    env.push((payload.string()?, payload.string()?));
                }
                Self::Execute(CommandSpec { argv, env, dir: payload.path()? })
            }
            _ => return Err(malformed()),
        };
        payload.end()?;
        Ok(request)
    }
}

impl Event {
    /// The frame.
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut frame;
        match self {
            Self::Ready { root, others, copied_because } => {
                frame = Writer::new(kind::READY);
                frame.path(root);
                frame.paths(others);
                frame.bytes(copied_because.as_bytes());
            }
            Self::SetUpFailed { message } => {
                frame = Writer::new(kind::SET_UP_FAILED);
                frame.bytes(message.as_bytes());
            }
            Self::NotStarted { errno, message } => {
                frame = Writer::new(kind::NOT_STARTED);
                frame.signed(*errno);
                frame.bytes(message.as_bytes());
            }
            Self::Stdout(chunk) => {
                frame = Writer::new(kind::STDOUT);
                frame.raw(chunk);
            }
            Self::Finished { ended, stderr } => {
                frame = Writer::new(kind::FINISHED);
                let (kind, number) = match ended {
                    Ended::Exited(code) => (0, *code),
                    Ended::Signalled(signal) => (1, *signal),
                    Ended::DeadlineExceeded => (2, 0),
                    Ended::Cancelled => (3, 0),
                    Ended::OutputTooLarge => (4, 0),
                };
                frame.number(kind);
                frame.signed(number);
                frame.bytes(stderr);
            }
            Self::Gone { message } => {
                frame = Writer::new(kind::GONE);
                frame.bytes(message.as_bytes());
            }
        }
        frame.finish()
    }

    /// Decodes the payload of a frame.
    pub(crate) fn decode(kind: u8, payload: &[u8]) -> io::Result<Self> {
        let mut payload = Reader(payload);
        let event = match kind {
            kind::READY => Self::Ready {
                root: payload.path()?,
                others: payload.paths()?,
                copied_because: payload.string()?,
            },
            kind::SET_UP_FAILED => Self::SetUpFailed { message: payload.string()? },
            kind::NOT_STARTED => Self::NotStarted { errno: payload.signed()?, message: payload.string()? },
            kind::STDOUT => return Ok(Self::Stdout(payload.0.to_vec())),
            kind::FINISHED => {
                let kind = payload.number()?;
                let number = payload.signed()?;
                let ended = match kind {
                    0 => Ended::Exited(number),
                    1 => Ended::Signalled(number),
                    2 => Ended::DeadlineExceeded,
                    3 => Ended::Cancelled,
                    4 => Ended::OutputTooLarge,
                    _ => return Err(malformed()),
                };
                Self::Finished { ended, stderr: payload.bytes()?.to_vec() }
            }
            kind::GONE => Self::Gone { message: payload.string()? },
            _ => return Err(malformed()),
        };
        payload.end()?;
        Ok(event)
    }
}

/// Returns the kind and the payload length of a header.
pub(crate) fn header(header: [u8; HEADER_BYTES]) -> (u8, usize) {
    let [kind, a, b, c, d] = header;
    (kind, u32::from_le_bytes([a, b, c, d]) as usize)
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed message between tiphys and its launcher")
}

/// An encoder of frames.
struct Writer(Vec<u8>);

impl Writer {
    fn new(kind: u8) -> Self {
        Self(vec![kind, 0, 0, 0, 0])
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn number(&mut self, number: u64) {
        self.raw(&number.to_le_bytes());
    }

    fn signed(&mut self, number: i32) {
        self.raw(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    fn path(&mut self, path: &Path) {
        self.bytes(path.as_os_str().as_bytes());
    }

    fn paths(&mut self, paths: &[PathBuf]) {
        self.number(paths.len() as u64);
        for path in paths {
            self.path(path);
        }
    }

    fn finish(mut self) -> io::Result<Vec<u8>> {
        let length = u32::try_from(self.0.len() - HEADER_BYTES).map_err(|_too_long| {
            io::Error::new(io::ErrorKind::InvalidInput, "message to the launcher is larger than 4 GiB")
        })?;
        if let Some(length_bytes) = self.0.get_mut(1..HEADER_BYTES) {
            length_bytes.copy_from_slice(&length.to_le_bytes());
        }
        Ok(self.0)
    }
}

/// A decoder of payloads.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or_else(malformed)?;
        self.0 = rest;
        Ok(*head)
    }

    fn number(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn signed(&mut self) -> io::Result<i32> {
        Ok(i32::from_le_bytes(self.take()?))
    }

    fn size(&mut self) -> io::Result<usize> {
        usize::try_from(self.number()?).map_err(|_too_large| malformed())
    }

    fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let length = self.size()?;
        let (head, rest) = self.0.split_at_checked(length).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(head)
    }

    fn string(&mut self) -> io::Result<String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_not_utf8| malformed())
    }

    fn path(&mut self) -> io::Result<PathBuf> {
        Ok(PathBuf::from(OsString::from_vec(self.bytes()?.to_vec())))
    }

    fn paths(&mut self) -> io::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for _ in 0..self.number()? {
            paths.push(self.path()?);
        }
        Ok(paths)
    }

    fn end(&self) -> io::Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(malformed()) }
    }
}

#[cfg(test)]
mod tests;
