//! The program `tiphys-native`, which builds kustomizations and evaluates Jsonnet files, many in one process. Its messages are described in
//! `plugins/kustomize/native`.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tiphys_model::limits::{Limit, Limits};
use tiphys_process::{Tool, WorkerError, Workers, chain, find_beside};
use tiphys_tree::{RepoPath, Tree};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::request::Deadline;

/// The name of the program.
pub const NATIVE_PROGRAM: &str = "tiphys-native";

/// The version of its messages.
const PROTOCOL: u64 = 1;

/// The version of kustomize that it contains.
pub const NATIVE_KUSTOMIZE: &str = "v5.8.3";

/// The variable with its path, for the commands that it can do.
pub(crate) const NATIVE_VARIABLE: &str = "TIPHYS_KUSTOMIZE_NATIVE";

/// The variable with the maximum size of its heap in bytes.
const MEMORY_VARIABLE: &str = "TIPHYS_NATIVE_MEMORY_BYTES";

/// Maximum time until its greeting.
const GREETING_MAX: Duration = Duration::from_secs(10);

/// Its exit code if its heap is larger.
const MEMORY_CODE: i32 = 87;

/// The exit code of Go's fatal errors.
const FATAL_CODE: i32 = 2;

/// The program, and the commands of built-in plugins that it can do instead of them.
#[derive(Debug)]
pub struct NativeProgram {
    workers: Workers,
    commands: &'static [NativeCommand],
    /// Limits its processes.
    permits: Semaphore,
    bytes_max: u64,
    answers: AtomicUsize,
    is_usable: OnceCell<bool>,
}

/// A `generate` command of a built-in plugin.
#[derive(Debug)]
pub struct NativeCommand {
    /// The program of the command.
    pub program: &'static str,
    /// Returns the request that has the same result; `None` if the command must run.
    pub request: fn(&NativeCall<'_>) -> Option<Value>,
}

/// A call of a command.
#[derive(Debug)]
pub struct NativeCall<'a> {
    /// The environment of the command.
    pub env: &'a [(String, String)],
    /// The files of the repository.
    pub tree: &'a Tree,
    /// The application's directory.
    pub app_path: &'a RepoPath,
}

/// The answer to a request.
#[derive(Debug, Default)]
pub struct NativeOutput {
    /// The result.
    pub output: String,
    /// Its messages, as a program prints them to standard error.
    pub warnings: String,
}

/// A request without a result.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// The request is invalid or unsupported; the message of the program.
    #[error("{0}")]
    Failed(String),
    /// The program has another version, or does not answer.
    #[error("{NATIVE_PROGRAM} is not that of this version of tiphys; install it again")]
    Unusable,
    /// The answer has neither a result nor an error.
    #[error("{NATIVE_PROGRAM} answered with neither a result nor an error")]
    Malformed,
    /// The program did not answer.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// It needs too much memory.
    #[error("{NATIVE_PROGRAM}: more than {bytes_max} bytes of memory are needed")]
    Memory {
        /// The limit in bytes.
        bytes_max: u64,
        /// [`Limit::NATIVE_BYTES_MAX`].
        #[source]
        limit: Limit,
    },
    /// It ended with a fatal error of Go, such as a stack overflow.
    #[error("{NATIVE_PROGRAM} failed: the input is nested too deeply, or needs too much memory")]
    Fatal,
    /// It did not answer in time.
    #[error("no answer in time")]
    DeadlineExceeded(#[source] Limit),
    /// The caller cancelled the request.
    #[error("cancelled")]
    Cancelled,
}

