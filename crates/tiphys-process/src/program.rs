//! What counts as a program, and where it is.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FileType, accessat, stat};

/// What is said of a name that is nowhere on the search path.
pub(crate) const NOT_FOUND: &str = "executable file not found in $PATH";

/// A program's path: with a `/` in it its own, whatever is there; else the first file of that name that this process may execute, in the
/// folders of a search path as `PATH` has it. Folders that are not absolute are left out: what they are depends on where one stands.
pub fn find_program(program: &Path, search_path: &OsStr) -> Option<PathBuf> {
    if program.as_os_str().as_bytes().contains(&b'/') {
        return Some(program.to_path_buf());
    }
    search_path
        .as_bytes()
        .split(|byte| *byte == b':')
        .map(|folder| Path::new(OsStr::from_bytes(folder)))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|candidate| is_executable(candidate))
}

/// A program's path by the `PATH` of this environment. Looking it up here rather than in the new process keeps the start fast: the
/// system then needs no copy of this process.
pub(crate) fn resolve(program: &Path, env: &[(OsString, OsString)]) -> io::Result<PathBuf> {
    let path = env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    find_program(program, path.unwrap_or_default())
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, NOT_FOUND))
}

/// Whether this is a file that this process may execute.
pub(crate) fn is_executable(candidate: &Path) -> bool {
    stat(candidate).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file())
        && accessat(CWD, candidate, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

#[cfg(test)]
mod tests;
