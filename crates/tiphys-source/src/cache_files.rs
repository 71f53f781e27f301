//! Private directories of the cache, and atomic writes of files in them.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::SourceError;

/// Prefix of the names of temporary files.
const PARTIAL_PREFIX: &str = "partial-";

/// Age of temporary files whose process was killed: longer than the default timeout of a fetch.
const LEFT_OVER: Duration = Duration::from_hours(1);

/// Creates a directory and its parents with mode 0700, if they do not exist.
pub(crate) fn private_folder(dir: &Path) -> Result<(), SourceError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(SourceError::cache("make", dir))
}

/// Writes a file atomically.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), SourceError> {
    let write = || -> io::Result<()> {
        let mut file = new_file(path.parent().unwrap_or(path))?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(SourceError::cache("write", path))
}

/// Creates a temporary file to be renamed, and removes those of killed processes. Their age is that of the file system's clock.
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
            // Another process may have removed it.
            let _gone: io::Result<()> = fs::remove_file(entry.path());
        }
    }
    Ok(file)
}
