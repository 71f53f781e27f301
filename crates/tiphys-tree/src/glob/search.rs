//! Limits the search for one pattern.

use std::cell::Cell;
use std::ops::ControlFlow;

use tiphys_model::limits::Limit;

use super::GlobError;

/// Maximum number of names and directories that a search visits, for each entry that the tree may have: links show a directory again. Links
/// to their own directory make any number of paths from a few kilobytes.
const LOOKS_PER_ENTRY: u64 = 2;
/// Minimum of that limit: twice the default entries of a tree.
const LOOKS_MIN: u64 = 2_000_000;
/// Number of names between two checks whether to stop.
const LOOKS_PER_QUESTION: u64 = 1024;

/// Receives a match, and returns whether to continue.
pub(super) type Hit<'h> = dyn FnMut(&[u8]) -> ControlFlow<()> + 'h;

/// Why a search ended early.
#[derive(Debug)]
pub(super) enum Ended {
    /// Enough was found.
    Enough,
    /// It failed.
    Failed(GlobError),
}

impl From<GlobError> for Ended {
    fn from(error: GlobError) -> Self {
        Self::Failed(error)
    }
}

/// One search.
pub(super) struct Search<'a> {
    looks: Cell<u64>,
    looks_max: u64,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Search<'a> {
    /// Creates a search in a tree with a maximum number of entries. It ends with [`GlobError::Stopped`] if `stop` returns `true`.
    pub(super) fn new(entries_max: u64, stop: &'a dyn Fn() -> bool) -> Self {
        let looks_max = entries_max.saturating_mul(LOOKS_PER_ENTRY).max(LOOKS_MIN);
        Self { looks: Cell::new(0), looks_max, stop }
    }

    /// Counts a directory.
    pub(super) fn directory(&self) -> Result<(), GlobError> {
        if (self.stop)() { Err(GlobError::Stopped) } else { self.name() }
    }

    /// Counts a name.
    pub(super) fn name(&self) -> Result<(), GlobError> {
        let looks = self.looks.get() + 1;
        self.looks.set(looks);
        if looks > self.looks_max {
            Err(GlobError::TooManyLooks { max: self.looks_max, limit: Limit::TREE_ENTRIES_MAX })
        } else if looks.is_multiple_of(LOOKS_PER_QUESTION) && (self.stop)() {
            Err(GlobError::Stopped)
        } else {
            Ok(())
        }
    }
}

/// Returns all matches.
pub(super) fn all(search: impl FnOnce(&mut Hit<'_>) -> Result<(), Ended>) -> Result<Vec<Vec<u8>>, GlobError> {
    let mut found = Vec::new();
    let mut take = |path: &[u8]| {
        found.push(path.to_vec());
        ControlFlow::Continue(())
    };
    match search(&mut take) {
        Ok(()) | Err(Ended::Enough) => Ok(found),
        Err(Ended::Failed(error)) => Err(error),
    }
}

/// Whether there is a match that counts.
pub(super) fn any(
    counts: impl Fn(&[u8]) -> bool,
    search: impl FnOnce(&mut Hit<'_>) -> Result<(), Ended>,
) -> Result<bool, GlobError> {
    let mut found = false;
    let mut take = |path: &[u8]| {
        found |= counts(path);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match search(&mut take) {
        Ok(()) | Err(Ended::Enough) => Ok(found),
        Err(Ended::Failed(error)) => Err(error),
    }
}
