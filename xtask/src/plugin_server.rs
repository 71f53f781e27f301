//! Plugin servers as measurements and the soak use them: any program that takes Argo CD's flags, called through its socket.

pub(crate) mod archive;
pub(crate) mod call;
pub(crate) mod process;
pub(crate) mod running;

use std::time::Duration;

use nix::poll::{PollTimeout, poll};

/// Waits between two looks at something that has no event.
pub(crate) fn pause(time: Duration) {
    let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    // An interrupted wait is a shorter one.
    poll(&mut [], timeout).ok();
}
