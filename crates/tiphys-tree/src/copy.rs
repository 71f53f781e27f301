//! Copies of trees that stay, for people who want to look into them.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::{StoreError, Tree};

impl Tree {
    /// Copies the whole tree into a new folder below `parent`, whose name begins with `prefix`, and gives its path. Nobody removes it.
    pub fn copy_below(&self, parent: &Path, prefix: &str) -> Result<PathBuf, StoreError> {
        let failed = |source| StoreError::Io { action: "copy a tree to", path: parent.to_path_buf(), source };
        fs::create_dir_all(parent).map_err(failed)?;
        // A plugin's name may hold anything; a folder's may not.
        let prefix: String = prefix.chars().map(|c| if c == '/' || c == '\0' { '_' } else { c }).collect();
        let dir =
            tempfile::Builder::new().prefix(&format!("{prefix}-")).tempdir_in(parent).map_err(failed)?;
        copy(self.root(), dir.path()).map_err(failed)?;
        Ok(dir.keep())
    }
}

/// Copies what is in a directory: links as links, files with their modes.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
