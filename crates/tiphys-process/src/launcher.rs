//! The launcher: a single-threaded process that supervises one run. It is a child subreaper and owns the processes and the view of the run.
//!
//! It is a separate process because three things belong to a whole process: the mount and user namespace of the view, the adoption of
//! orphans (`PR_SET_CHILD_SUBREAPER`), and an end that does not depend on the parent. If the parent is killed, the pipe from it closes, and
//! the launcher ends the run and removes the view.
//!
//! A command may stop the launcher, so the parent continues it while it waits for its end. A command may also kill it. Then the processes
//! of the run are reparented to the parent, which ends them ([`crate::adopt_orphans`]) and removes the run directory. A command that kills
//! both launcher and parent leaves its processes running, unless the parent is process 1 of a container, which no process in the container
//! can kill.
//!
//! A PID namespace for each run would hide the launcher from its commands and end them with one signal. But it would give the commands of
//! all runs the same process IDs, by which shell scripts name their temporary files (`/tmp/out.$$`). The container's `/proc` would show
//! different IDs, because most containers do not allow mounting another one.

mod channel;
mod ending;
mod execution;
mod layer;
mod overlay;
mod program;
mod session;
mod signals;
mod view;

use std::io;

use crate::message::Request;
use channel::Channel;
use session::Session;

/// First argument of a process that is to be a launcher.
pub const LAUNCHER_ARGUMENT: &str = "__launcher";

/// Runs the launcher and returns its exit code. Must be called first in `main`, before any thread starts: the kernel gives a user namespace
/// only to a single-threaded process.
pub fn launcher_main() -> i32 {
    match serve() {
        Ok(()) => 0,
        // The parent exited or sent an invalid request. Everything that could be ended and removed was.
        Err(_no_parent) => 1,
    }
}

fn serve() -> io::Result<()> {
    // The process that started tiphys may have left descriptors open.
    close_fds::set_fds_cloexec(3, &[]);
    // A session of its own: `^C` goes to the parent, which decides, and nothing can prompt on the terminal. Fails only for a process group
    // leader, as when the launcher is started by hand.
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
