//! From arguments to an exit code: one command, ended by signals, everything cleaned up on the way out.
//!
//! A command that starts helm or makes a home works in a thread of its own, so that the first one hears signals whatever the work is doing:
//! looking through a file system that is slow or writing to a pipe that nobody reads, too. The other commands have nothing to clean up, and
//! the system ends them.

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

use crate::arguments::{Arguments, Command};
use crate::failure::{Failure, INTERRUPTED_CODE, USAGE_CODE};
use crate::host::Host;
use crate::request::Request;
use crate::{announce, check, generate, home};

/// How long the work has, after a signal, to end helm and to clean up. Argo CD kills what is still there after five seconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs the program with this process's arguments and environment.
pub fn main() -> ExitCode {
    let host = Host::of_this_process();
    // First of all: a program that this process starts begins as this very program.
    if let Some(code) = tiphys_process::pdeathsig_main(host.arguments()) {
        return ExitCode::from(code);
    }
    let arguments = match Arguments::try_parse_from(host.arguments()) {
        Ok(arguments) => arguments,
        Err(error) => {
            // A closed stdout or stderr leaves nobody to tell.
            drop(error.print());
            return if error.use_stderr() { ExitCode::from(USAGE_CODE) } else { ExitCode::SUCCESS };
        }
    };
    let guarded = match arguments.command {
        Command::Match => return tell(check::matches(&host).map_err(Failure::from)),
        Command::Announce => return tell(announced(&host)),
        Command::Generate => Guarded::Generate,
        Command::Check => Guarded::Check,
        Command::Version => Guarded::Version,
    };
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::new(format!("cannot start the runtime: {error}")).report(),
    };
    let code = runtime.block_on(until_a_signal(guarded, host));
    // A thread that is stuck goes with the process.
    runtime.shutdown_background();
    code
}

/// A command that starts programs and makes a home.
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
    let request = Request::of(host)?;
    announce::announce(&request).map_err(|error| {
        let failure = Failure::of(&error, &request.cleaner());
        if error.is_past_bound() { failure.past_bound() } else { failure }
    })
}

/// Runs a command to its end, or until a signal asks the process to end. The work is dropped then, which ends the programs that it has
/// started and removes its files.
async fn until_a_signal(command: Guarded, host: Host) -> ExitCode {
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
            // What it does not do in time is done here, as far as it can be.
            drop(timeout(PATIENCE, work).await);
            home::remove_all();
            return ExitCode::from(INTERRUPTED_CODE);
        }
    };
    let result = match result {
        Ok(Some(result)) => result,
        Ok(None) => return ExitCode::from(INTERRUPTED_CODE),
        Err(error) => Err(Failure::new(format!("the work ended early: {error}"))),
    };
    tokio::select! {
        told = spawn_blocking(|| tell(result)) => told.unwrap_or(ExitCode::FAILURE),
        () = signals.next() => ExitCode::from(INTERRUPTED_CODE),
    }
}

/// The signals that ask a process to end; `None` where the system's own action stays, which ends it.
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

/// Tells how a command ended: data on standard output, a failure on standard error.
fn tell(result: Result<Vec<u8>, Failure>) -> ExitCode {
    match result {
        Ok(output) => print(&output),
        Err(failure) => failure.report(),
    }
}

/// Writes data to standard output; that nobody reads it is no failure.
fn print(output: &[u8]) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(output).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => Failure::new(format!("cannot write to standard output: {error}")).report(),
    }
}
