//! What counts as a program.

use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, FileType, accessat, stat};

/// Whether this is a file that this process may execute.
pub(crate) fn is_executable(candidate: &Path) -> bool {
    stat(candidate).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file())
        && accessat(CWD, candidate, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}
