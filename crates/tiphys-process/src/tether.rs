//! Programs that end with the process that started them, whatever ends it: SIGKILL, too, after which it can do nothing any more.
//!
//! Linux sends a process a signal when its parent is gone, if the process has asked for that (`PR_SET_PDEATHSIG`). It has to ask itself,
//! between its start and its becoming the program. So this process starts its own executable again, as a *tether*: it asks, looks whether
//! its parent is still there, and becomes the program, which is then a child like any other. It costs one more `execve`. Where there is no
//! such signal, programs are started directly.
//!
//! The system takes the thread that has started a program for its parent, so one thread that lives as long as the process starts them all.
//!
//! Only the program itself ends so: the request is not passed on to what it starts in turn. Mostly that ends soon after, since the pipes
//! break that it shares with the program. Otherwise whoever adopts orphans finds it: a run's launcher, or process 1. A program that is
//! set-user-ID or has capabilities of its own loses the request, too.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

use std::ffi::OsString;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::process::Command;

use crate::own::OwnChild;
use crate::tool::ToolOutput;

/// First argument that makes a program become another one.
pub const TETHER_ARGUMENT: &str = "__tether";

/// Exit code of a tether that could not become the program, as shells have it.
const NOT_STARTED_CODE: u8 = 126;

/// What such a tether writes to standard error, in front of its [`Token`] and of the system's error number.
const NOT_STARTED: &str = "\0tiphys cannot start it: ";

/// Whether this process' executable calls [`tether_main`].
static IS_TETHER: AtomicBool = AtomicBool::new(false);

/// To be called first thing in `main`, with all of the process' arguments. If they make it a tether, it becomes the program that they name,
/// or gives the exit code with which it must end at once. Otherwise every [`crate::Tool`] of this process is tethered from now on.
pub fn tether_main(arguments: &[OsString]) -> Option<u8> {
    if arguments.get(1).is_some_and(|first| first == TETHER_ARGUMENT) {
        return Some(become_program(arguments.get(2..).unwrap_or_default()));
    }
    IS_TETHER.store(true, Ordering::Relaxed);
    None
}

/// What one tether says of itself, and nobody else can say: it is told by an argument, which nobody finds any more when the tether has become
/// the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(u64);

impl Token {
    /// One that nobody can guess: the keys of the hasher are random.
    fn new() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// How a program is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// As any child.
    Direct,
    /// Through this process' own executable.
    Tethered(Token),
}

impl Start {
    /// How this process starts programs.
    pub(crate) fn of_this_process() -> Self {
        if IS_TETHER.load(Ordering::Relaxed) && is_there() {
            Self::Tethered(Token::new())
        } else {
            Self::Direct
        }
    }

    /// A command that runs a program, which finds `name` as its own name.
    pub(crate) fn command(self, program: &Path, name: &Path) -> Command {
        match self {
            Self::Direct => {
                #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
                let mut process = Command::new(program);
                process.arg0(name);
                process
            }
            Self::Tethered(token) => tethered(program, name, token),
        }
    }

    /// Starts such a command.
    pub(crate) fn spawn(self, mut command: Command) -> io::Result<OwnChild> {
        match self {
            Self::Direct => OwnChild::spawn(&mut command),
            Self::Tethered(_) => spawn_by_the_parent(command),
        }
    }

    /// Why the program was not started, if this is the end of a tether that could not become it.
    pub(crate) fn failure(self, output: &ToolOutput) -> Option<io::Error> {
        let Self::Tethered(token) = self else { return None };
        if output.code != Some(i32::from(NOT_STARTED_CODE)) {
            return None;
        }
        let number = output.stderr.strip_prefix(&format!("{NOT_STARTED}{token} "))?.parse().ok()?;
        Some(io::Error::from_raw_os_error(number))
    }
}

#[cfg(target_os = "linux")]
use linux::{become_program, is_there, spawn_by_the_parent, tethered};
#[cfg(not(target_os = "linux"))]
use none::{become_program, is_there, spawn_by_the_parent, tethered};
