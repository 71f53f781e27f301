//! From arguments to an exit code: one command, ended by signals, everything cleaned up on the way out.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::{Arguments, Command};
use crate::failure::{Failure, INTERRUPTED_CODE, USAGE_CODE};
use crate::request::Request;
use crate::settings::Host;
use crate::{announce, check, generate};

/// Runs the program with this process's arguments and environment.
pub fn main() -> ExitCode {
    let host = Host::of_this_process();
    let arguments = match Arguments::try_parse_from(host.arguments()) {
        Ok(arguments) => arguments,
        Err(error) => {
            // A closed stdout or stderr leaves nobody to tell.
            drop(error.print());
            return if error.use_stderr() { ExitCode::from(USAGE_CODE) } else { ExitCode::SUCCESS };
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::new(format!("cannot start the runtime: {error}")).report(),
    };
    match runtime.block_on(unless_interrupted(run(&arguments.command, &host))) {
        Some(Ok(output)) => print(&output),
        Some(Err(failure)) => failure.report(),
        None => ExitCode::from(INTERRUPTED_CODE),
    }
}

async fn run(command: &Command, host: &Host) -> Result<Vec<u8>, Failure> {
    match command {
        Command::Generate => {
            let request = Request::of(host)?;
            let result = generate::generate(&request).await;
            result.map_err(|error| Failure::of(&error, &request.shown_paths()))
        }
        Command::Announce => {
            let request = Request::of(host)?;
            announce::announce(&request).map_err(|error| {
                let failure = Failure::of(&error, &request.shown_paths());
                if error.is_past_bound() { failure.past_bound() } else { failure }
            })
        }
        Command::Match => Ok(check::matches(host)?),
        Command::Check => check::check(host).await,
        Command::Version => Ok(check::version(host).await),
    }
}

/// Runs work to its end; `None` if a signal that asks the process to end came first. The work is dropped then, which ends the programs that
/// it has started and removes its files.
async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Option<T> {
    let signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(signal);
    let [Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)] = signals else {
        // Without handlers the signals' default action ends the process.
        return Some(work.await);
    };
    tokio::select! {
        result = work => Some(result),
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
        _ = hangup.recv() => None,
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
