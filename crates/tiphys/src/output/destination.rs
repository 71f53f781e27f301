//! Paths of output files. In a git work tree, the authors of its commits control links, and git runs programs in `.git`.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::ServiceError;

/// The entry that makes a directory a git work tree.
const GIT: &str = ".git";

/// Returns an absolute path with the links of its directory resolved. The file itself is not followed, because the caller replaces it.
///
/// A link inside a git work tree is an error, and so is everything in `.git`. Links outside of work trees, such as `/tmp` on some systems,
/// are the caller's own. `option` names the option in messages.
pub(crate) fn destination(option: &str, path: &Path) -> Result<PathBuf, ServiceError> {
    let folder = path.parent().unwrap_or(path);
    let mut real = PathBuf::new();
    for component in folder.components() {
        let is_in_work_tree = is_in_work_tree(&real);
        match component {
            Component::ParentDir => drop(real.pop()),
            component => real.push(component),
        }
        if !real.is_symlink() {
            continue;
        }
        if is_in_work_tree {
            return Err(ServiceError::invalid_input(format!(
                "{option}: {} is a symbolic link in a git work tree; remove it",
                real.display()
            )));
        }
        real = fs::canonicalize(&real)
            .map_err(|error| ServiceError::rendering(format!("cannot write {}: {error}", path.display())))?;
    }
    real.extend(path.file_name());
    // Some file systems do not distinguish upper and lower case.
    if real.iter().any(|name| name.eq_ignore_ascii_case(GIT)) {
        return Err(ServiceError::invalid_input(format!(
            "{option}: {} is in git's own folder; name another one",
            real.display()
        )));
    }
    Ok(real)
}

fn is_in_work_tree(folder: &Path) -> bool {
    folder.ancestors().any(|folder| folder.join(GIT).symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests;
