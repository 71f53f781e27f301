//! Opens files at paths that others may control: a pipe, whose opening would block forever, or a link to another file may be there, by
//! accident or on purpose.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::getuid;

/// Errors of `open` for something that is not a regular file.
const NO_FILE: [Errno; 3] = [Errno::LOOP, Errno::NXIO, Errno::NODEV];

/// The usual target of a path to an empty file.
const NULL_DEVICE: &str = "/dev/null";

/// The owner of a file, which decides what is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOwner {
    /// This program: only a regular file of this user, no link.
    Program,
    /// A repository, or a directory that one may contain: only a regular file of any user, no link.
    Repository,
    /// The user: links are followed, and the null device is an empty file.
    Anybody,
}

/// An error of [`open_file`].
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    /// It is a directory.
    #[error("it is a folder")]
    Folder,
    /// It is not a regular file, or belongs to another user.
    #[error("it is not a regular file")]
    NoFile,
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Opens a file without ever blocking.
pub fn open_file(path: &Path, owner: FileOwner, options: &mut OpenOptions) -> Result<File, NotOpened> {
    let flags = match owner {
        FileOwner::Program | FileOwner::Repository => OFlags::NOFOLLOW,
        FileOwner::Anybody => OFlags::empty(),
    };
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path).map_err(|error| {
        match Errno::from_io_error(&error) {
            Some(Errno::ISDIR) => NotOpened::Folder,
            Some(errno) if NO_FILE.contains(&errno) => NotOpened::NoFile,
            _ => NotOpened::Io(error),
        }
    })?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(NotOpened::Folder);
    }
    let is_due = match owner {
        FileOwner::Program => found.is_file() && found.uid() == getuid().as_raw(),
        FileOwner::Repository => found.is_file(),
        FileOwner::Anybody => found.is_file() || is_null_device(&found),
    };
    if is_due { Ok(file) } else { Err(NotOpened::NoFile) }
}

impl From<NotOpened> for io::Error {
    fn from(error: NotOpened) -> Self {
        match error {
            NotOpened::Folder => Errno::ISDIR.into(),
            NotOpened::NoFile => Self::other(error),
            NotOpened::Io(error) => error,
        }
    }
}

fn is_null_device(found: &Metadata) -> bool {
    found.file_type().is_char_device()
        && fs::metadata(NULL_DEVICE).is_ok_and(|null| null.rdev() == found.rdev())
}

#[cfg(test)]
mod tests;
