//! Temporary files with secrets for other programs. They are removed on drop; those of a killed process are removed with the next file.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use tempfile::NamedTempFile;
use tiphys_tree::{FileOwner, open_file};

/// Prefix of their names.
const PREFIX: &str = "tiphys-secret-";

/// Creates a file that only this user can read. It is locked while it is in use.
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

/// Removes the files of killed processes, which are not locked.
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
