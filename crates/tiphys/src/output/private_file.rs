//! Files that only their owner can read.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use tempfile::NamedTempFile;

use super::destination;
use crate::error::ServiceError;

/// Replaces a file. It has the mode of a temporary file, readable by its owner only: parameters and messages of plugins may contain secrets.
/// `option` names the option in messages.
pub(crate) fn write_private_file(option: &str, path: &Path, text: &str) -> Result<(), ServiceError> {
    let path = destination(option, path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let write = || {
        fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&path).map_err(|error| error.error)
    };
    write()
        .map(drop)
        .map_err(|error| ServiceError::rendering(format!("cannot write {}: {error}", path.display())))
}

#[cfg(test)]
mod tests;
