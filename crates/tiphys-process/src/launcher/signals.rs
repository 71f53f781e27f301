//! The signals of the launcher: those that would end it are ignored, SIGCHLD wakes its poll.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::sys::signal::SigSet;
use signal_hook::consts::signal::{
    SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2,
};

/// Signals that reach the whole process group or service of the parent, or that a user sends. The parent handles them. The launcher exits
/// when the parent does.
///
/// They have a handler instead of being ignored, because a new program inherits ignored signals, but no handlers.
const LEFT_TO_THE_PARENT: [i32; 10] =
    [SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2];

/// Installed handlers and the pipe that a SIGCHLD writes to.
#[derive(Debug)]
pub(super) struct Signals {
    child_ended: UnixStream,
}

impl Signals {
    pub(super) fn install() -> io::Result<Self> {
        let unused_flag = Arc::new(AtomicBool::new(false));
        for signal in LEFT_TO_THE_PARENT {
            signal_hook::flag::register(signal, Arc::clone(&unused_flag))?;
        }
        let (child_ended, write_end) = UnixStream::pair()?;
        child_ended.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, OwnedFd::from(write_end))?;
        // Commands inherit the signal mask, and tiphys may have been started with another one.
        SigSet::empty().thread_set_mask()?;
        Ok(Self { child_ended })
    }

    /// Descriptor for poll. Readable after a child ended.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.child_ended.as_fd()
    }

    /// Makes [`Signals::descriptor`] unreadable until the next child ends. Must be called before children are waited for.
    pub(super) fn clear(&self) {
        let mut bytes = [0; 64];
        while rustix::io::read(&self.child_ended, &mut bytes).is_ok_and(|read| read > 0) {}
    }
}
