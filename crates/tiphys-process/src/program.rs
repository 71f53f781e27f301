//! What counts as a program.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FileType, accessat, stat};

/// Whether this is a file that this process may execute.
pub(crate) fn is_executable(candidate: &Path) -> bool {
    stat(candidate).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file())
        && accessat(CWD, candidate, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

/// A program's path: with a `/` in it its own, else the first of `PATH` in this environment. Looking it up here rather than in the new
/// process keeps the start fast: the system then needs no copy of this process.
pub(crate) fn resolve(program: &Path, env: &[(OsString, OsString)]) -> io::Result<PathBuf> {
    if program.as_os_str().as_bytes().contains(&b'/') {
        return Ok(program.to_path_buf());
    }
    let path = env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value);
    let folders = path.map(|path| path.as_bytes().split(|byte| *byte == b':')).into_iter().flatten();
    folders
        .map(|folder| Path::new(OsStr::from_bytes(folder)))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|candidate| is_executable(candidate))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "executable file not found in $PATH"))
}
