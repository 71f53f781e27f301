//! The store of one process, which is filled from archives.

use std::ops::Deref;
use std::sync::Arc;

use super::Store;
use super::own::{Own, Room};

/// A [`Store`] of one process alone ([`Store::of_this_process`]) that also takes in archives. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ProcessStore {
    store: Arc<Store>,
    /// Its trees.
    own: Arc<Own>,
}

impl ProcessStore {
    pub(super) fn new(store: Store, own: Arc<Own>) -> Self {
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

    /// Returns room for an archive of this size with the trees in use, if available. If nothing else is in use there is always room.
    pub fn room(&self, announced: u64) -> Option<Room> {
        self.own.room_now(announced)
    }
}

impl Deref for ProcessStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}
