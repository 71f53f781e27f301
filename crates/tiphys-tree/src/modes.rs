//! Permission bits of the entries of a tree.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Whether executable bits are kept. Argo CD's plugin server drops them unless `preserveFileMode` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modes {
    /// Files are 0644, directories 0755.
    Plain,
    /// An executable file is 0755.
    Preserved,
}

/// Permission bits of a directory and of an executable file.
pub(crate) const MODE_EXECUTABLE: u32 = 0o755;
/// Permission bits of an ordinary file.
pub(crate) const MODE_PLAIN: u32 = 0o644;

/// Permission bits of a file.
pub(crate) fn file_mode(executable: bool) -> u32 {
    if executable { MODE_EXECUTABLE } else { MODE_PLAIN }
}

/// Whether the process's umask removes bits from the modes of a tree. The umask must not change a tree, and setting every mode again costs
/// a tenth of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Umask {
    Harmless,
    Harmful,
}

impl Umask {
    /// Inspects a directory that was created with [`MODE_EXECUTABLE`].
    pub(crate) fn seen_at(directory: &Path) -> io::Result<Self> {
        let mode = fs::metadata(directory)?.permissions().mode();
        Ok(if mode & 0o777 == MODE_EXECUTABLE { Self::Harmless } else { Self::Harmful })
    }

    /// Sets a mode again if the umask may have changed it.
    pub(crate) fn mend(self, mode: u32, set: impl FnOnce(Permissions) -> io::Result<()>) -> io::Result<()> {
        if self == Self::Harmful { set(Permissions::from_mode(mode)) } else { Ok(()) }
    }
}
