//! Room for an archive beside the trees that are in use.
//!
//! Everything in use counts against [`StoreBounds::bytes_max`](crate::StoreBounds): trees that callers hold, a file that several have once,
//! and archives that are being taken in, with what they announced and have not written yet. An archive gets room when it fits beside
//! that, or when nothing else is in use. It then waits for nothing: one that grows beyond the limit beside others is refused, since two that
//! wait for each other would both hold what they have written.

use std::io::Read;
use std::sync::Arc;

use tiphys_limits::Limit;

use super::Own;
use super::contents::{Full, IntakeNumber, Leaving, WhenFull};
use crate::Tree;
use crate::archive::{ArchiveError, Intake};

/// Room for one archive in a store of one process. Free again when this is dropped; a tree that was made keeps what it takes.
#[derive(Debug)]
pub struct Room {
    own: Arc<Own>,
    number: IntakeNumber,
}

impl Room {
    pub(super) fn number(&self) -> IntakeNumber {
        self.number
    }

    /// The tree that an archive (tar within gzip) holds, as [`ProcessStore::take_in`](crate::ProcessStore::take_in).
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
    /// Room for an archive that announces so many bytes, if there is some.
    pub(in crate::store) fn room_now(self: &Arc<Self>, announced: u64) -> Option<Room> {
        let number = self.contents().begin_if_fits(announced)?;
        Some(Room { own: Arc::clone(self), number })
    }

    /// The same, waiting for it until `stop` returns true.
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

    /// Room for an archive whatever is in use.
    pub(in crate::store) fn room_in_any_case(self: &Arc<Self>) -> Room {
        let number = self.contents().begin(0, WhenFull::Exceed);
        Room { own: Arc::clone(self), number }
    }

    /// Counts bytes that an archive is about to write.
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
