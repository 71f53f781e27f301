//! The program's entry point: runs one command, handles signals and cleans up.
//!
//! A command that starts helm or creates a home runs in a thread of its own. So the main thread handles signals even if the file system is
//! slow or the reader of a pipe does not read. Other commands need no clean-up, and signals end them.

use std::ffi::OsString;
use std::future;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::announce::{AnnounceError, Printed};
use crate::arguments::{Arguments, Command};
use crate::failure::{self, Failure, INTERRUPTED_CODE, USAGE_CODE};
use crate::host::{self, Host};
use crate::request::Request;
use crate::{announce, check, generate, home, request};

/// Time after a signal for ending helm and cleaning up. Argo CD sends SIGKILL after five seconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// Variable with the name of the parameter that `explain` is about. Without it, all are explained.
const PARAMETER_VARIABLE: &str = "TIPHYS_PARAMETER";

/// Runs the program with this process's arguments and environment, and returns its exit code.
pub fn main() -> ExitCode {
    run(host::arguments())
}

/// Runs the program with these arguments, the program's name first, and this process's environment.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let host = Host::of_process(arguments);
    // Must be first: a child process starts as this program.
    if let Some(code) = tiphys_process::pdeathsig_main(host.arguments()) {
        return ExitCode::from(code);
    }
    let arguments = match Arguments::try_parse_from(host.arguments()) {
        Ok(arguments) => arguments,
        Err(error) => {
            // stdout and stderr may be closed.
            drop(error.print());
            return if error.use_stderr() { ExitCode::from(USAGE_CODE) } else { ExitCode::SUCCESS };
        }
    };
    let guarded = match arguments.command {
        Command::Match => return report(check::matches(&host).map_err(Failure::from)),
        Command::Announce => return report(announced(&host)),
        Command::Explain => return report(explained(&host)),
        Command::Generate => Guarded::Generate,
        Command::Check => Guarded::Check,
        Command::Version => Guarded::Version,
    };
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::new(format!("cannot start the runtime: {error}")).report(),
    };
    let code = runtime.block_on(run_until_signal(guarded, host));
    // A blocked thread ends with the process.
    runtime.shutdown_background();
    code
}

/// A command that starts programs and creates a home.
#[derive(Clone, Copy, Debug)]
enum Guarded {
    Generate,
    Check,
    Version,
}

impl Guarded {
    async fn run(self, host: &Host) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Generate => generate::generate(&Request::of(host)?).await,
            Self::Check => check::check(host).await,
            Self::Version => Ok(check::version(host).await),
        }
    }
}

fn announced(host: &Host) -> Result<Vec<u8>, Failure> {
    if let Some(requests) = request::several(host)? {
        return Ok(requests.iter().map(line).collect::<Vec<_>>().concat());
    }
    let request = Request::of(host)?;
    printed(&request, announce::announce(&request))
}

/// Returns the line about one of several requests. tiphys asks for one that failed alone, which reports the error.
fn line(host: &Host) -> Vec<u8> {
    let announced = Request::of(host).ok().and_then(|request| announce::announce(&request).ok());
    let Some(Printed { json, warnings }) = announced else { return b"null\n".to_vec() };
    let warnings = serde_json::json!(warnings).to_string();
    [br#"{"announcements":"#, json.trim_ascii_end(), br#","warnings":"#, warnings.as_bytes(), b"}\n"].concat()
}

fn explained(host: &Host) -> Result<Vec<u8>, Failure> {
    let request = Request::of(host)?;
    let parameter = host.variable(PARAMETER_VARIABLE).filter(|name| !name.is_empty());
    printed(&request, announce::explain(&request, parameter))
}

/// Prints warnings and returns what is to be printed on standard output.
fn printed(request: &Request, result: Result<Printed, AnnounceError>) -> Result<Vec<u8>, Failure> {
    let printed = result.map_err(|error| {
        let failure = Failure::of(&error, &request.redactor());
        if error.exceeds_limit() { failure.above_limit() } else { failure }
    })?;
    for warning in &printed.warnings {
        failure::warn(warning);
    }
    Ok(printed.json)
}

/// Runs a command to its end or until a termination signal. The future is dropped then, which ends its child processes and removes its
/// files.
async fn run_until_signal(command: Guarded, host: Host) -> ExitCode {
    let mut signals = Signals::listen();
    let (stop, stopped) = oneshot::channel::<()>();
    let runtime = Handle::current();
    let mut work = spawn_blocking(move || {
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = stopped => None,
                result = command.run(&host) => Some(result),
            }
        })
    });
    let result = tokio::select! {
        ended = &mut work => ended,
        () = signals.next() => {
            drop(stop);
            // If that takes too long, clean up here as far as possible.
            drop(timeout(PATIENCE, work).await);
            home::remove_all();
            return ExitCode::from(INTERRUPTED_CODE);
        }
    };
    let result = match result {
        Ok(Some(result)) => result,
        Ok(None) => return ExitCode::from(INTERRUPTED_CODE),
        Err(error) => Err(Failure::new(format!("the command ended early: {error}"))),
    };
    tokio::select! {
        code = spawn_blocking(|| report(result)) => code.unwrap_or(ExitCode::FAILURE),
        () = signals.next() => ExitCode::from(INTERRUPTED_CODE),
    }
}

/// Termination signals; `None` if the system's default action stays.
struct Signals(Option<[Signal; 3]>);

impl Signals {
    fn listen() -> Self {
        let signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(signal);
        let [Ok(terminate), Ok(interrupt), Ok(hangup)] = signals else { return Self(None) };
        Self(Some([terminate, interrupt, hangup]))
    }

    async fn next(&mut self) {
        let Some([terminate, interrupt, hangup]) = &mut self.0 else { return future::pending().await };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

/// Prints data to standard output, or a failure to standard error.
fn report(result: Result<Vec<u8>, Failure>) -> ExitCode {
    match result {
        Ok(output) => print(&output),
        Err(failure) => failure.report(),
    }
}

/// Writes data to standard output. A closed pipe is not an error.
fn print(output: &[u8]) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(output).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => Failure::new(format!("cannot write to standard output: {error}")).report(),
    }
}
