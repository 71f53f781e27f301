//! The server's periodic check that callers reach it, and that it can serve them.
//!
//! Runs have the server's user. Unless a mount hides the socket's directory, a run can put another socket there. With `prlimit` it can
//! take the server's descriptors and its right to fork. The server would continue without serving anything. It ends with a failure instead,
//! and Kubernetes restarts its pod.

use std::os::unix::net::UnixDatagram;
use std::thread;
use std::time::Duration;

use tiphys_cmp::SocketFile;
use tiphys_plugin::chain;
use tiphys_process::ProcessLimits;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// The server ends after this number of consecutive checks without a free descriptor or thread. A short peak passes.
const STARVED_CHECKS_MAX: u32 = 10;

/// The state that is checked.
#[derive(Debug)]
pub(super) struct SelfCheck {
    socket: SocketFile,
    limits: ProcessLimits,
    /// Consecutive checks without a free descriptor or thread.
    starved: u32,
}

impl SelfCheck {
    /// Records the socket and the current limits.
    pub(super) fn new(socket: SocketFile) -> Self {
        Self { socket, limits: ProcessLimits::now(), starved: 0 }
    }

    /// Checks until a fault is found, and returns it.
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

    /// The first fault, if any.
    fn fault(&mut self) -> Option<String> {
        if let Err(lost) = self.socket.check() {
            return Some(format!(
                "socket {} no longer belongs to this server: {}; the server ends, because callers may reach another process. Look for a plugin \
                      that changes its directory, and give runs overlays, which hide it (--config privateView=overlay)",
                self.socket.path().display(),
                chain(&lost)
            ));
        }
        if let Some(limit) = self.limits.difference(&ProcessLimits::now()) {
            return Some(format!(
                "the server's resource limit {limit} was changed from outside; the server ends, because it may be unable to serve. Look \
                      for a plugin that calls prlimit"
            ));
        }
        self.starvation(room())
    }

    /// The fault of a system that has been out of resources for too long.
    fn starvation(&mut self, room: std::io::Result<()>) -> Option<String> {
        let Err(error) = room else {
            self.starved = 0;
            return None;
        };
        self.starved += 1;
        (self.starved >= STARVED_CHECKS_MAX).then(|| {
            format!(
                "the server cannot open connections or start processes: {error}, {STARVED_CHECKS_MAX} times in a row; the server ends. Look \
                      for a plugin that leaves processes or open files behind, and check the limits of the container"
            )
        })
    }
}

/// Checks that a descriptor and a thread, which counts as a process, can be created.
fn room() -> std::io::Result<()> {
    UnixDatagram::unbound()?;
    let started = thread::Builder::new().spawn(|| ())?;
    // The thread cannot panic.
    let _ended: thread::Result<()> = started.join();
    Ok(())
}

#[cfg(test)]
mod tests;
