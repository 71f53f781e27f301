//! Programs that tiphys needs itself (git): fixed environment, no shell, no prompts, a deadline, limited output.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

use crate::bounded::HeadAndTail;
use crate::children::OwnChild;
use crate::pdeathsig::Start;
use crate::program::resolve;

/// Bytes of standard error that are kept: the first and the last half.
const STDERR_BYTES_MAX: usize = 64 * 1024;

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes read after the tool ended: more than a pipe can hold.
const LAST_READ_BYTES_MAX: usize = 1024 * 1024;

/// Time between SIGTERM and SIGKILL. Short, because it blocks a thread of the runtime.
const GRACE_MAX: Duration = Duration::from_millis(200);

/// Interval at which the end of the tool is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// A program that tiphys starts for itself.
#[derive(Clone)]
pub struct Tool {
    /// Program: absolute, or a name looked up in `PATH` of `env`.
    pub program: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Maximum duration of one call.
    pub timeout: Duration,
    /// Maximum bytes of standard output. More is an error.
    pub stdout_bytes_max: usize,
}

/// Environment values may be secret.
impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&OsString> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Tool")
            .field("program", &self.program)
            .field("env", &names)
            .field("timeout", &self.timeout)
            .field("stdout_bytes_max", &self.stdout_bytes_max)
            .finish()
    }
}

/// Result of a tool.
#[derive(Clone)]
pub struct ToolOutput {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, limited.
    pub stderr: String,
}

/// Output may be secret.
impl std::fmt::Debug for ToolOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolOutput")
            .field("code", &self.code)
            .field("stdout_bytes", &self.stdout.len())
            .field("stderr_bytes", &self.stderr.len())
            .finish()
    }
}

