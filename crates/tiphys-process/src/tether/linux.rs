//! The way by `PR_SET_PDEATHSIG`.

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

use super::{NOT_STARTED, NOT_STARTED_CODE, TETHER_ARGUMENT, Token};
use crate::own::OwnChild;

/// This process' executable. By this name it is found though another file took its place meanwhile.
const EXECUTABLE: &str = "/proc/self/exe";

/// A child to be started.
struct Job {
    command: Command,
    runtime: Handle,
    tell: mpsc::SyncSender<io::Result<OwnChild>>,
}

impl Job {
    fn work(mut self) {
        let _runtime = self.runtime.enter();
        // Whoever asked waits for the answer.
        drop(self.tell.send(OwnChild::spawn(&mut self.command)));
    }
}

/// To the thread that starts children.
static PARENT: Mutex<Option<mpsc::Sender<Job>>> = Mutex::new(None);

/// Whether this process can be started again.
pub(super) fn is_there() -> bool {
    Path::new(EXECUTABLE).exists()
}

/// A command that makes this process' executable become a program. The program's own arguments are to follow.
pub(super) fn tethered(program: &Path, name: &Path, token: Token) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
    let mut process = Command::new(EXECUTABLE);
    let told = [std::process::id().to_string(), token.to_string()];
    process.arg0(name).arg(TETHER_ARGUMENT).args(told).arg(program).arg(name);
    process
}

/// Has the thread start a child that is the parent of all.
pub(super) fn spawn_by_the_parent(command: Command) -> io::Result<OwnChild> {
    let (tell, told) = mpsc::sync_channel(1);
    let job = Job { command, runtime: Handle::current(), tell };
    // That nobody takes it shows below.
    drop(parent()?.send(job));
    told.recv().map_err(io::Error::other)?
}

fn parent() -> io::Result<mpsc::Sender<Job>> {
    let mut parent = PARENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(parent) = &*parent {
        return Ok(parent.clone());
    }
    let (send, jobs) = mpsc::channel::<Job>();
    let work = move || jobs.into_iter().for_each(Job::work);
    // It ends with the process, since the other end of its channel is never dropped.
    let _detached = thread::Builder::new().name("parent".to_owned()).spawn(work)?;
    Ok(parent.insert(send).clone())
}

/// Returns only if it fails, the exit code.
pub(super) fn become_program(arguments: &[OsString]) -> u8 {
    let number = exec(arguments).raw_os_error();
    let token = arguments.get(1).map(|token| token.to_string_lossy()).unwrap_or_default();
    // Nobody is left to tell if standard error is closed.
    drop(io::stderr().write_all(format!("{NOT_STARTED}{token} {number}").as_bytes()));
    NOT_STARTED_CODE
}

/// Returns only if it fails, the reason.
fn exec(arguments: &[OsString]) -> Errno {
    let [parent, _token, program, argv @ ..] = arguments else { return Errno::INVAL };
    // Where it is not permitted, the program runs as it would without a tether.
    let _unheard: rustix::io::Result<()> = set_parent_process_death_signal(Some(Signal::KILL));
    // Nobody tells of a parent that was gone before.
    if !is_parent(parent) {
        return Errno::SRCH;
    }
    let texts = argv.iter().map(|text| CString::new(text.as_bytes())).collect::<Result<Vec<_>, _>>();
    let (Ok(program), Ok(argv)) = (CString::new(program.as_bytes()), texts) else { return Errno::INVAL };
    // Rust's runtime ignores this signal, and what is ignored stays so in the program; what has a handler gets the system's own action again.
    if let Err(error) = signal_hook::flag::register(SIGPIPE, Arc::new(AtomicBool::new(false))) {
        return Errno::from_io_error(&error).unwrap_or(Errno::INVAL);
    }
    // The standard library's own would, with some C libraries, give a file that is no program to a shell.
    match execv(&program, &argv) {
        Ok(never) => match never {},
        Err(error) => Errno::from_raw_os_error(error as i32),
    }
}

fn is_parent(told: &OsStr) -> bool {
    getppid().map(Pid::as_raw_nonzero).is_some_and(|parent| told == OsStr::new(&parent.to_string()))
}
