//! Trees as gzipped tar archives, the format of the plugin protocol.

mod list;
mod pack;
mod packed;
mod pax;
mod read;
#[cfg(test)]
mod tests;
mod unpack;

use std::fmt;

use tiphys_model::limits::Limit;

use crate::{Modes, StoreError, WriteError};

pub use list::list;
pub use pack::pack;
pub use unpack::{Part, unpack};

pub(crate) use read::{IncomingFile, Sink, read, unread};

/// How an archive is read.
#[derive(Clone, Copy)]
pub struct Intake<'a> {
    /// Whether executable bits are kept.
    pub modes: Modes,
    /// Limits of the archive.
    pub limits: ArchiveLimits,
    /// Called for every entry and every decompressed piece; `true` ends the work with [`ArchiveError::Stopped`].
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl fmt::Debug for Intake<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { modes, limits, stop: _ } = self;
        f.debug_struct("Intake").field("modes", modes).field("limits", limits).finish_non_exhaustive()
    }
}

/// Limits of one archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "each is the greatest value of what its name says")]
pub struct ArchiveLimits {
    /// Compressed bytes of the archive.
    pub packed_bytes_max: u64,
    /// Entries: files, directories and links, including directories that only occur in paths. All paths together may have 64 bytes for each
    /// entry, and at least 64 MiB.
    pub entries_max: u64,
    /// Bytes of the content of all entries together.
    pub bytes_max: u64,
}

/// An error while an archive is made or read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Reading or writing failed, or the archive is malformed.
    #[error("{message}")]
    Malformed {
        /// The message.
        message: String,
    },
    /// An entry could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The archive exceeds its limit.
    #[error("the archive has more than {max} bytes")]
    TooManyPackedBytes {
        /// The maximum number.
        max: u64,
        /// [`Limit::PACKED_BYTES_MAX`].
        #[source]
        limit: Limit,
    },
    /// Its paths and extended headers together exceed their limit.
    #[error("the names in the archive have more than {max} bytes; shorten paths, or leave files out")]
    TooManyNameBytes {
        /// The maximum number.
        max: u64,
        /// [`Limit::TREE_ENTRIES_MAX`].
        #[source]
        limit: Limit,
    },
    /// It does not fit into the store with the trees that are in use.
    #[error(
        "the trees of this call and of other calls that are running have more than {max} bytes; try again later"
    )]
    StoreFull {
        /// The maximum number.
        max: u64,
        /// [`Limit::STORE_BYTES_MAX`].
        #[source]
        limit: Limit,
    },
    /// [`Intake::stop`] returned `true`.
    #[error("the archive was not read to its end, because the call has ended")]
    Stopped,
    /// Reading or writing the archive's bytes failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ArchiveError {
    /// Creates the error of an archive of more than `max` bytes.
    pub fn too_many_packed_bytes(max: u64) -> Self {
        Self::TooManyPackedBytes { max, limit: Limit::PACKED_BYTES_MAX }
    }

    /// Returns the error of the file system, if writing failed.
    pub(crate) fn io(&self) -> Option<&std::io::Error> {
        match self {
            Self::Write(WriteError::Io { source, .. })
            | Self::Store(StoreError::Io { source, .. } | StoreError::Write(WriteError::Io { source, .. })) => {
                Some(source)
            }
            _ => None,
        }
    }

    fn malformed(message: impl Into<String>) -> Self {
        Self::Malformed { message: message.into() }
    }
}
