//! Trees as the plugin protocol sends them: tar within gzip (`spec/cmp.md` 7.2 and 7.5).

mod pack;
#[cfg(test)]
mod tests;
mod unpack;

use crate::WriteError;

pub use pack::pack;
pub use unpack::unpack;

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

impl ArchiveError {
    fn malformed(message: impl Into<String>) -> Self {
        Self::Malformed { message: message.into() }
    }
}
