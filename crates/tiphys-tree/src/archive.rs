//! Trees as the plugin protocol sends them: tar within gzip (`spec/cmp.md` 7.2 and 7.5).

use std::io::{Read, Write};
use std::path::Path;

use crate::{TreeWriter, WriteError};

/// Why an archive could not be made or read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Reading or writing failed, or the archive is malformed.
    #[error("{message}")]
    Malformed {
        /// What.
        message: String,
    },
    /// An entry could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Packs the tree below `root`: depth first, in the order of names, links as links, headers without times, owners and names, so that equal trees give equal bytes.
pub fn pack(root: &Path, out: &mut dyn Write) -> Result<(), ArchiveError> {
    let _ = out;
    todo!("{root:?}")
}

/// Unpacks an archive into a tree that is being written; hard links, devices and the like are left out as Argo CD does.
pub fn unpack(archive: &mut dyn Read, writer: &mut TreeWriter) -> Result<(), ArchiveError> {
    let _ = archive;
    todo!("{writer:?}")
}
