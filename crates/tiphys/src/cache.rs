//! The folder of the cache, and the content store in it.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tiphys_tree::{ProcessStore, Reuse, Store, StoreBounds, StoreError, StoreOptions};

use crate::args::CommonArgs;
use crate::failure::Failure;
use crate::settings::Host;

/// Bits of a mode by which others than the owner get at a folder.
const OPEN_TO_OTHERS: u32 = 0o077;

/// How the names of folders begin in which trees are made if nothing can be written to the cache.
const PREFIX: &str = "tiphys-trees-";

/// Where fetched sources are, and the trees that are made of them.
pub(crate) struct Cache {
    pub(crate) dir: PathBuf,
    trees: Arc<Store>,
    /// Where trees and views are if nothing can be written to the cache.
    elsewhere: Option<Elsewhere>,
}

/// A store of this command alone. It is in a folder for temporary files that the commands of this user share, so that what a killed one
/// leaves goes with the next one.
struct Elsewhere {
    store: ProcessStore,
    /// A folder of this command, where somebody else has the one that they share.
    _own: Option<TempDir>,
}

/// What stands where the commands of one user make trees.
#[derive(Debug, PartialEq, Eq)]
enum Shared {
    /// A folder into which nobody else gets.
    OfUser(PathBuf),
    /// Something else.
    OfOthers(PathBuf),
}

impl Cache {
    /// Makes the folder if it is missing. With `--offline` nothing of it need be writable: what is made of what it has is then kept
    /// elsewhere for this command.
    pub(crate) fn open(common: &CommonArgs, host: &Host) -> Result<Self, Failure> {
        let dir = host.cache_dir(common.cache_dir.as_deref())?;
        let reuse = if common.refresh { Reuse::OwnTrees } else { Reuse::AnyTree };
        match Store::open(options(common, &dir)) {
            Ok(trees) => Ok(Self { dir, trees: Arc::new(trees.with_reuse(reuse)), elsewhere: None }),
            Err(StoreError::Io { source, .. })
                if common.offline && dir.is_dir() && is_for_reading(&source) =>
            {
                let elsewhere = Elsewhere::open(common, host)?;
                Ok(Self { dir, trees: elsewhere.store.shared(), elsewhere: Some(elsewhere) })
            }
            Err(error) => {
                let failure = Failure::bad_input_from(&error);
                Err(failure.hint("--cache-dir names another folder for the cache"))
            }
        }
    }

    /// The content store.
    pub(crate) fn trees(&self) -> Arc<Store> {
        Arc::clone(&self.trees)
    }
}

impl Elsewhere {
    fn open(common: &CommonArgs, host: &Host) -> Result<Self, Failure> {
        let temporary = host.temporary_dir();
        let failed = |error: io::Error| {
            let (base, hint) = (temporary.display(), "TMPDIR names another folder for temporary files");
            Failure::bad_input(format!("cannot make a folder in {base}: {error}")).hint(hint)
        };
        // Whoever makes a file there is its owner.
        let file = tempfile::tempfile_in(&temporary).and_then(|file| file.metadata());
        let user = file.map_err(failed)?.uid();
        let (dir, own) = match folder_of_user(&temporary, user).map_err(failed)? {
            Shared::OfUser(dir) => (dir, None),
            // Anybody could stop everybody's commands otherwise.
            Shared::OfOthers(theirs) => {
                let own = own_folder(&temporary).map_err(failed)?;
                tracing::warn!(
                    "{} belongs to another user, is open to others or is no folder: trees are made in {}, which stays if this command is killed; remove the first, or let TMPDIR name a folder of your own",
                    theirs.display(),
                    own.path().display()
                );
                (own.path().to_path_buf(), Some(own))
            }
        };
        // A command needs what it has made until its end.
        let bounds = StoreBounds { bytes_max: u64::MAX, trees_max: usize::MAX };
        let store = Store::of_this_process(options(common, &dir), bounds)
            .map_err(|error| Failure::bad_input_from(&error))?;
        Ok(Self { store, _own: own })
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        if let Some(elsewhere) = &self.elsewhere {
            elsewhere.store.close();
        }
    }
}

/// Trees, and private views beside them, so that a job that names its cache folder leaves nothing elsewhere.
fn options(common: &CommonArgs, dir: &Path) -> StoreOptions {
    StoreOptions { dir: dir.to_path_buf(), runs_dir: dir.join("runs"), limits: common.bounds.tree() }
}

/// A folder of which nobody knows the name before it is made.
fn own_folder(temporary: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(temporary)
}

/// A folder below one for temporary files that only this user gets into, made if it is missing. Its name is known to all, so others may
/// have made it, and put something into it.
fn folder_of_user(temporary: &Path, user: u32) -> io::Result<Shared> {
    let dir = temporary.join(format!("{PREFIX}{user}"));
    match DirBuilder::new().mode(0o700).create(&dir) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(&dir)?;
    let is_private = found.is_dir() && found.uid() == user && found.mode() & OPEN_TO_OTHERS == 0;
    Ok(if is_private { Shared::OfUser(dir) } else { Shared::OfOthers(dir) })
}

/// Whether the system refused because nothing may be written there.
fn is_for_reading(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests;
