//! Looks up programs in a search path.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FileType, accessat, stat};

/// Message for a name that is not in the search path. The wording of Go's `exec.ErrNotFound`.
pub const PROGRAM_NOT_FOUND: &str = "executable file not found in $PATH";

/// The exit code of a command that does not find its program, as in shells.
pub const NOT_FOUND_CODE: u8 = 127;

/// Returns the path of a program. A program with `/` is its own path, even if nothing exists there. Another one is the first executable
/// file of that name in the directories of a search path like `PATH`. Relative directories are skipped, because they depend on the working
/// directory.
pub fn find_program(program: &Path, search_path: &OsStr) -> Option<PathBuf> {
    if program.as_os_str().as_bytes().contains(&b'/') {
        return Some(program.to_path_buf());
    }
    candidates(program, search_path).find(|candidate| is_executable(candidate))
}

/// Returns the file of a program beside another file, else the one in `search_path`.
pub fn find_beside(file: &Path, program: &str, search_path: &OsStr) -> Option<PathBuf> {
    let beside = file.with_file_name(program);
    if is_executable(&beside) { Some(beside) } else { find_program(Path::new(program), search_path) }
}

/// Returns the file of a program without a `/` that exists in a directory of `search_path` and may not be executed.
pub fn find_not_executable(program: &Path, search_path: &OsStr) -> Option<PathBuf> {
    candidates(program, search_path).find(|candidate| candidate.is_file() && !is_executable(candidate))
}

/// Returns the paths that a program has in the absolute directories of a search path.
fn candidates(program: &Path, search_path: &OsStr) -> impl Iterator<Item = PathBuf> {
    search_path
        .as_bytes()
        .split(|byte| *byte == b':')
        .map(|directory| Path::new(OsStr::from_bytes(directory)))
        .filter(|directory| directory.is_absolute())
        .map(move |directory| directory.join(program))
}

/// Returns the path of a program by the `PATH` of an environment. A lookup here, instead of in the new process, keeps the start fast: the
/// standard library can then use `posix_spawn`.
pub(crate) fn resolve(program: &Path, env: &[(OsString, OsString)]) -> io::Result<PathBuf> {
    let path = env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    find_program(program, path.unwrap_or_default())
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, PROGRAM_NOT_FOUND))
}

/// Whether this is a file that the process may execute.
pub(crate) fn is_executable(candidate: &Path) -> bool {
    stat(candidate).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file())
        && accessat(CWD, candidate, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

#[cfg(test)]
mod tests;
