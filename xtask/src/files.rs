//! Files and directories. A failure names the path.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::Failure;

/// Returns a file's text.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::at(path, error))
}

/// Returns a file's content.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::at(path, error))
}

/// Returns a file's size in bytes.
pub(crate) fn size(path: &Path) -> Result<u64, Failure> {
    fs::metadata(path).map(|metadata| metadata.len()).map_err(|error| Failure::at(path, error))
}

/// Writes a file.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    fs::write(path, content).map_err(|error| Failure::at(path, error))
}

/// Renames a file or directory, and replaces a file at the new place.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::rename(from, to).map_err(|error| Failure::at(to, error))
}

/// Creates a directory and those above it.
pub(crate) fn create_directory(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| Failure::at(path, error))
}

/// Removes a directory with its content if it exists.
pub(crate) fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::at(path, error)),
        _ => Ok(()),
    }
}

/// Returns the sorted entries of a directory.
pub(crate) fn entries(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let read = fs::read_dir(directory)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect());
    let mut paths: Vec<PathBuf> = read.map_err(|error| Failure::at(directory, error))?;
    paths.sort();
    Ok(paths)
}

/// Locks a file until the result is dropped; waits for another process that has the lock.
pub(crate) fn lock(path: &Path) -> Result<File, Failure> {
    let file = File::create(path).and_then(|file| file.lock().map(|()| file));
    file.map_err(|error| Failure::at(path, error))
}
