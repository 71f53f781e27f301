//! Child processes that the kernel kills when their parent dies (`PR_SET_PDEATHSIG`), even by SIGKILL.
//!
//! A process has to request this signal itself, between its start and its `execve`. So this process starts its own executable as a wrapper.
//! The wrapper requests the signal, checks that its parent is still running, and executes the program. This costs one more `execve`. On
//! systems without the signal, programs are started directly.
//!
//! The kernel regards the thread that started a child as its parent. So all children are started by one thread that runs as long as the
//! process.
//!
//! Only the program itself gets the signal: its own children do not inherit the request. They usually exit soon after, because the pipes
//! that they share with the program break. Otherwise a subreaper adopts them: the launcher of a run, or process 1. The request is also
//! cleared for a set-user-ID program or one with file capabilities (prctl(2)).

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

use crate::children::OwnChild;

/// First argument of a process that is to be a wrapper.
pub const PDEATHSIG_ARGUMENT: &str = "__pdeathsig";

/// Exit code of a wrapper that could not execute the program, as in shells.
const NOT_STARTED_CODE: u8 = 126;

/// Written by such a wrapper to standard error, in front of its [`Token`] and `errno`.
const NOT_STARTED: &str = "\0tiphys cannot start it: ";

/// Whether this process's executable calls [`pdeathsig_main`].
static CAN_WRAP: AtomicBool = AtomicBool::new(false);

/// Must be called first in `main`, with all arguments of the process. A wrapper executes the program that the arguments name; on failure
/// the exit code for `main` is returned. Otherwise every [`crate::Tool`] of this process gets a wrapper from now on.
pub fn pdeathsig_main(arguments: &[OsString]) -> Option<u8> {
    if arguments.get(1).is_some_and(|first| first == PDEATHSIG_ARGUMENT) {
        return Some(execute(arguments.get(2..).unwrap_or_default()));
    }
    CAN_WRAP.store(true, Ordering::Relaxed);
    None
}

/// A random value that identifies the failure of a wrapper. The wrapper gets it as an argument, which disappears when the program is
/// executed, so the program cannot forge it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(u64);

impl Token {
    /// Random: the keys of the hasher are.
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
    /// Directly.
    Direct,
    /// By a wrapper.
    Wrapped(Token),
}

impl Start {
    /// Returns how this process starts programs.
    pub(crate) fn current() -> Self {
        if CAN_WRAP.load(Ordering::Relaxed) && is_available() {
            Self::Wrapped(Token::new())
        } else {
            Self::Direct
        }
    }

    /// Returns a command that runs a program with `name` as its `argv[0]`.
    pub(crate) fn command(self, program: &Path, name: &Path) -> Command {
        match self {
            Self::Direct => {
                #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
                let mut process = Command::new(program);
                process.arg0(name);
                process
            }
            Self::Wrapped(token) => wrapped(program, name, token),
        }
    }

    /// Starts a command of [`Start::command`].
    pub(crate) fn spawn(self, mut command: Command) -> io::Result<OwnChild> {
        match self {
            Self::Direct => OwnChild::spawn(&mut command),
            Self::Wrapped(_) => spawn_on_parent_thread(command),
        }
    }

    /// Returns why the wrapper could not execute the program, if this is its result.
    pub(crate) fn failure(self, code: Option<i32>, stderr: &str) -> Option<io::Error> {
        let Self::Wrapped(token) = self else { return None };
        if code != Some(i32::from(NOT_STARTED_CODE)) {
            return None;
        }
        let number = stderr.strip_prefix(&format!("{NOT_STARTED}{token} "))?.parse().ok()?;
        Some(io::Error::from_raw_os_error(number))
    }
}

#[cfg(target_os = "linux")]
use linux::{execute, is_available, spawn_on_parent_thread, wrapped};
#[cfg(not(target_os = "linux"))]
use none::{execute, is_available, spawn_on_parent_thread, wrapped};
