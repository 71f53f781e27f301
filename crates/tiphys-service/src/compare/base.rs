//! The comparison of two revisions of the store, and of the sources of its applications.

mod compare;
mod pairs;
mod past;
mod plugins;
mod sides;
mod trust;
mod unheeded;

use tiphys_source::BaseRevision;

pub use compare::{RevisionComparison, RevisionDiff};

/// Whose plugins run if they are in a compared work tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PluginsFrom {
    /// Those of the base, for both sides.
    #[default]
    Base,
    /// Those of the working copy, for both sides.
    Head,
    /// Each side's own.
    Each,
}

/// Which revision the working copy is compared with.
#[derive(Clone, Debug)]
pub struct RevisionOptions {
    /// The base.
    pub base: BaseRevision,
    /// Whose plugins run.
    pub plugins_from: PluginsFrom,
}

impl RevisionOptions {
    /// Returns the name of the base for messages and headings.
    pub fn base_label(&self) -> String {
        past::label(&self.base)
    }
}
