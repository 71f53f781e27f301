//! The store of one process, for who fills it from archives.

use std::io::Read;
use std::ops::Deref;
use std::sync::Arc;

use super::Store;
use super::own::Own;
use super::renewed::Renewed;
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

    /// The tree that an archive (tar within gzip) holds. The archive is read to its last byte before there is a tree; an error of the
    /// reader comes back as [`ArchiveError::Io`].
    ///
    /// Only files that the store does not have are written: the others are linked to those that are there. Links of one file are one
    /// file, so nobody may write into a tree; runs see an overlay above it or a copy of its bytes.
    pub fn take_in(&self, archive: &mut dyn Read, intake: &Intake<'_>) -> Result<Tree, ArchiveError> {
        let own = self.store.own(&self.own)?;
        own.take_in(archive, intake).map_err(|error| own.explain(error))
    }
}

impl Deref for ProcessStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}
