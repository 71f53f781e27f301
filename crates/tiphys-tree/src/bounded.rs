//! Reading a file whose size somebody else decides.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The bytes of a file; `None` if it has more than this many. It does not believe what the file system says of the size: a file may grow
/// while it is read, and a pipe has none. No more than one byte above the bound is read.
pub fn read_bounded(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}

#[cfg(test)]
mod tests;
