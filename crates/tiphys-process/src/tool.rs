//! Our own tools (git): fixed environment, no shell, nothing prompts, a deadline, bounded output.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A program that tiphys starts for itself.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Program: absolute, or a name looked up in `PATH` of `env`.
    pub program: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// How long one call may take.
    pub timeout: Duration,
    /// Bytes of standard output, more is an error.
    pub stdout_bytes_max: usize,
}

/// What a tool printed.
#[derive(Clone, Debug)]
pub struct ToolOutput {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, bounded.
    pub stderr: String,
}

/// Why a tool could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It could not be started.
    #[error("cannot start {program}")]
    Start {
        /// The program.
        program: String,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
    /// It took too long; its process group was ended.
    #[error("{program} did not end within {timeout:?}")]
    Timeout {
        /// The program.
        program: String,
        /// The bound.
        timeout: Duration,
    },
    /// It printed too much.
    #[error("{program} printed more than {bytes_max} bytes")]
    OutputTooLarge {
        /// The program.
        program: String,
        /// The bound in bytes.
        bytes_max: usize,
    },
}

impl Tool {
    /// Runs the tool to its end in a directory, with nothing or the given bytes on standard input. Ends the tool's process group if the future is dropped.
    pub async fn run(&self, args: &[OsString], dir: &std::path::Path, stdin: Option<Vec<u8>>) -> Result<ToolOutput, ToolError> {
        todo!("{args:?} {dir:?} {stdin:?}")
    }
}
