//! The implementation by `PR_SET_PDEATHSIG`.

use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use nix::unistd::execv;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use signal_hook::consts::SIGPIPE;
use tokio::process::Command;
use tokio::runtime::Handle;

use super::{NOT_STARTED, NOT_STARTED_CODE, PDEATHSIG_ARGUMENT, Token};
use crate::children::OwnChild;

/// The executable of this process. This path works even if another file replaced it meanwhile.
const EXECUTABLE: &str = "/proc/self/exe";

/// A child to be started.
struct Job {
    command: Command,
    runtime: Handle,
    result: mpsc::SyncSender<io::Result<OwnChild>>,
}

impl Job {
    fn start(mut self) {
        let _runtime = self.runtime.enter();
        // The caller waits for the result.
        drop(self.result.send(OwnChild::spawn(&mut self.command)));
    }
}

/// Sender to the thread that starts children.
static PARENT: Mutex<Option<mpsc::Sender<Job>>> = Mutex::new(None);

/// Whether this executable can be started again.
pub(super) fn is_available() -> bool {
    Path::new(EXECUTABLE).exists()
}

/// Returns a command that runs a program by a wrapper. Append the arguments of the program.
pub(super) fn wrapped(program: &Path, name: &Path, token: Token) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
    let mut process = Command::new(EXECUTABLE);
    let parent_and_token = [std::process::id().to_string(), token.to_string()];
    process.arg0(name).arg(PDEATHSIG_ARGUMENT).args(parent_and_token).arg(program).arg(name);
    process
}

/// Starts a child on the thread that is the parent of all children.
pub(super) fn spawn_on_parent_thread(command: Command) -> io::Result<OwnChild> {
    let (result, results) = mpsc::sync_channel(1);
    let job = Job { command, runtime: Handle::current(), result };
    // If the thread does not receive it, `recv` fails below.
    drop(parent()?.send(job));
    results.recv().map_err(io::Error::other)?
}

fn parent() -> io::Result<mpsc::Sender<Job>> {
    let mut parent = PARENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(parent) = &*parent {
        return Ok(parent.clone());
    }
    let (send, jobs) = mpsc::channel::<Job>();
    let work = move || jobs.into_iter().for_each(Job::start);
    // It runs until the process exits, because the sender is never dropped.
    let _detached = thread::Builder::new().name("parent".to_owned()).spawn(work)?;
    Ok(parent.insert(send).clone())
}

/// Executes the program. Returns the exit code on failure.
pub(super) fn execute(arguments: &[OsString]) -> u8 {
    let number = exec(arguments).raw_os_error();
    let token = arguments.get(1).map(|token| token.to_string_lossy()).unwrap_or_default();
    // Standard error may be closed.
    drop(io::stderr().write_all(format!("{NOT_STARTED}{token} {number}").as_bytes()));
    NOT_STARTED_CODE
}

/// Executes the program. Returns the error on failure.
fn exec(arguments: &[OsString]) -> Errno {
    let [parent, _token, program, argv @ ..] = arguments else { return Errno::INVAL };
    // Where this is not permitted, the program runs without the signal.
    let _not_permitted: rustix::io::Result<()> = set_parent_process_death_signal(Some(Signal::KILL));
    // The signal is not sent if the parent exited before.
    if !is_parent(parent) {
        return Errno::SRCH;
    }
    let argv = argv.iter().map(|argument| CString::new(argument.as_bytes())).collect::<Result<Vec<_>, _>>();
    let (Ok(program), Ok(argv)) = (CString::new(program.as_bytes()), argv) else { return Errno::INVAL };
    // Rust's runtime ignores SIGPIPE. An ignored signal stays ignored in a new program; one with a handler gets the default action.
    if let Err(error) = signal_hook::flag::register(SIGPIPE, Arc::new(AtomicBool::new(false))) {
        return Errno::from_io_error(&error).unwrap_or(Errno::INVAL);
    }
    // `CommandExt::exec` would, with some C libraries, run a file that is not a program by a shell.
    match execv(&program, &argv) {
        Ok(never) => match never {},
        Err(error) => Errno::from_raw_os_error(error as i32),
    }
}

fn is_parent(expected: &OsStr) -> bool {
    getppid().map(Pid::as_raw_nonzero).is_some_and(|parent| expected == OsStr::new(&parent.to_string()))
}
