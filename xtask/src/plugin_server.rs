//! Plugin servers for benchmarks and the soak test: programs with Argo CD's flags, called through their socket.

pub(crate) mod archive;
pub(crate) mod call;
pub(crate) mod process;
pub(crate) mod running;

use std::time::Duration;

use nix::poll::{PollTimeout, poll};

/// Waits between two checks of a state without an event.
pub(crate) fn pause(time: Duration) {
    let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    // An interrupted wait is shorter.
    poll(&mut [], timeout).ok();
}
