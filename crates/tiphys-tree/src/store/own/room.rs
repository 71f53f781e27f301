//! Room for an archive with the trees in use.
//!
//! Everything in use counts against [`StoreBounds::bytes_max`](crate::StoreBounds): trees in use, a shared file once, and archives that are
//! being read, with their announced bytes. An archive gets room if it fits, or if nothing else is in use. It never waits later: one that
//! grows over the limit with others is rejected, because two that wait for each other would both keep what they have written.

use std::io::Read;
use std::sync::Arc;

use tiphys_model::limits::Limit;

use super::Own;
use super::contents::{Full, IntakeNumber, Leaving, WhenFull};
use crate::Tree;
use crate::archive::{ArchiveError, Intake};

/// Room for one archive in a store of one process. Released on drop; a created tree keeps its bytes.
#[derive(Debug)]
pub struct Room {
    own: Arc<Own>,
    number: IntakeNumber,
}

impl Room {
    pub(super) fn number(&self) -> IntakeNumber {
        self.number
    }

    /// Returns the tree of an archive (gzipped tar) like [`ProcessStore::take_in`](crate::ProcessStore::take_in).
    ///
    /// # Errors
    ///
    /// [`ArchiveError::StoreFull`] if it brings the store over its limit while other trees are in use.
    pub fn take_in(self, archive: &mut dyn Read, intake: &Intake<'_>) -> Result<Tree, ArchiveError> {
        self.own.take_in(&self, archive, intake).map_err(|error| self.own.explain(error))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.own.contents().end(self.number);
        self.own.ledger.freed();
    }
}

impl Own {
    /// Returns room for an archive of this announced size, if available.
    pub(in crate::store) fn room_now(self: &Arc<Self>, announced: u64) -> Option<Room> {
        let number = self.contents().begin_if_fits(announced)?;
        Some(Room { own: Arc::clone(self), number })
    }

    /// Like [`Self::now`], but waits until `stop` returns `true`.
    pub(in crate::store) fn room(
        self: &Arc<Self>,
        announced: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Option<Room> {
        let mut contents = self.contents();
        loop {
            let seen = contents.times_freed();
            if let Some(number) = contents.begin_if_fits(announced) {
                return Some(Room { own: Arc::clone(self), number });
            }
            while contents.times_freed() == seen {
                if stop() {
                    return None;
                }
                contents = self.ledger.wait(contents);
            }
        }
    }

    /// Returns room for an archive regardless of the trees in use.
    pub(in crate::store) fn room_in_any_case(self: &Arc<Self>) -> Room {
        let number = self.contents().begin(0, WhenFull::Exceed);
        Room { own: Arc::clone(self), number }
    }

    /// Counts bytes before an archive writes them.
    pub(super) fn grow(&self, intake: IntakeNumber, bytes: u64) -> Result<(), Full> {
        let mut leaving = Leaving::default();
        let grown = self.contents().grow(intake, bytes, &mut leaving);
        self.remover.remove(leaving);
        grown
    }
}

impl From<Full> for ArchiveError {
    fn from(Full { max }: Full) -> Self {
        Self::StoreFull { max, limit: Limit::STORE_BYTES_MAX }
    }
}
