//! Files of folders that runs share, opened only if they are what this program makes: regular files of this user.
//!
//! Something else may stand there, by accident or on purpose: a pipe, whose opening would wait for ever, or a link to what is not ours.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::getuid;

/// What the system says of something that is no regular file, before it can be looked at.
const OF_OTHERS: [Errno; 4] = [Errno::LOOP, Errno::NXIO, Errno::ISDIR, Errno::NODEV];

/// A file that was not opened.
#[derive(Debug)]
pub(crate) enum NotOpened {
    /// It is something else, or somebody else's.
    Foreign,
    /// The file system failed.
    Io(io::Error),
}

/// Opens a file, whatever is there without waiting.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> Result<File, NotOpened> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path).map_err(|error| {
        match Errno::from_io_error(&error) {
            Some(errno) if OF_OTHERS.contains(&errno) => NotOpened::Foreign,
            _ => NotOpened::Io(error),
        }
    })?;
    let found = file.metadata().map_err(NotOpened::Io)?;
    if found.is_file() && found.uid() == getuid().as_raw() { Ok(file) } else { Err(NotOpened::Foreign) }
}

#[cfg(test)]
mod tests;
