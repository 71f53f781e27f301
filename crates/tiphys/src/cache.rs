//! The folder of the cache, and the content store in it.

use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tiphys_tree::{ProcessStore, Reuse, Store, StoreBounds, StoreError, StoreOptions};

use crate::args::CommonArgs;
use crate::failure::Failure;
use crate::settings::Host;

/// Where fetched sources are, and the trees that are made of them.
pub(crate) struct Cache {
    pub(crate) dir: PathBuf,
    trees: Arc<Store>,
    /// Where trees and views are if nothing can be written to the cache.
    elsewhere: Option<Elsewhere>,
}

/// A store of this command alone, in a folder for temporary files, which goes with it.
struct Elsewhere {
    store: ProcessStore,
    _dir: TempDir,
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
        let base = host.temporary_dir();
        let dir = tempfile::Builder::new()
            .prefix("tiphys-trees-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&base)
            .map_err(|error| {
                let (base, hint) = (base.display(), "TMPDIR names another folder for temporary files");
                Failure::bad_input(format!("cannot make a folder in {base}: {error}")).hint(hint)
            })?;
        // A command needs what it has made until its end.
        let bounds = StoreBounds { bytes_max: u64::MAX, trees_max: usize::MAX };
        let store = Store::of_this_process(options(common, dir.path()), bounds)
            .map_err(|error| Failure::bad_input_from(&error))?;
        Ok(Self { store, _dir: dir })
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

/// Whether the system refused because nothing may be written there.
fn is_for_reading(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
}
