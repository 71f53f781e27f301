//! Plugin servers as measurements and the soak see them: any program that takes Argo CD's flags, driven through its socket.
//!
//! The client is made for measuring. It knows just the HTTP/2 and gRPC that one upload needs, sends bytes that were prepared before,
//! and so takes little processor time from the server beside it.

pub(crate) mod archive;
pub(crate) mod call;
mod message;
pub(crate) mod process;
pub(crate) mod running;

use std::time::Duration;

use nix::poll::{PollTimeout, poll};

/// Waits a moment before something is looked at again that cannot be waited for.
pub(crate) fn pause(time: Duration) {
    let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    // An interrupted wait is a shorter one.
    poll(&mut [], timeout).ok();
}
