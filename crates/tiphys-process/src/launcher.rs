//! The launcher process: single-threaded, a child subreaper, owner of one run's processes and view.
//!
//! A process of its own because of three things that a process can only have as a whole: the mount and user namespace of the view, the
//! adoption of orphans (`PR_SET_CHILD_SUBREAPER`), and an end that does not depend on the parent's: when the parent is killed the pipe
//! from it closes, and the launcher ends the run and removes the view by itself.
//!
//! A command may stop the launcher, so the parent continues it while it waits for an end. What is not covered: a SIGKILL of the launcher by
//! a command. The parent then removes the folder of the run, but the run's processes stay.
//! `PR_SET_PDEATHSIG` would not mend that, since it reaches direct children only; a supervisor that wants more has cgroups.

mod channel;
mod descendants;
mod ending;
mod execution;
mod overlay;
mod program;
mod session;
mod signals;
mod view;

use std::io;

use crate::message::Request;
use channel::Channel;
#[cfg(target_os = "linux")]
pub(crate) use descendants::children_of_this_process;
pub(crate) use descendants::descendants_of;
pub(crate) use ending::KILL_WAIT_MAX;
use session::Session;

/// First argument that turns the program into a launcher.
pub const LAUNCHER_ARGUMENT: &str = "__launcher";

/// The launcher's main function; returns the exit code. Must be called before any thread is started, first thing in `main`: the kernel
/// gives a user namespace only to a process of one thread.
pub fn launcher_main() -> i32 {
    match serve() {
        Ok(()) => 0,
        // The parent is gone or does not understand us; everything that could be ended and removed was.
        Err(_unheard) => 1,
    }
}

fn serve() -> io::Result<()> {
    // Whoever started tiphys may have left descriptors open that are not ours to pass on.
    close_fds::set_fds_cloexec(3, &[]);
    // Away from the terminal: `^C` is for the parent, which decides, and nothing can prompt. Fails only for the leader of a group, which we
    // are if somebody starts the launcher by hand.
    let _no_session: Result<_, rustix::io::Errno> = rustix::process::setsid();
    let signals = signals::Signals::install()?;
    let channel = Channel::new();
    match channel.receive()? {
        Some(Request::SetUp { view, limits, containment }) => {
            Session::new(channel, signals, limits, containment)?.serve(&view)
        }
        Some(Request::Execute(_)) | None => Ok(()),
    }
}
