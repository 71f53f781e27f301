//! Where the project file is: in the checkout of the current directory, or where the caller says.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tiphys_tree::{FileOwner, is_trusted_owner, open_file, read_to_bound};

use super::PROJECT_FILE;
use crate::context::host::Host;
use crate::error::{Input, Remedy, ServiceError};

/// Maximum size of a project file, and of a file whose settings it trusts, in bytes.
pub(super) const FILE_BYTES_MAX: u64 = 1 << 20;

/// Which project file is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProjectFileChoice {
    /// The nearest one, from the current directory up to the root of its checkout.
    #[default]
    Search,
    /// None.
    None,
    /// This one. To name a file is to consent to what it says.
    Named(PathBuf),
    /// The nearest one of a comparison's base, with consent to what it says. Fails without a base.
    Base,
}

/// The location of a project file.
pub(super) struct FoundFile {
    /// The absolute path under which it was found.
    pub(super) path: PathBuf,
    /// The path without links.
    pub(super) real: PathBuf,
    /// The root of the checkout that contains it, without links. `None` outside of checkouts.
    pub(super) top: Option<PathBuf>,
    pub(super) content: Vec<u8>,
}

/// Returns the root of the checkout that contains an absolute path.
pub(crate) fn checkout_of(path: &Path) -> Option<&Path> {
    path.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok())
}

/// Returns the root of the checkout around the current directory, links resolved.
pub(crate) fn current_checkout(host: &Host) -> Option<PathBuf> {
    checkout_of(&host.current_dir)?.canonicalize().ok()
}

/// Returns the directories that are searched for a project file, the nearest first.
fn searched(host: &Host) -> impl Iterator<Item = &Path> {
    let top = checkout_of(&host.current_dir);
    let searched = move |dir: &&Path| top.is_some_and(|top| dir.starts_with(top));
    host.current_dir.ancestors().take_while(searched)
}

/// Returns the path of the nearest project file.
pub(crate) fn nearest(host: &Host) -> Option<PathBuf> {
    searched(host).map(|dir| dir.join(PROJECT_FILE)).find(|file| file.symlink_metadata().is_ok())
}

/// Searches the file. One that belongs to another user, or that is not a regular file, such as a link, is refused.
pub(super) fn search(host: &Host) -> Result<Option<FoundFile>, ServiceError> {
    let Some(path) = nearest(host) else { return Ok(None) };
    let refused = |what: &str| {
        ServiceError::invalid_input(format!("{}: {what}", path.display()))
            .with_remedy(Remedy::NameProjectFile)
    };
    let failed = |error: io::Error| refused(&format!("cannot read it: {error}"));
    if path.is_symlink() {
        return Err(refused("it is a symbolic link"));
    }
    let file = open_file(&path, FileOwner::Repository, File::options().read(true))
        .map_err(|error| failed(error.into()))?;
    let real = path.canonicalize().map_err(failed)?;
    let top = checkout_of(&host.current_dir).and_then(|top| top.canonicalize().ok());
    if !is_trusted_owner(file.metadata().map_err(failed)?.uid()) {
        return Err(refused("it belongs to another user"));
    }
    let content =
        read_to_bound(file, FILE_BYTES_MAX).map_err(failed)?.ok_or_else(|| refused(&too_large()))?;
    Ok(Some(FoundFile { path, real, top, content }))
}

/// Reads the file that the caller named.
pub(super) fn named(file: &Path, host: &Host) -> Result<FoundFile, ServiceError> {
    let path = host.absolute(file);
    let refused = |what: String| {
        ServiceError::invalid_input(format!("{}: {what}", file.display())).of_input(Input::ProjectFile)
    };
    let failed = |error: io::Error| refused(format!("cannot read it: {error}"));
    let real = path.canonicalize().map_err(failed)?;
    let content = read(&real).map_err(failed)?.ok_or_else(|| refused(too_large()))?;
    let top = checkout_of(&real).map(Path::to_path_buf);
    Ok(FoundFile { path, real, top, content })
}

/// Reads a file. `None` if it is too large.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    tiphys_tree::read_bounded(path, FILE_BYTES_MAX)
}

/// Reads a project file at another revision. The error is a description.
pub(crate) fn read_project_file(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: io::Error| format!("cannot read it: {error}");
    // A link would lead to a file of the working copy, or to none.
    if path.symlink_metadata().map_err(failed)?.is_symlink() {
        return Err("it is a link".to_owned());
    }
    read(path).map_err(failed)?.ok_or_else(too_large)
}

pub(super) fn too_large() -> String {
    format!("it has more than {FILE_BYTES_MAX} bytes")
}
