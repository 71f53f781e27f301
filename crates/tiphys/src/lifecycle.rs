//! The life of the process: runtime, signals, and concurrent tasks of servers.

use std::pin::{Pin, pin};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};

use tiphys_service::{Service, Workspace, WorkspaceOptions};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::ServiceError;

/// Limit for the shutdown of an interrupted command, or of a server without a limit of its own. Then the process ends in any
/// case.
pub(crate) const SHUTDOWN_MAX: Duration = Duration::from_secs(15);

/// Runs a command on the runtime, on this number of threads or on that of the caller.
pub(crate) fn run<T>(
    threads: Option<usize>,
    command: impl Future<Output = Result<T, ServiceError>>,
) -> Result<T, ServiceError> {
    let mut builder = match threads {
        Some(_) => Builder::new_multi_thread(),
        None => Builder::new_current_thread(),
    };
    if let Some(threads) = threads {
        builder.worker_threads(threads);
    }
    let runtime = builder
        .enable_all()
        .build()
        .map_err(|error| ServiceError::bug(format!("cannot start the runtime: {error}")))?;
    let result = runtime.block_on(command);
    // Abandoned blocking reads must not keep the process alive.
    runtime.shutdown_background();
    result
}

/// Runs a command to completion. The first SIGINT or SIGTERM fires the token and the command shuts down: plugins are terminated and private
/// views are removed. A second signal or the time limit ends the process. The launchers then see the end of their input and clean up by
/// themselves.
pub(crate) async fn unless_interrupted<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, ServiceError> {
    tokio::pin!(work);
    tokio::select! {
        // Signals keep their default action until the command first waits, so that they end blocking reads.
        biased;
        result = &mut work => return Ok(result),
        () = shutdown_signal() => cancel.cancel(),
    }
    tokio::select! {
        _ = &mut work => {}
        () = shutdown_signal() => {}
        () = tokio::time::sleep(SHUTDOWN_MAX) => {}
    }
    Err(ServiceError::interrupted())
}

/// Opens a workspace, which may fetch repositories and run plugins.
pub(crate) async fn opened(service: &Service, needs: WorkspaceOptions) -> Result<Workspace, ServiceError> {
    let cancel = needs.cancel.clone();
    unless_interrupted(&cancel, Box::pin(Workspace::open_with_sets(service, needs))).await?
}

/// A task that runs beside a server. It ends only with a failure, and returns the reason.
pub(crate) type SideTask<'a> = Pin<Box<dyn Future<Output = String> + 'a>>;

/// Runs a server and its side tasks. The first signal fires `stop` and the server shuts down, which is a success. A second signal or
/// `shutdown_max` ends it at once. If a side task or the server ends by itself, the server shuts down with a failure.
pub(crate) async fn serve(
    signals: &mut Signals,
    stop: &CancellationToken,
    shutdown_max: Duration,
    server: impl Future<Output = Result<(), ServiceError>>,
    side_tasks: Vec<SideTask<'_>>,
) -> Result<(), ServiceError> {
    let mut server = pin!(server);
    let mut side_tasks: FuturesUnordered<_> = side_tasks.into_iter().collect();
    let reason = tokio::select! {
        result = &mut server => {
            return result.and_then(|()| Err(ServiceError::bug("the server ended unexpectedly")));
        }
        Some(reason) = side_tasks.next() => Some(reason),
        () = signals.next() => None,
    };
    stop.cancel();
    let ended = async {
        loop {
            tokio::select! {
                result = &mut server => return result,
                // Side tasks continue until the server has ended.
                Some(_) = side_tasks.next() => {}
            }
        }
    };
    let result = tokio::select! {
        result = ended => result,
        () = signals.next() => Err(ServiceError::interrupted()),
        () = tokio::time::sleep(shutdown_max) => {
            Err(ServiceError::bug(format!("the server did not end within {shutdown_max:?}")))
        }
    };
    match reason {
        Some(reason) => Err(ServiceError::rendering(reason)),
        None => result,
    }
}

/// The signals that terminate a process: SIGINT, SIGTERM, and SIGHUP (the terminal was closed).
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Installs handlers. From now on no signal is lost or has its default action.
    pub(crate) fn install() -> Result<Self, ServiceError> {
        let install =
            |kind| signal(kind).map_err(|error| ServiceError::bug(format!("cannot handle signals: {error}")));
        Ok(Self {
            interrupt: install(SignalKind::interrupt())?,
            terminate: install(SignalKind::terminate())?,
            hangup: install(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// Waits for a signal that terminates the process.
pub(crate) async fn shutdown_signal() {
    match Signals::install() {
        Ok(mut signals) => signals.next().await,
        // Without handlers the default action of the signals ends the process.
        Err(_) => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
