//! The life of the process: logging, the runtime, signals.

use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::args::Command;
use crate::failure::Failure;
use crate::settings::Host;
use crate::terminal::Lines;

/// Logs go to stderr: warnings for people, JSON lines under the plugin server.
pub(crate) fn install_logging(verbose: u8, command: &Command, host: &Host) {
    let server = matches!(command, Command::CmpServer(_));
    let level = match (verbose, server) {
        (0, false) => "warn",
        (0, true) | (1, _) => "info",
        (2, _) => "debug",
        _ => "trace",
    };
    let filter = host.variable("TIPHYS_LOG").map_or_else(|| EnvFilter::new(level), EnvFilter::new);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if server {
        builder.json().init();
    } else {
        builder.with_ansi(host.stderr_is_styled()).event_format(Lines).init();
    }
}

/// How long an interrupted command may take to end what it started before the process ends all the same.
const WIND_UP_MAX: Duration = Duration::from_secs(15);

/// Runs a command on the runtime.
pub(crate) fn run(command: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::bug(format!("cannot start the runtime: {error}")))?;
    let result = runtime.block_on(command);
    // Blocking reads that nobody waits for any more must not keep the process.
    runtime.shutdown_background();
    result
}

/// Runs work to its end. The first SIGINT or SIGTERM fires the token and the work winds up: plugins are asked to end, private views
/// are removed. A second signal, or too much time, ends the process at once; the launchers then see the end of their input and
/// clean up by themselves.
pub(crate) async fn unless_interrupted<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, Failure> {
    tokio::pin!(work);
    tokio::select! {
        result = &mut work => return Ok(result),
        () = shutdown_signal() => cancel.cancel(),
    }
    tokio::select! {
        _ = &mut work => {}
        () = shutdown_signal() => {}
        () = tokio::time::sleep(WIND_UP_MAX) => {}
    }
    Err(Failure::interrupted())
}

/// Runs a server to its end. The first signal fires the token and the server ends in order, which is a success; a second one, or too
/// much time, ends the process at once, as in [`unless_interrupted`].
pub(crate) async fn until_stopped<T>(
    stop: &CancellationToken,
    server: impl Future<Output = T>,
) -> Result<T, Failure> {
    tokio::pin!(server);
    tokio::select! {
        result = &mut server => return Ok(result),
        () = shutdown_signal() => stop.cancel(),
    }
    tokio::select! {
        result = &mut server => Ok(result),
        () = shutdown_signal() => Err(Failure::interrupted()),
        () = tokio::time::sleep(WIND_UP_MAX) => Err(Failure::interrupted()),
    }
}

/// Waits for SIGINT, SIGTERM, or SIGHUP (the terminal is gone).
pub(crate) async fn shutdown_signal() {
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        // Without handlers the signals' default action ends the process, which is what this would do.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}
