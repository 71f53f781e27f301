//! Trees that all processes of one user share, and that are kept.
//!
//! ```text
//! <dir>/gate                      locked while a process begins
//! <dir>/trees/<boot>/<key>/       a tree; moved here when it is whole
//! <dir>/trees/<boot>.lock         held, shared, by every process that may have a tree of this boot in use
//! <dir>/tmp/session-<random>/     a process' own folder, where it writes trees; holds a lock that says whether the process lives
//! ```
//!
//! Nothing is synced to disk, because writing a tree again is faster. So a crash of the machine, but not of a process, may damage a tree:
//! trees are stored per boot, and those of earlier boots are removed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::session::{Gate, Session, is_unlocked, lock_file};
use super::{InUse, Reuse, SEAL, Staged, TREE, Tree, private_folder, seal};
use crate::{StoreError, TreeKey, is_cache_name, mark_used};

/// Trees of this boot.
#[derive(Debug)]
pub(super) struct Shared {
    /// The directory of the trees of this boot.
    trees: PathBuf,
    /// The directory in which trees are written.
    staging: Session,
    in_use: Arc<File>,
    /// With [`Reuse::OwnTrees`], the keys of the trees that this process has written.
    own_trees: Option<Mutex<HashSet<TreeKey>>>,
}

impl Shared {
    /// Opens or creates the directory, and removes what killed processes left in it.
    pub(super) fn open(dir: &Path) -> Result<Self, StoreError> {
        let boot = boot_id();
        let all_trees = dir.join("trees");
        let trees = private_folder(&all_trees.join(&boot))?;
        let tmp = private_folder(&dir.join("tmp"))?;
        let gate = Gate::close(dir)?;
        let staging = Session::begin(&tmp, &gate)?;
        let in_use = lock_file(&all_trees.join(format!("{boot}.lock")))?;
        in_use.lock_shared().map_err(StoreError::io("lock", &all_trees))?;
        take_over_other_boots(&all_trees, &boot, &staging)?;
        drop(gate);
        staging.sweep();
        Ok(Self { trees, staging, in_use: Arc::new(in_use), own_trees: None })
    }

    pub(super) fn with_reuse(self, reuse: Reuse) -> Self {
        Self { own_trees: (reuse == Reuse::OwnTrees).then(Mutex::default), ..self }
    }

    /// Returns the tree of this name if it exists and is complete.
    pub(super) fn get(&self, key: TreeKey) -> Option<Tree> {
        let place = self.place(key);
        // Locked to the end, so that another thread's new tree is not taken for a foreign one.
        let own_trees = self.own_trees();
        if !place.is_dir() {
            return None;
        }
        let is_foreign = own_trees.as_ref().is_some_and(|own_trees| !own_trees.contains(&key));
        if is_foreign || !seal::holds(&place.join(TREE), &place.join(SEAL)) {
            self.staging.take_over(&place);
            return None;
        }
        mark_used(&place);
        Some(self.tree(key, &place))
    }

    /// Returns an unused path for a new tree.
    pub(super) fn fresh_path(&self) -> PathBuf {
        self.staging.fresh_path()
    }

    /// Moves a complete tree into place. If another process was faster, its tree is used: both have the same content.
    pub(super) fn keep(&self, key: TreeKey, staged: Staged) -> Result<Tree, StoreError> {
        if let Some(tree) = self.get(key) {
            return Ok(tree);
        }
        let place = self.place(key);
        seal::write(&staged.tree(), &staged.place().join(SEAL))
            .map_err(StoreError::io("seal", staged.place()))?;
        let own_trees = self.own_trees();
        match fs::rename(staged.place(), &place) {
            Ok(()) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists
                ) => {}
            Err(source) => return Err(StoreError::Io { action: "move a tree to", path: place, source }),
        }
        drop(staged);
        if let Some(mut own_trees) = own_trees {
            own_trees.insert(key);
        }
        Ok(self.tree(key, &place))
    }

    fn place(&self, key: TreeKey) -> PathBuf {
        self.trees.join(key.to_string())
    }

    fn tree(&self, key: TreeKey, place: &Path) -> Tree {
        Tree {
            key,
            root: Arc::new(place.join(TREE)),
            in_use: InUse::ByThisBoot { _lock: Arc::clone(&self.in_use) },
        }
    }

    fn own_trees(&self) -> Option<MutexGuard<'_, HashSet<TreeKey>>> {
        self.own_trees.as_ref().map(|keys| keys.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Removes trees of other boots that no process uses: on a shared file system, another machine may. Directories with other names are not
/// those of a boot.
fn take_over_other_boots(all_trees: &Path, boot: &str, session: &Session) -> Result<(), StoreError> {
    for entry in fs::read_dir(all_trees).map_err(StoreError::io("read", all_trees))?.flatten() {
        let (place, name) = (entry.path(), entry.file_name());
        let lock = place.with_extension("lock");
        let is_other_boot = is_cache_name(&place) && name.to_str() != Some(boot);
        if is_other_boot && place.is_dir() && is_unlocked(&lock) {
            session.take_over(&place);
            drop(fs::remove_file(lock));
        }
    }
    Ok(())
}

/// Returns the ID of this boot. If the system does not report it, all boots count as one.
fn boot_id() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let id: String = id.chars().filter(char::is_ascii_hexdigit).collect();
    if id.is_empty() { "0".repeat(32) } else { id }
}
