//! Files that are replaced as a whole. A link is replaced, not followed.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

use super::destination;
use crate::error::ServiceError;

/// Mode of files for all users.
pub(crate) const PUBLIC_MODE: u32 = 0o644;

/// Mode of files with parameters or messages of plugins, which may contain secrets.
const PRIVATE_MODE: u32 = 0o600;

/// Replaces a file that only its owner can read. `option` names the option in messages.
pub(crate) fn write_private_file(option: &str, path: &Path, text: &str) -> Result<(), ServiceError> {
    replace_file(option, path, text.as_bytes(), PRIVATE_MODE)
}

/// Replaces a file atomically, and creates its directory if necessary. `option` names the option in messages.
pub(crate) fn replace_file(option: &str, path: &Path, content: &[u8], mode: u32) -> Result<(), ServiceError> {
    let path = destination(option, path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let write = || {
        fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(content)?;
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
        file.persist(&path).map_err(|error| error.error)
    };
    write()
        .map(drop)
        .map_err(|error| ServiceError::rendering(format!("cannot write {}: {error}", path.display())))
}

#[cfg(test)]
mod tests;
