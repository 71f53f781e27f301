//! One call of a plugin server on a connection of its own, as Argo CD's repository server makes it.

use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use tiphys_testkit::http2::{self, Event};

use super::archive::Archive;
use super::message::{self, Metadata};
use crate::Failure;

/// Bytes of the archive in one message, as Argo CD sends them.
const CHUNK_BYTES: usize = 1024;

/// Bytes given to the system at once, as grpc-go does.
const WRITE_BYTES: usize = 32 * 1024;

/// How long a call may take before the measurement gives up.
const ANSWER_MAX: Duration = Duration::from_mins(2);

/// A method of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Generate,
    Match,
    Announce,
    CheckConfiguration,
}

impl Method {
    fn path(self) -> &'static str {
        match self {
            Self::Generate => "/plugin.ConfigManagementPluginService/GenerateManifest",
            Self::Match => "/plugin.ConfigManagementPluginService/MatchRepository",
            Self::Announce => "/plugin.ConfigManagementPluginService/GetParametersAnnouncement",
            Self::CheckConfiguration => "/plugin.ConfigManagementPluginService/CheckPluginConfiguration",
        }
    }
}

/// An archive as the frames that carry it.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    frames: Vec<u8>,
    checksum: String,
    size: u64,
}

impl Upload {
    /// Cuts an archive into messages, each in a frame of its own.
    pub(crate) fn new(archive: &Archive) -> Self {
        let mut frames = Vec::with_capacity(archive.bytes.len() + archive.bytes.len() / 32);
        for chunk in archive.bytes.chunks(CHUNK_BYTES) {
            frames.extend(http2::data(&message::chunk(chunk)));
        }
        Self { frames, checksum: archive.checksum.clone(), size: archive.bytes.len() as u64 }
    }

    /// The same with a checksum that is not the archive's.
    pub(crate) fn with_wrong_checksum(&self) -> Self {
        Self { checksum: "0".repeat(self.checksum.len()), ..self.clone() }
    }
}

/// What is asked of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    /// The files; a check of the configuration has none.
    pub(crate) upload: Option<&'a Upload>,
    pub(crate) env: &'a [(&'a str, &'a str)],
    /// The caller's deadline.
    pub(crate) timeout: Option<Duration>,
    pub(crate) patience: Patience,
}

/// How long the caller stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Until the answer is there.
    UntilAnswered,
    /// Until so many bytes of the upload were sent; then it cancels the call.
    CancelsAfter(usize),
    /// Until so many bytes of the upload were sent; then the connection is gone.
    HangsUpAfter(usize),
    /// So long after the upload; then it cancels the call.
    CancelsIn(Duration),
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a message and without an error; its bytes.
    Answered(Vec<u8>),
    /// With a gRPC status that is an error.
    Refused(u32),
    /// The caller went away, as it meant to.
    GaveUp,
}

/// A call from connecting to the end of the answer.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    /// Until the last byte was sent, the message was there, the trailers were there.
    pub(crate) sent: Duration,
    pub(crate) replied: Duration,
    pub(crate) ended: Duration,
    /// Processor time of this side.
    pub(crate) client: Duration,
}

/// Makes a call.
pub(crate) fn call(socket: &Path, call: &Call<'_>) -> Result<Outcome, Failure> {
    let processor_before = processor_time()?;
    let begun = Instant::now();
    let mut exchange = Exchange::begin(socket, call, begun).map_err(|error| Failure::at(socket, error))?;
    let ending = exchange.run(call).map_err(|error| Failure::at(socket, error))?;
    let ended = begun.elapsed();
    Ok(Outcome {
        ending,
        sent: exchange.sent.unwrap_or(ended),
        replied: exchange.replied.unwrap_or(ended),
        ended,
        client: processor_time()?.saturating_sub(processor_before),
    })
}

impl Outcome {
    /// The same if it is an answer; else what went wrong.
    pub(crate) fn answered(self) -> Result<Self, Failure> {
        match &self.ending {
            Ending::Answered(message) if !message.is_empty() => Ok(self),
            Ending::Answered(_) => Err(Failure::new("the server's answer has nothing in it")),
            Ending::Refused(status) => {
                Err(Failure::new(format!("the server refused with gRPC status {status}")))
            }
            Ending::GaveUp => Err(Failure::new("the caller gave up")),
        }
    }
}

