//! Starts a command and explains why it cannot be started.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::program::{PROGRAM_NOT_FOUND, find_not_executable, find_program, is_executable};
use crate::quote::quote_argument;
use crate::spec::CommandSpec;

/// How long to wait for a program that another process has open for writing (`ETXTBSY`). A process that is being started elsewhere inherits
/// such a descriptor for a moment.
const TEXT_BUSY_WAIT_MAX: Duration = Duration::from_millis(200);

/// Interval of the retries.
const TEXT_BUSY_RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// Why a command was not started.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// `errno`, 0 if unknown.
    pub(super) errno: i32,
    /// The message. Empty for the system's message.
    pub(super) message: String,
}

impl Failure {
    fn new(errno: Errno, message: impl Into<String>) -> Self {
        Self { errno: errno.raw_os_error(), message: message.into() }
    }
}

/// Starts a command in a directory below the root, in a process group of its own, with empty standard input and pipes for the output.
pub(super) fn start(root: &Path, command: &CommandSpec) -> Result<Child, Failure> {
    let program_name = command.argv.first().ok_or_else(|| Failure::new(Errno::INVAL, "command is empty"))?;
    refuse_nul(command)?;
    let dir = working_directory(root, &command.dir)?;
    let path = command.env.iter().rfind(|(name, _)| name == "PATH").map_or("", |(_, value)| value);
    let program = resolve(program_name, path, &dir)?;
    #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
    let mut process = std::process::Command::new(&program);
    process
        .arg0(program_name)
        .args(command.argv.iter().skip(1))
        .env_clear()
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&dir)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let give_up_at = Instant::now() + TEXT_BUSY_WAIT_MAX;
    loop {
        match process.spawn() {
            Ok(child) => return Ok(child),
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < give_up_at =>
            {
                let timeout = rustix::event::Timespec::try_from(TEXT_BUSY_RETRY_INTERVAL).ok();
                let _interrupted: Result<usize, Errno> = rustix::event::poll(&mut [], timeout.as_ref());
            }
            Err(error) => return Err(explain(&error, &program, command)),
        }
    }
}

fn refuse_nul(command: &CommandSpec) -> Result<(), Failure> {
    if let Some(index) = command.argv.iter().position(|argument| argument.contains('\0')) {
        return Err(Failure::new(Errno::INVAL, format!("argument {index} contains a NUL byte")));
    }
    let with_nul = command.env.iter().find(|(name, value)| name.contains('\0') || value.contains('\0'));
    if let Some((name, _)) = with_nul {
        let message = format!("environment variable {} contains a NUL byte", name.escape_default());
        return Err(Failure::new(Errno::INVAL, message));
    }
    Ok(())
}

/// Returns the directory with links resolved. A directory outside the root is refused.
fn working_directory(root: &Path, dir: &Path) -> Result<PathBuf, Failure> {
    let refused = || {
        let message = format!("working directory {} is outside the tree", dir.display());
        Failure::new(Errno::ACCESS, message)
    };
    let inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if !dir.components().all(inside) {
        return Err(refused());
    }
    let fail = |error: &io::Error| Failure {
        errno: error.raw_os_error().unwrap_or(0),
        message: format!("working directory {}: {error}", dir.display()),
    };
    let resolved = root.join(dir).canonicalize().map_err(|error| fail(&error))?;
    if !resolved.starts_with(root) {
        return Err(refused());
    }
    if !resolved.is_dir() {
        return Err(fail(&Errno::NOTDIR.into()));
    }
    Ok(resolved)
}

/// Returns the absolute path of the program. A name without `/` is looked up in the absolute directories of `path` only, so a program in
/// the working directory needs `./`.
fn resolve(name: &str, path: &str, dir: &Path) -> Result<PathBuf, Failure> {
    let (name, path) = (Path::new(name), OsStr::new(path));
    if let Some(program) = find_program(name, path) {
        return Ok(dir.join(program));
    }
    Err(match find_not_executable(name, path) {
        Some(file) => Failure::new(Errno::ACCESS, not_executable(&file)),
        None => Failure::new(Errno::NOENT, PROGRAM_NOT_FOUND),
    })
}

/// Adds the reason where the system's message is not sufficient.
fn explain(error: &io::Error, program: &Path, command: &CommandSpec) -> Failure {
    let errno = error.raw_os_error().unwrap_or(0);
    let message = match Errno::from_io_error(error) {
        Some(Errno::TOOBIG) => too_big(command),
        Some(Errno::NOENT) if program.exists() => {
            "the interpreter in its first line (#!) does not exist".to_owned()
        }
        Some(Errno::NOEXEC) => {
            "exec format error: not a program of this machine, and no #! in its first line".to_owned()
        }
        Some(Errno::ACCESS) if program.is_dir() => "permission denied: it is a directory".to_owned(),
        Some(Errno::ACCESS) if program.exists() && !is_executable(program) => {
            not_executable(Path::new(command.argv.first().map_or("", String::as_str)))
        }
        _ => String::new(),
    };
    Failure { errno, message }
}

fn not_executable(file: &Path) -> String {
    let file = file.display().to_string();
    format!("permission denied: {file} is not executable; run: chmod +x {}", quote_argument(&file))
}

/// Reports the sizes as the kernel counts them: each string with its NUL.
fn too_big(command: &CommandSpec) -> String {
    // Only the last of several variables with the same name is passed.
    let env: HashMap<&str, &str> =
        command.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let arguments = command.argv.iter().enumerate();
    let arguments = arguments.map(|(index, argument)| (argument.len() + 1, format!("argument {index}")));
    let variables = env
        .iter()
        .map(|(name, value)| (name.len() + value.len() + 2, format!("environment variable {name}")));
    let strings: Vec<(usize, String)> = arguments.chain(variables).collect();
    let bytes: usize = strings.iter().map(|(bytes, _)| bytes).sum();
    let largest =
        strings.iter().max().map(|(bytes, name)| format!("; the largest is {name} with {bytes} bytes"));
    format!(
        "argument list too long: arguments and environment have {bytes} bytes{}",
        largest.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
