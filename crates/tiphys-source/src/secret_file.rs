//! Files with secrets that another program reads. They go when their value is dropped, and those of a killed process with the next one's.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use tempfile::NamedTempFile;
use tiphys_tree::{FileOwner, open_file};

/// Beginning of their names.
const PREFIX: &str = "tiphys-secret-";

/// Makes a file that only this user can read. It stays locked as long as it is open, which is how others know that it is in use.
pub(crate) fn create(dir: &Path, text: &[u8]) -> io::Result<NamedTempFile> {
    remove_left(dir)?;
    let mut file = loop {
        let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(dir)?;
        // Where files cannot be locked, none is removed either.
        let _locked_or_left_alone: io::Result<()> = file.as_file().lock();
        // Another process may have removed it as unused before it was locked.
        if file.as_file().metadata()?.nlink() > 0 {
            break file;
        }
    };
    file.write_all(text)?;
    file.flush()?;
    Ok(file)
}

/// Removes unlocked files: their process was killed.
fn remove_left(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)?.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let path = entry.path();
        let left = open_file(&path, FileOwner::Program, OpenOptions::new().read(true));
        if left.is_ok_and(|file| file.try_lock().is_ok()) {
            // Another process may do the same at this moment.
            let _gone: io::Result<()> = fs::remove_file(&path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
