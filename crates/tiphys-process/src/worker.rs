//! Programs that answer requests one after another, so that many requests pay for one start.
//!
//! A message is its length, four bytes with the highest first, and as many bytes. A worker reads requests from standard input, writes the
//! answers to standard output, and ends with its input. Its first message is a greeting.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout};

use crate::pdeathsig::Start;
use crate::tool::{Running, Tool, ToolError};

/// Workers of one program. A request gets a worker of its own until it is answered.
#[derive(Debug)]
pub struct Workers {
    tool: Tool,
    /// Whether a greeting is the expected one.
    accepted: fn(&[u8]) -> bool,
    idle: Mutex<Vec<Worker>>,
}

/// A worker that waits for a request, or answers one. Dropping it ends it.
#[derive(Debug)]
struct Worker {
    running: Running,
    stdin: ChildStdin,
    stdout: ChildStdout,
    bytes_max: usize,
}

/// A request without an answer.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The worker could not be started.
    #[error(transparent)]
    Start(#[from] ToolError),
    /// The greeting is not the expected one.
    #[error("{program} is of another version")]
    Version {
        /// The program.
        program: String,
    },
    /// The worker ended, with this exit code or by a signal.
    #[error("{program} ended before it answered")]
    Ended {
        /// The program.
        program: String,
        /// The exit code; `None` if a signal ended it.
        code: Option<i32>,
    },
    /// The answer is too large.
    #[error("{program} answered with more than {bytes_max} bytes")]
    TooLarge {
        /// The program.
        program: String,
        /// The limit in bytes.
        bytes_max: usize,
    },
}

impl Workers {
    /// Returns workers of the program, of which none runs yet. One whose greeting is not `accepted` is an error. The tool's timeout does not
    /// apply: a dropped request ends its worker.
    pub fn new(tool: Tool, accepted: fn(&[u8]) -> bool) -> Self {
        Self { tool, accepted, idle: Mutex::default() }
    }

    /// Returns the program.
    pub fn program(&self) -> &Path {
        &self.tool.program
    }

    /// Starts a worker, unless one is idle.
    pub async fn prepare(&self) -> Result<(), WorkerError> {
        let worker = self.take().await?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        Ok(())
    }

    /// Asks an idle worker, or a new one. A worker that fails, or whose request is dropped, ends.
    pub async fn ask(&self, request: &[u8]) -> Result<Vec<u8>, WorkerError> {
        let mut worker = self.take().await?;
        let answer = worker.exchange(request).await;
        let answer = self.received(&mut worker, answer).await?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        Ok(answer)
    }

    async fn take(&self) -> Result<Worker, WorkerError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // One that ended meanwhile is replaced.
        let idle = idle.and_then(|mut worker| worker.running.is_running().then_some(worker));
        if let Some(worker) = idle {
            return Ok(worker);
        }
        let mut worker = Worker::start(&self.tool)?;
        let greeting = worker.receive().await;
        if !(self.accepted)(&self.received(&mut worker, greeting).await?) {
            return Err(WorkerError::Version { program: self.name() });
        }
        Ok(worker)
    }

    async fn received(
        &self,
        worker: &mut Worker,
        answer: io::Result<Vec<u8>>,
    ) -> Result<Vec<u8>, WorkerError> {
        let program = self.name();
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                Err(WorkerError::TooLarge { program, bytes_max: self.tool.stdout_bytes_max })
            }
            // Its output is closed.
            Err(_) => {
                let code = worker.running.wait().await.ok().and_then(|status| status.code());
                Err(WorkerError::Ended { program, code })
            }
        }
    }

    fn name(&self) -> String {
        self.tool.program.display().to_string()
    }
}

impl Worker {
    fn start(tool: &Tool) -> Result<Self, ToolError> {
        let mut running = tool.start(Start::current(), &[], Path::new("/"), Stdio::piped(), Stdio::null())?;
        let (stdin, stdout) = running.pipes().ok_or_else(|| ToolError::Io {
            program: tool.program.display().to_string(),
            source: io::ErrorKind::BrokenPipe.into(),
        })?;
        Ok(Self { running, stdin, stdout, bytes_max: tool.stdout_bytes_max })
    }

    async fn exchange(&mut self, request: &[u8]) -> io::Result<Vec<u8>> {
        let length = u32::try_from(request.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.stdin.write_all(&length.to_be_bytes()).await?;
        self.stdin.write_all(request).await?;
        self.receive().await
    }

    async fn receive(&mut self) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.stdout.read_u32().await?).unwrap_or(usize::MAX);
        if length > self.bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut answer = vec![0; length];
        self.stdout.read_exact(&mut answer).await?;
        Ok(answer)
    }
}

#[cfg(test)]
mod tests;
