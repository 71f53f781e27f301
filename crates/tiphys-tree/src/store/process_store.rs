//! The store of one process, which is filled from archives.

use std::io::Read;
use std::ops::Deref;
use std::sync::Arc;

use super::Store;
use super::own::{Own, Room};
use super::renewed::Renewed;
use crate::archive::{ArchiveError, Intake};
use crate::{StoreError, Tree};

/// A [`Store`] of one process alone ([`Store::of_this_process`]) that also takes in archives. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ProcessStore {
    store: Arc<Store>,
    /// Its trees.
    own: Arc<Renewed<Own>>,
}

impl ProcessStore {
    pub(super) fn new(store: Store, own: Arc<Renewed<Own>>) -> Self {
        Self { store: Arc::new(store), own }
    }

    /// Returns the store for code that takes in no archives.
    pub fn shared(&self) -> Arc<Store> {
        Arc::clone(&self.store)
    }

    /// Removes everything, even trees in use, and rejects further archives. For the end of a process, which does not wait for all users.
    pub fn close(&self) {
        self.own.close();
        self.store.close_runs();
    }

    /// Returns room for an archive of this size with the trees in use, if available now. If nothing else is in use there is always room.
    pub fn room_now(&self, announced: u64) -> Result<Option<Room>, StoreError> {
        Ok(self.store.own(&self.own)?.room_now(announced))
    }

    /// Like [`Self::room_now`], but blocks until there is room; `None` if `stop` returned `true`. Callers wait one at a time: otherwise
    /// small archives would overtake large ones.
    pub fn room(&self, announced: u64, stop: &(dyn Fn() -> bool + Sync)) -> Result<Option<Room>, StoreError> {
        Ok(self.store.own(&self.own)?.room(announced, stop))
    }

    /// Returns the tree of an archive (gzipped tar), regardless of the trees in use. The archive is read to its last byte before the tree
    /// exists. A reader's error is returned as [`ArchiveError::Io`].
    ///
    /// Only new files are written: others are hard links to existing ones, so a tree must never be written to. Runs see an overlay or a copy.
    pub fn take_in(&self, archive: &mut dyn Read, intake: &Intake<'_>) -> Result<Tree, ArchiveError> {
        let own = self.store.own(&self.own)?;
        own.room_in_any_case().take_in(archive, intake)
    }
}

impl Deref for ProcessStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}
