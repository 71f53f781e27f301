//! A launcher process and the pipes to it.

use std::process::Stdio;

use rustix::process::Signal;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::time::{Duration, interval};

use super::events::Events;
use crate::children::OwnChild;
use crate::launcher::LAUNCHER_ARGUMENT;
use crate::message::{self, Request};
use crate::orphans::{self, StartTime};
use crate::spec::RunError;

/// Interval of the SIGCONT that continues a launcher. Its commands can stop it, because they run as the same user.
const CONTINUE_EVERY: Duration = Duration::from_millis(100);

/// A launcher process and the pipes to it.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) process: OwnChild,
    /// `None` after [`Connection::close`].
    requests: Option<ChildStdin>,
    pub(super) events: Events,
    /// The launcher's start time, by which the processes that it lost are identified. Read at once: a later answer may come from a launcher
    /// that a command has manipulated or killed.
    pub(super) started: Option<StartTime>,
}

impl Connection {
    /// Starts a launcher process.
    pub(super) fn open(program: &std::path::Path) -> Result<Self, RunError> {
        #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
        let mut process = tokio::process::Command::new(program);
        process.arg(LAUNCHER_ARGUMENT).env_clear();
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = OwnChild::spawn(&mut process)
            .map_err(|error| RunError::launcher(format!("cannot start {}: {error}", program.display())))?;
        let (Some(requests), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(RunError::launcher("has no pipes"));
        };
        let started = process.pid().and_then(orphans::start_time);
        Ok(Self { process, requests: Some(requests), events: Events::new(stdout), started })
    }

    /// Sends an encoded request. A broken pipe is not an error: if the launcher died, its last event or the end of its pipe says more.
    pub(super) async fn send(&mut self, request: &[u8]) {
        if let Some(requests) = &mut self.requests {
            let _broken_pipe: std::io::Result<()> = requests.write_all(request).await;
        }
    }

    /// Closes the pipe to the launcher, which requests the end of the run.
    pub(super) fn close(&mut self) {
        self.requests = None;
    }
}

/// Waits for an event that a launcher sends when it ends a run, and continues the launcher until then.
pub(super) async fn while_continued<T>(launcher: &OwnChild, event: impl Future<Output = T>) -> T {
    let mut event = std::pin::pin!(event);
    let mut tick = interval(CONTINUE_EVERY);
    loop {
        tokio::select! {
            biased;
            event = &mut event => return event,
            _ = tick.tick() => launcher.signal(Signal::CONT),
        }
    }
}

pub(super) fn encode(request: &Request) -> Result<Vec<u8>, RunError> {
    message::encode(request).map_err(RunError::launcher)
}
