//! Removing what a run left, whatever modes its directories have.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Removes a directory with everything in it. Links are removed, never followed. What is not there counts as removed.
///
/// An overlay leaves a directory of mode 000, and plugins make read-only ones; both are opened up first where it is needed.
pub(crate) fn remove_tree(root: &Path) -> io::Result<()> {
    match fs::remove_dir_all(root) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(root)?;
            fs::remove_dir_all(root)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        answer => answer,
    }
}

/// Lets the owner read, change and enter every directory of a tree.
fn open_up(root: &Path) -> io::Result<()> {
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        fs::set_permissions(&dir, Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                todo.push(entry.path());
            }
        }
    }
    Ok(())
}
