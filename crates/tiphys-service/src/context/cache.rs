//! The cache directory and the content store in it.

mod prune;

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tiphys_model::limits::Limit;
use tiphys_tree::TreeLimits;
use tiphys_tree::{ProcessStore, Reuse, Store, StoreBounds, StoreError, StoreOptions};

use crate::context::host::Host;
use crate::context::options::ServiceOptions;
use crate::error::{Remedy, ServiceError};

pub use prune::prune_cache;

/// Mode bits that give group and others access to a directory.
const OPEN_TO_OTHERS: u32 = 0o077;

/// Name prefix of the directories for trees that are used instead of a read-only cache.
const PREFIX: &str = "tiphys-trees-";

/// The cache directory with fetched sources, and the content store with their trees.
pub(crate) struct Cache {
    pub(crate) dir: PathBuf,
    trees: Arc<Store>,
    /// Used instead of a read-only cache.
    temporary: Option<TemporaryStore>,
    /// Keeps other commands from pruning the cache.
    _in_use: Option<File>,
}

/// A content store of this process alone. All commands of a user share its parent directory, so that the next command removes what a
/// killed one left behind.
struct TemporaryStore {
    store: ProcessStore,
    /// A private parent directory, used if the shared one belongs to another user.
    _private_dir: Option<TempDir>,
}

/// The directory that the commands of one user share.
#[derive(Debug, PartialEq, Eq)]
enum SharedDir {
    /// Only this user has access.
    Private(PathBuf),
    /// Another user owns it or has access, or it is not a directory.
    Unusable(PathBuf),
}

impl Cache {
    /// Opens the cache directory and creates it if necessary. With `offline` the cache may be read-only: then new trees go into a
    /// temporary store.
    pub(crate) fn open(options: &ServiceOptions, host: &Host) -> Result<Self, ServiceError> {
        let dir = host.cache_dir(options.cache_dir.as_deref())?;
        let reuse = if options.refresh { Reuse::OwnTrees } else { Reuse::AnyTree };
        match Store::open(store_options(options, &dir)) {
            Ok(trees) => {
                // A new cache directory exists from here on.
                let in_use = prune::begin_use(&dir, options.limits.get(Limit::CACHE_SIZE_MAX));
                Ok(Self { dir, trees: Arc::new(trees.with_reuse(reuse)), temporary: None, _in_use: in_use })
            }
            Err(StoreError::Io { source, .. })
                if options.offline && dir.is_dir() && is_read_only(&source) =>
            {
                let temporary = TemporaryStore::open(options, host)?;
                Ok(Self { dir, trees: temporary.store.shared(), temporary: Some(temporary), _in_use: None })
            }
            Err(error) => {
                let error = ServiceError::invalid_input_from(error);
                Err(error.with_remedy(Some(Remedy::ChangeCacheDirectory)))
            }
        }
    }

    /// Returns the content store.
    pub(crate) fn trees(&self) -> Arc<Store> {
        Arc::clone(&self.trees)
    }
}

impl TemporaryStore {
    fn open(options: &ServiceOptions, host: &Host) -> Result<Self, ServiceError> {
        let temporary = host.temporary_dir();
        let failed = |error: io::Error| {
            let (base, hint) = (temporary.display(), "TMPDIR names another folder for temporary files");
            ServiceError::invalid_input(format!("cannot make a folder in {base}: {error}")).with_hint(hint)
        };
        // The owner of a new file is the current user.
        let file = tempfile::tempfile_in(&temporary).and_then(|file| file.metadata());
        let user = file.map_err(failed)?.uid();
        let (dir, private_dir) = match shared_dir(&temporary, user).map_err(failed)? {
            SharedDir::Private(dir) => (dir, None),
            // Otherwise any user could block the commands of all others.
            SharedDir::Unusable(shared) => {
                let own = private_dir(&temporary).map_err(failed)?;
                tracing::warn!(
                    "{} belongs to another user, has open permissions or is not a folder; using {}, which is not removed if this command is killed; remove the first, or set TMPDIR to a folder of your own",
                    shared.display(),
                    own.path().display()
                );
                (own.path().to_path_buf(), Some(own))
            }
        };
        // A use case needs its trees until its end.
        let bounds = StoreBounds { bytes_max: u64::MAX, trees_max: usize::MAX };
        let store = Store::of_this_process(store_options(options, &dir), bounds)
            .map_err(ServiceError::invalid_input_from)?;
        Ok(Self { store, _private_dir: private_dir })
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            temporary.store.close();
        }
    }
}

/// Puts trees and the private working copies of runs into the cache directory.
fn store_options(options: &ServiceOptions, dir: &Path) -> StoreOptions {
    StoreOptions {
        dir: dir.to_path_buf(),
        runs_dir: dir.join("runs"),
        limits: TreeLimits::from(&options.limits),
    }
}

/// Creates a directory with a random name.
fn private_dir(temporary: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(temporary)
}

/// Returns the shared directory of a user and creates it if necessary. Its name is predictable, so another user may have created it.
fn shared_dir(temporary: &Path, user: u32) -> io::Result<SharedDir> {
    let dir = temporary.join(format!("{PREFIX}{user}"));
    match DirBuilder::new().mode(0o700).create(&dir) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(&dir)?;
    let is_private = found.is_dir() && found.uid() == user && found.mode() & OPEN_TO_OTHERS == 0;
    Ok(if is_private { SharedDir::Private(dir) } else { SharedDir::Unusable(dir) })
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests;