impl NativeProgram {
    /// Finds the program beside `executable` or in the search path. At most so many of its processes run at once.
    pub fn find(
        executable: &Path,
        search_path: &OsStr,
        limits: &Limits,
        processes_max: usize,
        commands: &'static [NativeCommand],
    ) -> Option<Self> {
        let program = find_beside(executable, NATIVE_PROGRAM, search_path)?;
        let bytes_max = limits.get(Limit::NATIVE_BYTES_MAX);
        let tool = Tool {
            program,
            env: vec![(MEMORY_VARIABLE.into(), bytes_max.to_string().into())],
            timeout: Duration::MAX,
            stdout_bytes_max: limits.size(Limit::PLUGIN_OUTPUT_MAX),
        };
        let workers = Workers::new(tool, is_expected);
        let permits = Semaphore::new(processes_max.clamp(1, Semaphore::MAX_PERMITS));
        Some(Self {
            workers,
            commands,
            permits,
            bytes_max,
            answers: AtomicUsize::new(0),
            is_usable: OnceCell::new(),
        })
    }

    /// Returns the program if it has the right version. Reports once if it has not.
    pub async fn usable(&self) -> Option<&Path> {
        let check = || async {
            let greeting = timeout(GREETING_MAX, self.workers.prepare()).await;
            let problem = match greeting {
                Ok(Ok(())) => return true,
                Ok(Err(error)) => chain(&error),
                Err(_elapsed) => "it does not answer".to_owned(),
            };
            let program = self.workers.program().display();
            tracing::warn!(
                "{program} is not used: {problem}; install the {NATIVE_PROGRAM} of this version of tiphys"
            );
            false
        };
        self.is_usable.get_or_init(check).await.then(|| self.workers.program())
    }

    /// Whether it can do commands of a built-in plugin's program.
    pub(crate) fn knows(&self, program: &str) -> bool {
        self.commands.iter().any(|command| command.program == program)
    }

    /// Returns the number of requests with a result.
    pub fn answers(&self) -> usize {
        self.answers.load(Ordering::Relaxed)
    }

    /// Returns the request that has the same result as a command.
    pub(crate) fn request(&self, argv: &[String], call: &NativeCall<'_>) -> Option<Value> {
        let command = self.commands.iter().find(|command| argv == [command.program, "generate"])?;
        (command.request)(call)
    }

    /// Asks the program.
    pub async fn ask(
        &self,
        request: &Value,
        deadline: Deadline,
        cancel: &CancellationToken,
    ) -> Result<NativeOutput, NativeError> {
        let request = request.to_string();
        let asking = async {
            let Ok(_permit) = self.permits.acquire().await else { return Err(NativeError::Cancelled) };
            self.usable().await.ok_or(NativeError::Unusable)?;
            let asking = self.workers.ask(request.as_bytes());
            let answer = timeout_at(deadline.from(Instant::now()), asking).await;
            answer.map_err(|_elapsed| NativeError::DeadlineExceeded(Limit::PLUGIN_TIMEOUT))
        };
        let answer = tokio::select! {
            answer = asking => answer?,
            () = cancel.cancelled() => return Err(NativeError::Cancelled),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(WorkerError::Ended { code: Some(MEMORY_CODE), .. }) => {
                return Err(NativeError::Memory {
                    bytes_max: self.bytes_max,
                    limit: Limit::NATIVE_BYTES_MAX,
                });
            }
            Err(WorkerError::Ended { code: Some(FATAL_CODE), .. }) => return Err(NativeError::Fatal),
            Err(error) => return Err(error.into()),
        };
        let mut answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let mut field = |name: &str| match answer.get_mut(name).map(Value::take) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        match (field("error"), field("output")) {
            (Some(error), _) => Err(NativeError::Failed(error.trim_end().to_owned())),
            (None, Some(output)) => {
                self.answers.fetch_add(1, Ordering::Relaxed);
                Ok(NativeOutput { output, warnings: field("warnings").unwrap_or_default() })
            }
            (None, None) => Err(NativeError::Malformed),
        }
    }
}

/// Whether the program of a greeting has these messages and this version of kustomize.
fn is_expected(greeting: &[u8]) -> bool {
    let greeting: Value = serde_json::from_slice(greeting).unwrap_or_default();
    greeting["protocol"] == PROTOCOL && greeting["kustomize"] == NATIVE_KUSTOMIZE
}
