//! Calls of a plugin server by the grpc-go client in `e2e`, each on its own connection, as Argo CD's repo-server makes them.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::archive::Upload;
use crate::Failure;
use crate::cargo::program;

/// A method of the plugin protocol, by its name there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) enum Method {
    #[default]
    #[serde(rename = "GenerateManifest")]
    Generate,
    #[serde(rename = "MatchRepository")]
    Match,
    #[serde(rename = "GetParametersAnnouncement")]
    Announce,
    #[serde(rename = "CheckPluginConfiguration")]
    CheckConfiguration,
}

/// When the client ends a call early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GiveUp {
    #[default]
    Never,
    /// Cancels the call after this many bytes of the archive.
    CancelUpload(usize),
    /// Closes the connection after this many bytes of the archive.
    HangUp(usize),
    /// Cancels the call this long after the upload.
    CancelRun(Duration),
}

/// A call, or several equal calls at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    /// The archive to send; none for [`Method::CheckConfiguration`].
    pub(crate) upload: Option<&'a Upload>,
    /// Environment variables, `NAME=VALUE`.
    pub(crate) env: &'a [String],
    /// The deadline that the server receives; zero is none.
    pub(crate) timeout: Duration,
    pub(crate) give_up: GiveUp,
}

/// The outcome of a call. Durations start before the client connects.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Outcome {
    /// Nanoseconds until the upload, the message and the status are complete.
    sent: u64,
    replied: u64,
    ended: u64,
    /// The gRPC status, and its text if it is an error.
    pub(crate) code: u32,
    pub(crate) error: String,
    /// Length and SHA-256 of the message.
    bytes: u64,
    pub(crate) checksum: String,
    /// Whether the client ended the call early.
    pub(crate) gave_up: bool,
}

impl Outcome {
    /// Durations until the upload, the message and the status are complete.
    pub(crate) fn durations(&self) -> [Duration; 3] {
        [self.sent, self.replied, self.ended].map(Duration::from_nanos)
    }

    /// Fails unless the server answered with a message that is not empty.
    pub(crate) fn answered(self) -> Result<Self, Failure> {
        match self.bytes {
            _ if self.code != 0 => Err(Failure::new(format!("gRPC status {}: {}", self.code, self.error))),
            0 => Err(Failure::new("the server's answer is empty")),
            _ => Ok(self),
        }
    }
}

/// A running client for one socket. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Client {
    socket: PathBuf,
    child: Child,
    /// Calls, one line each, and their outcomes; none after the client was told to end.
    pipes: Mutex<Option<(ChildStdin, BufReader<ChildStdout>)>>,
}

impl Client {
    /// Starts the client. The server need not run yet.
    pub(crate) fn start(file: &Path, socket: &Path) -> Result<Self, Failure> {
        let mut child = program(file)
            .arg("--calls")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::at(file, error))?;
        let pipes = child.stdin.take().zip(child.stdout.take().map(BufReader::new));
        Ok(Self { socket: socket.to_path_buf(), child, pipes: Mutex::new(pipes) })
    }

    /// Makes one call.
    pub(crate) fn call(&self, call: &Call<'_>) -> Result<Outcome, Failure> {
        self.at_once(call, 1)?.pop().ok_or_else(|| Failure::new("the client printed no outcome"))
    }

    /// Makes this many equal calls at once.
    pub(crate) fn at_once(&self, call: &Call<'_>, count: usize) -> Result<Vec<Outcome>, Failure> {
        let (give_up, bytes, after) = match call.give_up {
            GiveUp::Never => ("", 0, Duration::ZERO),
            GiveUp::CancelUpload(bytes) => ("cancel-upload", bytes, Duration::ZERO),
            GiveUp::HangUp(bytes) => ("hang-up", bytes, Duration::ZERO),
            GiveUp::CancelRun(after) => ("cancel-run", 0, after),
        };
        let line = serde_json::json!({
            "Socket": self.socket,
            "Method": call.method,
            "Archive": call.upload.map(|upload| &upload.file),
            "Checksum": call.upload.map(|upload| &upload.checksum),
            "Env": call.env,
            "Timeout": u64::try_from(call.timeout.as_nanos()).unwrap_or(u64::MAX),
            "GiveUp": give_up,
            "GiveUpBytes": bytes,
            "GiveUpAfter": u64::try_from(after.as_nanos()).unwrap_or(u64::MAX),
            "Count": count,
        });
        self.exchange(&line.to_string())
            .and_then(|answer| serde_json::from_str(&answer).map_err(io::Error::from))
            .map_err(|error| Failure::new(format!("the gRPC client: {error}")))
    }

    fn exchange(&self, line: &str) -> io::Result<String> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let (input, output) = pipes.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(input, "{line}")?;
        let mut answer = String::new();
        output.read_line(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The client ends at the end of its standard input.
        self.pipes.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        self.child.wait().ok();
    }
}
