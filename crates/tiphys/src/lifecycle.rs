//! The life of the process: the runtime, signals, and what works at the same time.

use std::pin::{Pin, pin};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::ServiceError;

/// How long an interrupted command, or a server without a bound of its own, may take to end what it started before the process ends all the
/// same.
pub(crate) const WIND_UP_MAX: Duration = Duration::from_secs(15);

/// Runs a command on the runtime.
pub(crate) fn run<T>(command: impl Future<Output = Result<T, ServiceError>>) -> Result<T, ServiceError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| ServiceError::bug(format!("cannot start the runtime: {error}")))?;
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
) -> Result<T, ServiceError> {
    tokio::pin!(work);
    tokio::select! {
        // Signals keep their default action until the work waits for something: a blocking read ends with the process.
        biased;
        result = &mut work => return Ok(result),
        () = shutdown_signal() => cancel.cancel(),
    }
    tokio::select! {
        _ = &mut work => {}
        () = shutdown_signal() => {}
        () = tokio::time::sleep(WIND_UP_MAX) => {}
    }
    Err(ServiceError::interrupted())
}

/// Something that works beside a server for as long as it does. It ends only if it fails, with the reason.
pub(crate) type Beside<'a> = Pin<Box<dyn Future<Output = String> + 'a>>;

/// Runs a server and what works beside it. The first signal fires `stop`, and the server ends in order, which is a success. A second one
/// ends it at once; so does `wind_up_max`. If a part ends without being asked to, the server ends in order, too, and that is a failure.
pub(crate) async fn serve(
    signals: &mut Signals,
    stop: &CancellationToken,
    wind_up_max: Duration,
    server: impl Future<Output = Result<(), ServiceError>>,
    beside: Vec<Beside<'_>>,
) -> Result<(), ServiceError> {
    let mut server = pin!(server);
    let mut beside: FuturesUnordered<_> = beside.into_iter().collect();
    let reason = tokio::select! {
        result = &mut server => {
            return result.and_then(|()| Err(ServiceError::bug("the server ended without being asked to")));
        }
        Some(reason) = beside.next() => Some(reason),
        () = signals.next() => None,
    };
    stop.cancel();
    let ended = async {
        loop {
            tokio::select! {
                result = &mut server => return result,
                // What works beside goes on until the server has ended.
                Some(_) = beside.next() => {}
            }
        }
    };
    let result = tokio::select! {
        result = ended => result,
        () = signals.next() => Err(ServiceError::interrupted()),
        () = tokio::time::sleep(wind_up_max) => {
            Err(ServiceError::bug(format!("the server did not end within {wind_up_max:?}")))
        }
    };
    match reason {
        Some(reason) => Err(ServiceError::rendering(reason)),
        None => result,
    }
}

/// The signals that ask a process to end: SIGINT, SIGTERM, and SIGHUP (the terminal is gone).
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Takes the signals from now on: none is lost, and none has its default action any more.
    pub(crate) fn install() -> Result<Self, ServiceError> {
        let install =
            |kind| signal(kind).map_err(|error| ServiceError::bug(format!("cannot handle signals: {error}")));
        Ok(Self {
            interrupt: install(SignalKind::interrupt())?,
            terminate: install(SignalKind::terminate())?,
            hangup: install(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// Waits for a signal that asks the process to end.
pub(crate) async fn shutdown_signal() {
    match Signals::install() {
        Ok(mut signals) => signals.next().await,
        // Without handlers the signals' default action ends the process, which is what this would do.
        Err(_) => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