/// An error of a tool call.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It could not be started.
    #[error("cannot start {program}")]
    Start {
        /// The program.
        program: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// Reading its output or waiting for it failed.
    #[error("cannot read the output of {program}")]
    Io {
        /// The program.
        program: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// It exceeded the timeout. Its process group was ended.
    #[error("{program} did not end within {timeout:?}")]
    Timeout {
        /// The program.
        program: String,
        /// The timeout.
        timeout: Duration,
    },
    /// It printed too much.
    #[error("{program} printed more than {bytes_max} bytes")]
    OutputTooLarge {
        /// The program.
        program: String,
        /// The limit in bytes.
        bytes_max: usize,
    },
}

impl Tool {
    /// Runs the tool in a directory, with the given bytes or nothing on standard input. If the future is dropped, the process group of the
    /// tool is ended. If [`crate::pdeathsig_main`] was called, the tool also ends when this process is killed.
    ///
    /// Output of descendants after the end of the tool is not waited for.
    pub async fn run(
        &self,
        args: &[OsString],
        dir: &Path,
        stdin: Option<Vec<u8>>,
    ) -> Result<ToolOutput, ToolError> {
        self.run_started(Start::current(), args, dir, stdin).await
    }

    /// Runs a tool that only reads and ends soon. It does not end when this process is killed, which saves the start of a wrapper.
    pub async fn query(
        &self,
        args: &[OsString],
        dir: &Path,
        stdin: Option<Vec<u8>>,
    ) -> Result<ToolOutput, ToolError> {
        self.run_started(Start::Direct, args, dir, stdin).await
    }

    async fn run_started(
        &self,
        start: Start,
        args: &[OsString],
        dir: &Path,
        stdin: Option<Vec<u8>>,
    ) -> Result<ToolOutput, ToolError> {
        let input = if stdin.is_some() { Stdio::piped() } else { Stdio::null() };
        let mut running = self.start(start, args, dir, input, Stdio::piped())?;
        let mut printed = Printed {
            stdout: Vec::new(),
            stdout_bytes_max: self.stdout_bytes_max,
            stderr: HeadAndTail::new(STDERR_BYTES_MAX),
        };
        let followed = timeout(self.timeout, running.follow(stdin, &mut printed)).await;
        let program = || self.program.display().to_string();
        match followed {
            Ok(Ok(status)) => {
                let stderr = String::from_utf8_lossy(&printed.stderr.into_bytes()).into_owned();
                let output = ToolOutput { code: status.code(), stdout: printed.stdout, stderr };
                match running.start.failure(output.code, &output.stderr) {
                    Some(source) => Err(ToolError::Start { program: program(), source }),
                    None => Ok(output),
                }
            }
            Ok(Err(Failure::TooMuch)) => {
                Err(ToolError::OutputTooLarge { program: program(), bytes_max: self.stdout_bytes_max })
            }
            Ok(Err(Failure::Io(source))) => Err(ToolError::Io { program: program(), source }),
            Err(_elapsed) => Err(ToolError::Timeout { program: program(), timeout: self.timeout }),
        }
        // Dropping `running` ends what still runs.
    }

    pub(crate) fn start(
        &self,
        start: Start,
        args: &[OsString],
        dir: &Path,
        stdin: Stdio,
        stderr: Stdio,
    ) -> Result<Running, ToolError> {
        let fail = |source| ToolError::Start { program: self.program.display().to_string(), source };
        if !dir.is_dir() {
            let message = format!("working directory {} does not exist", dir.display());
            return Err(fail(io::Error::new(io::ErrorKind::NotFound, message)));
        }
        let program = resolve(&self.program, &self.env).map_err(fail)?;
        let mut process = start.command(&program, &self.program);
        process
            .args(args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(dir)
            .process_group(0)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(stderr);
        let child = start.spawn(process).map_err(fail)?;
        Ok(Running { child, start })
    }
}

/// The output of a tool so far.
struct Printed {
    stdout: Vec<u8>,
    stdout_bytes_max: usize,
    stderr: HeadAndTail,
}

impl Printed {
    fn write_stdout(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.stdout.len() + bytes.len() > self.stdout_bytes_max {
            return Err(Failure::TooMuch);
        }
        self.stdout.extend_from_slice(bytes);
        Ok(())
    }
}

enum Failure {
    TooMuch,
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A running tool. Dropping it ends its process group.
#[derive(Debug)]
pub(crate) struct Running {
    child: OwnChild,
    start: Start,
}

impl Running {
    /// Takes its standard input and output.
    pub(crate) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.child.stdin.take().zip(self.child.stdout.take())
    }

    /// Whether it has not ended.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for its end.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    async fn follow(&mut self, input: Option<Vec<u8>>, printed: &mut Printed) -> Result<ExitStatus, Failure> {
        let stdin = self.child.stdin.take();
        let mut stdout = self.child.stdout.take();
        let mut stderr = self.child.stderr.take();
        let feed = async move {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // A tool may exit without reading all its input.
                let _closed_early: io::Result<()> = stdin.write_all(&input).await;
            }
        };
        tokio::pin!(feed);
        let mut fed = false;
        let mut out = vec![0; CHUNK_BYTES];
        let mut err = vec![0; CHUNK_BYTES];
        let status = loop {
            tokio::select! {
                () = &mut feed, if !fed => fed = true,
                read = read_from(&mut stdout, &mut out), if stdout.is_some() => match read? {
                    0 => stdout = None,
                    read => printed.write_stdout(out.get(..read).unwrap_or_default())?,
                },
                read = read_from(&mut stderr, &mut err), if stderr.is_some() => match read? {
                    0 => stderr = None,
                    read => printed.stderr.write(err.get(..read).unwrap_or_default()),
                },
                status = self.child.wait() => break status?,
            }
        };
        // All output of the tool itself is in the pipes by now. They are read directly, because the runtime may not know yet that they are
        // readable.
        read_available(stdout, &mut out, |bytes| printed.write_stdout(bytes))?;
        read_available(stderr, &mut err, |bytes| {
            printed.stderr.write(bytes);
            Ok(())
        })?;
        Ok(status)
    }

    /// Sends a signal to the process group. The tool must not have been waited for, so that the ID is not reused.
    fn signal_group(&self, signal: Signal) -> Option<Pid> {
        let group = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)?;
        let _gone: rustix::io::Result<()> = kill_process_group(group, signal);
        Some(group)
    }
}

impl Drop for Running {
    /// Sends SIGTERM, so that the tool can remove its lock files, and SIGKILL a moment later.
    fn drop(&mut self) {
        let Some(leader) = self.signal_group(Signal::TERM) else { return };
        let kill_at = Instant::now() + GRACE_MAX;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while Instant::now() < kill_at && matches!(waitid(WaitId::Pid(leader), options), Ok(None)) {
            let timeout = rustix::event::Timespec::try_from(POLL_INTERVAL).ok();
            let _interrupted: rustix::io::Result<usize> = rustix::event::poll(&mut [], timeout.as_ref());
        }
        self.signal_group(Signal::KILL);
    }
}

async fn read_from(pipe: &mut Option<impl AsyncRead + Unpin>, chunk: &mut [u8]) -> io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.read(chunk).await,
        None => std::future::pending().await,
    }
}

/// Reads the bytes that are in a pipe now.
fn read_available(
    pipe: Option<impl AsFd>,
    chunk: &mut [u8],
    mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(pipe) = pipe else { return Ok(()) };
    let mut bytes = 0;
    while bytes < LAST_READ_BYTES_MAX {
        match rustix::io::read(&pipe, &mut *chunk) {
            Ok(0) | Err(Errno::AGAIN) => break,
            Ok(read) => {
                each(chunk.get(..read).unwrap_or_default())?;
                bytes += read;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(Failure::Io(error.into())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
