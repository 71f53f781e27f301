//! Reading a file whose size somebody else decides.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::{FileOwner, open_file};

/// The bytes of a regular file, links followed; `None` if it has more than this many. It does not believe what the file system says of the
/// size: a file may grow while it is read, and some say that they have none. No more than one byte above the bound is read.
pub fn read_bounded(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    read_to_bound(open_file(path, FileOwner::Anybody, File::options().read(true))?, bytes_max)
}

/// As [`read_bounded`], of what was opened before.
pub fn read_to_bound(from: impl Read, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}

#[cfg(test)]
mod tests;
