//! Folders of the cache, for this user alone, and files in them that are there whole or not at all.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::SourceError;

/// How the names of files begin that are being written.
const PARTIAL_PREFIX: &str = "partial-";

/// How long ago one was written to that no living process writes to: longer than a fetch may take by default.
const LEFT_OVER: Duration = Duration::from_hours(1);

/// Makes a folder and those above it, if they are missing.
pub(crate) fn private_folder(dir: &Path) -> Result<(), SourceError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(SourceError::cache("make", dir))
}

/// Writes a file.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), SourceError> {
    let write = || -> io::Result<()> {
        let mut file = new_file(path.parent().unwrap_or(path))?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(SourceError::cache("write", path))
}

/// A file to be written and then renamed. What a killed process left of such files goes, by the clock of the file system.
pub(crate) fn new_file(dir: &Path) -> io::Result<NamedTempFile> {
    let file = tempfile::Builder::new().prefix(PARTIAL_PREFIX).tempfile_in(dir)?;
    let now = file.as_file().metadata()?.modified()?;
    for entry in fs::read_dir(dir)?.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PARTIAL_PREFIX.as_bytes()) {
            continue;
        }
        let modified = entry.metadata().and_then(|found| found.modified());
        let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
        if age.is_some_and(|age| age > LEFT_OVER) {
            // Another process may be faster.
            let _gone: io::Result<()> = fs::remove_file(entry.path());
        }
    }
    Ok(file)
}
