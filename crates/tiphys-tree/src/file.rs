//! Opening files of which is known what they should be, and not what stands there: a pipe, whose opening would wait for ever, or a link to
//! what is not ours, may be in the place of each, by accident or on purpose.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::getuid;

/// What the system says of something that is no regular file, before it can be looked at.
const NO_FILE: [Errno; 3] = [Errno::LOOP, Errno::NXIO, Errno::NODEV];

/// Where people let a path lead that should hold nothing.
const NULL_DEVICE: &str = "/dev/null";

/// Whose a file is, which says what may stand in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOwner {
    /// This program: a regular file of this user, and no link to one.
    Program,
    /// Somebody who may put it where he likes: links are followed. The null device is an empty file.
    Anybody,
}

/// A file that was not opened.
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    /// A folder stands there.
    #[error("it is a folder")]
    Folder,
    /// Something else stands there, or a file of somebody else in the place of one of this program.
    #[error("it is no regular file")]
    NoFile,
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Opens a file, and waits for nothing, whatever is there.
pub fn open_file(path: &Path, owner: FileOwner, options: &mut OpenOptions) -> Result<File, NotOpened> {
    let flags = match owner {
        FileOwner::Program => OFlags::NOFOLLOW,
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
