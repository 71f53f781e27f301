//! The directory of cached charts: that of this user in `TIPHYS_HELM_CACHE_DIR`.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::process::getuid;
use tiphys_tree::prune;

use crate::failure::note;
use crate::request::Request;

/// Directories whose entries are removed if they take too much space.
const PRUNED: [&str; 2] = ["charts/archives", "charts/names"];

/// Returns the directory, which is created if necessary. `None` if none is set, or if it is unusable, which is reported.
pub(super) fn open(request: &Request) -> Option<PathBuf> {
    let folder = request.settings.cache_folder.as_deref()?;
    let opened = fs::create_dir_all(folder).and_then(|()| make_private(own(folder)));
    let unusable = |error| {
        note(&format!(
            "dependencies are not cached: cannot use the directory of TIPHYS_HELM_CACHE_DIR: {error}"
        ));
    };
    opened.map_err(unusable).ok()
}

/// Returns the directory for reading. `None` if there is none that only this user can write to.
pub(super) fn known(request: &Request) -> Option<PathBuf> {
    let dir = own(request.settings.cache_folder.as_deref()?);
    require_private(&dir).is_ok().then_some(dir)
}

/// Removes the least recently used charts above the limit.
pub(super) fn tidy(request: &Request, dir: &Path) {
    let pruned = prune(&PRUNED.map(|name| dir.join(name)), request.settings.cache_bytes_max);
    if let Err(error) = pruned {
        note(&format!("dependencies are cached, but old ones cannot be removed: {error}"));
    }
}

fn own(folder: &Path) -> PathBuf {
    folder.join(getuid().as_raw().to_string())
}

fn make_private(dir: PathBuf) -> io::Result<PathBuf> {
    match DirBuilder::new().mode(0o700).create(&dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    require_private(&dir)?;
    Ok(dir)
}

fn require_private(dir: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(dir)?;
    let name = dir.file_name().unwrap_or_default().display();
    if !found.is_dir() || found.uid() != getuid().as_raw() {
        return Err(io::Error::other(format!("`{name}` in it must be a directory of this user; remove it")));
    }
    if found.mode() & 0o022 != 0 {
        return Err(io::Error::other(format!("others may write to `{name}` in it; remove it")));
    }
    Ok(())
}