/// A call that is under way.
struct Exchange<'a> {
    stream: UnixStream,
    begun: Instant,
    /// What has to go out before more of the upload: never in the middle of one of its frames.
    control: Vec<u8>,
    upload: &'a [u8],
    /// Bytes of the upload that are out, and those that flow control lets out.
    written: usize,
    allowed: usize,
    ends_with: Option<Vec<u8>>,
    connection_window: i64,
    stream_window: i64,
    initial_window: i64,
    incoming: Vec<u8>,
    answer: Vec<u8>,
    block: Vec<u8>,
    status: Option<u32>,
    block_ends_stream: bool,
    sent: Option<Duration>,
    replied: Option<Duration>,
}

/// Whether a call goes on.
enum Step {
    GoesOn,
    Ended,
}

impl<'a> Exchange<'a> {
    fn begin(socket: &Path, call: &Call<'a>, begun: Instant) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_nonblocking(true)?;
        let authority = authority(socket);
        let timeout = call.timeout.map(|timeout| format!("{}m", timeout.as_millis()));
        let mut headers = vec![
            (":method", "POST"),
            (":scheme", "http"),
            (":path", call.method.path()),
            (":authority", &authority),
            ("content-type", "application/grpc"),
            ("user-agent", "grpc-go/1.83.0"),
            ("te", "trailers"),
        ];
        headers.extend(timeout.as_deref().map(|timeout| ("grpc-timeout", timeout)));
        let mut control = http2::opening(&headers);
        let first = match call.upload {
            None => message::empty(),
            Some(upload) => {
                Metadata { app_path: ".", checksum: &upload.checksum, size: upload.size, env: call.env }
                    .message()
            }
        };
        control.extend(http2::data(&first));
        let counted = i64::try_from(first.len()).unwrap_or(i64::MAX);
        Ok(Self {
            stream,
            begun,
            control,
            upload: call.upload.map_or(&[], |upload| &upload.frames),
            written: 0,
            allowed: 0,
            ends_with: Some(http2::end_of_data()),
            connection_window: http2::WINDOW_BYTES - counted,
            stream_window: http2::WINDOW_BYTES - counted,
            initial_window: http2::WINDOW_BYTES,
            incoming: Vec::new(),
            answer: Vec::new(),
            block: Vec::new(),
            status: None,
            block_ends_stream: false,
            sent: None,
            replied: None,
        })
    }

