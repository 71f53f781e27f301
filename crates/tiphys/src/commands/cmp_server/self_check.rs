//! The server's periodic look at itself: that callers reach it, and that it can serve them.
//!
//! A run is a process of the server's user. Where no mount keeps it from the socket's folder, it can put another socket there; `prlimit`
//! takes a process of the same user its descriptors and its right to fork, wherever it runs. The server would live on without a caller, or
//! without an answer for one. So it ends with a failure, and its pod is started again.

use std::os::unix::net::UnixDatagram;
use std::thread;
use std::time::Duration;

use tiphys_cmp::SocketFile;
use tiphys_plugin::chain;
use tiphys_process::ProcessLimits;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// Time between two looks.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

/// Looks in a row that find no room for a descriptor or a thread until the server ends. A busy moment passes.
const STARVED_LOOKS_MAX: u32 = 10;

/// What there is to look at.
#[derive(Debug)]
pub(super) struct SelfCheck {
    socket: SocketFile,
    limits: ProcessLimits,
    /// Looks in a row that found no room.
    starved: u32,
}

impl SelfCheck {
    /// The socket, and the limits as they are now.
    pub(super) fn new(socket: SocketFile) -> Self {
        Self { socket, limits: ProcessLimits::now(), starved: 0 }
    }

    /// Looks until something is wrong, and returns what.
    pub(super) async fn run(mut self, every: Duration) -> String {
        let mut ticks = interval_at(Instant::now() + every, every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Some(fault) = self.fault() {
                tracing::error!("{fault}");
                return fault;
            }
        }
    }

    /// What is wrong now.
    fn fault(&mut self) -> Option<String> {
        if let Err(lost) = self.socket.check() {
            return Some(format!(
                "socket {} is not this server's any more: {}; the server ends, since callers may reach somebody else. Look for a plugin \
                 that changes its folder, and let runs have overlays, which hide it (--private-view overlay)",
                self.socket.path().display(),
                chain(&lost)
            ));
        }
        if let Some(limit) = self.limits.difference(&ProcessLimits::now()) {
            return Some(format!(
                "the server's resource limit {limit} was changed from outside; the server ends, since it may not be able to serve. Look \
                 for a plugin that calls prlimit"
            ));
        }
        self.starvation(room())
    }

    /// What is wrong if there has been no room for long.
    fn starvation(&mut self, room: std::io::Result<()>) -> Option<String> {
        let Err(error) = room else {
            self.starved = 0;
            return None;
        };
        self.starved += 1;
        (self.starved >= STARVED_LOOKS_MAX).then(|| {
            format!(
                "the server can open no connection or start no process: {error}, {STARVED_LOOKS_MAX} times in a row; the server ends. Look \
                 for a plugin that leaves too many processes or files, and at the limits of the container"
            )
        })
    }
}

/// Whether there is room for a descriptor, as a connection needs it, and for a thread, which counts as a process.
fn room() -> std::io::Result<()> {
    UnixDatagram::unbound()?;
    let started = thread::Builder::new().spawn(|| ())?;
    // It has nothing to panic with.
    let _ended: thread::Result<()> = started.join();
    Ok(())
}

#[cfg(test)]
mod tests;
