//! The launcher process: single-threaded, a child subreaper, owner of one run's processes and view.
//!
//! A process of its own because of three things that a process can only have as a whole: the mount and user namespace of the view, the
//! adoption of orphans (`PR_SET_CHILD_SUBREAPER`), and an end that does not depend on the parent's: when the parent is killed the pipe
//! from it closes, and the launcher ends the run and removes the view by itself.
//!
//! A command may stop the launcher, so the parent continues it while it waits for an end. It may kill the launcher, too: then the run's
//! processes come to the parent, which ends them ([`crate::adopt_orphans`]) and removes the folder of the run. Who kills launcher and parent
//! keeps what it started, unless the parent is process 1 of a container, which nobody inside can kill.
//!
//! A process namespace for each run would hide the launcher from its commands, and end them with one signal. It would also give the
//! commands of all runs the same process ids, and those are what shell scripts name their temporary files by (`/tmp/out.$$`); and the
//! container's `/proc` would show other ids than the commands have, since most containers do not allow another one to be mounted.

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
pub(crate) use descendants::descendants_of;
#[cfg(target_os = "linux")]
pub(crate) use descendants::{Descendant, Stat, children_of_this_process, stat};
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
