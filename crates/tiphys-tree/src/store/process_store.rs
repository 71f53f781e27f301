//! The store of one process, for who fills it from archives.

use std::io::Read;
use std::ops::Deref;
use std::sync::Arc;

use super::own::{Own, Room};
use super::renewed::Renewed;
use super::{Store, StoreError};
use crate::Tree;
use crate::archive::{ArchiveError, Intake};

/// A [`Store`] of one process alone ([`Store::of_this_process`]), which takes archives in, too. Cheap to clone.
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

    /// The store for those who take nothing in.
    pub fn shared(&self) -> Arc<Store> {
        Arc::clone(&self.store)
    }

    /// Removes all that the store has, whoever still has a tree of it. Nothing can be taken in after it. For the end of a process, which does
    /// not wait until everybody has let go.
    pub fn close(&self) {
        self.own.close();
        self.store.close_runs();
    }

    /// Room for an archive of so many bytes beside the trees that are in use, if there is some now. An archive always has room when
    /// nothing else is in use.
    pub fn room_now(&self, announced: u64) -> Result<Option<Room>, StoreError> {
        Ok(self.store.own(&self.own)?.room_now(announced))
    }

    /// The same, blocking until there is room; `None` if `stop` returned true before. Callers wait one at a time: whoever needs little room
    /// would overtake the others.
    pub fn room(&self, announced: u64, stop: &(dyn Fn() -> bool + Sync)) -> Result<Option<Room>, StoreError> {
        Ok(self.store.own(&self.own)?.room(announced, stop))
    }

    /// The tree that an archive (tar within gzip) holds, whatever else is in use. The archive is read to its last byte before there is a tree; an error of the
    /// reader comes back as [`ArchiveError::Io`].
    ///
    /// Only files that the store does not have are written: the others are linked to those that are there. Links of one file are one
    /// file, so nobody may write into a tree; runs see an overlay above it or a copy of its bytes.
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
