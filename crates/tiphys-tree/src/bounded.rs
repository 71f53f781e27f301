//! Reads files of untrusted size.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::{FileOwner, open_file};

/// Reads a regular file, following links. Returns `None` if it has more bytes than the limit. The size in the metadata is not trusted: a
/// file may grow while it is read, and some file systems report 0. At most one byte above the limit is read.
pub fn read_bounded(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    read_to_bound(open_file(path, FileOwner::Anybody, File::options().read(true))?, bytes_max)
}

/// Like [`read_bounded`] for an open file.
pub fn read_to_bound(from: impl Read, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}

#[cfg(test)]
mod tests;