    fn run(&mut self, call: &Call<'_>) -> io::Result<Ending> {
        loop {
            self.send()?;
            if let Some(ending) = self.gives_up(call.patience)? {
                return Ok(ending);
            }
            let wants_out = !self.control.is_empty() || self.written < self.allowed;
            let flags = if wants_out { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
            let mut wait = ANSWER_MAX.saturating_sub(self.begun.elapsed());
            if let (Patience::CancelsIn(time), Some(sent)) = (call.patience, self.sent) {
                wait =
                    wait.min((sent + time).saturating_sub(self.begun.elapsed()) + Duration::from_millis(1));
            }
            let timeout = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
            let ready = poll(&mut [PollFd::new(self.stream.as_fd(), flags)], timeout)?;
            if ready == 0 && self.begun.elapsed() >= ANSWER_MAX {
                return Err(io::Error::other(format!("no answer within {} s", ANSWER_MAX.as_secs())));
            }
            if let Step::Ended = self.receive()? {
                return self.ending();
            }
        }
    }

    /// Ends the call early if the caller means to.
    fn gives_up(&mut self, patience: Patience) -> io::Result<Option<Ending>> {
        let cancels = match patience {
            Patience::UntilAnswered => return Ok(None),
            Patience::HangsUpAfter(bytes) if self.written >= bytes => return Ok(Some(Ending::GaveUp)),
            Patience::CancelsAfter(bytes) => {
                self.written >= bytes && self.written == self.allowed && self.control.is_empty()
            }
            Patience::CancelsIn(time) => self.sent.is_some_and(|sent| self.begun.elapsed() >= sent + time),
            Patience::HangsUpAfter(_) => false,
        };
        if !cancels {
            return Ok(None);
        }
        self.stream.set_nonblocking(false)?;
        self.stream.write_all(&http2::cancel())?;
        Ok(Some(Ending::GaveUp))
    }

    /// Sends as much as the server and the system take.
    fn send(&mut self) -> io::Result<()> {
        loop {
            let out = if self.written < self.allowed {
                &self.upload[self.written..self.allowed]
            } else if !self.control.is_empty() {
                &self.control
            } else {
                self.allow_more();
                if self.written == self.allowed && self.control.is_empty() {
                    return Ok(());
                }
                continue;
            };
            let is_control = self.written == self.allowed;
            match self.stream.write(out) {
                Ok(count) if is_control => drop(self.control.drain(..count)),
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The server's reason is still to be read.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    self.control.clear();
                    self.upload = &[];
                    (self.written, self.allowed, self.ends_with) = (0, 0, None);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
            if self.written == self.upload.len() && self.ends_with.is_none() && self.control.is_empty() {
                self.sent.get_or_insert_with(|| self.begun.elapsed());
            }
        }
    }

    /// Lets out the next frames that flow control has room for; after the last one, what says that it was.
    fn allow_more(&mut self) {
        while let Some(bytes) = self.upload.get(self.allowed..).and_then(http2::frame_bytes) {
            let counted = http2::counted(bytes);
            let is_full = self.allowed - self.written + bytes > WRITE_BYTES && self.allowed > self.written;
            if is_full || counted > self.connection_window.min(self.stream_window) {
                return;
            }
            self.connection_window -= counted;
            self.stream_window -= counted;
            self.allowed += bytes;
        }
        if self.allowed == self.upload.len() {
            self.control.extend(self.ends_with.take().into_iter().flatten());
        }
    }

    fn receive(&mut self) -> io::Result<Step> {
        let mut buffer = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(io::Error::other("the server ended the connection without an answer")),
                Ok(count) => self.incoming.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Step::GoesOn),
                Err(error) => return Err(error),
            }
            let incoming = std::mem::take(&mut self.incoming);
            let mut rest = &incoming[..];
            while let Some((frame, length)) = http2::frame(rest) {
                rest = &rest[length..];
                let event =
                    frame.event().ok_or_else(|| io::Error::other("the server sent a broken frame"))?;
                if let Step::Ended = self.take(event)? {
                    return Ok(Step::Ended);
                }
            }
            self.incoming = rest.to_vec();
        }
    }

    fn take(&mut self, event: Event<'_>) -> io::Result<Step> {
        match event {
            Event::Data { bytes, ends } => {
                self.answer.extend_from_slice(bytes);
                if message::content(&self.answer).is_some() {
                    self.replied.get_or_insert_with(|| self.begun.elapsed());
                }
                if ends {
                    return Ok(Step::Ended);
                }
            }
            Event::Headers { block, whole, ends } => {
                self.block.extend_from_slice(block);
                self.block_ends_stream |= ends;
                if whole {
                    self.status = http2::grpc_status(&std::mem::take(&mut self.block)).or(self.status);
                    if self.block_ends_stream {
                        return Ok(Step::Ended);
                    }
                }
            }
            Event::Window { stream: 0, bytes } => self.connection_window += bytes,
            Event::Window { bytes, .. } => self.stream_window += bytes,
            Event::InitialWindow(bytes) => {
                self.stream_window += bytes - self.initial_window;
                self.initial_window = bytes;
                self.control.extend(http2::settings_seen());
            }
            Event::Settings => self.control.extend(http2::settings_seen()),
            Event::Ping(payload) => self.control.extend(http2::pong(payload)),
            Event::Reset(reason) => {
                return Err(io::Error::other(format!("the server reset the stream, reason {reason}")));
            }
            Event::GoAway(reason) if reason != 0 => {
                return Err(io::Error::other(format!("the server ended the connection, reason {reason}")));
            }
            Event::GoAway(_) | Event::Other => {}
        }
        Ok(Step::GoesOn)
    }

    fn ending(&mut self) -> io::Result<Ending> {
        match self.status {
            None => Err(io::Error::other("the server's answer has no gRPC status")),
            Some(0) => match message::content(&self.answer) {
                Some(message) => Ok(Ending::Answered(message.to_vec())),
                None => Err(io::Error::other("the server's answer is not one whole message")),
            },
            Some(status) => Ok(Ending::Refused(status)),
        }
    }
}

/// What a grpc-go client that dials a socket by its path calls the server: the path without its first slash, percent-encoded.
fn authority(socket: &Path) -> String {
    use std::fmt::Write as _;
    let path = socket.as_os_str().as_bytes();
    let mut text = String::new();
    for byte in path.strip_prefix(b"/").unwrap_or(path) {
        if byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]@".contains(byte) {
            text.push(char::from(*byte));
        } else {
            write!(text, "%{byte:02X}").ok();
        }
    }
    text
}

/// Processor time of this thread so far.
fn processor_time() -> Result<Duration, Failure> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).map_err(|error| Failure::new(error.to_string()))?;
    Ok(total(&usage))
}

fn total(usage: &Usage) -> Duration {
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| {
            Duration::from_secs(time.tv_sec().unsigned_abs())
                + Duration::from_micros(time.tv_usec().unsigned_abs())
        })
        .sum()
}

#[cfg(test)]
mod tests;
