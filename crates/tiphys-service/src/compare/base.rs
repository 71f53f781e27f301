//! The comparison of two revisions of the store, and of the sources of its applications.

mod compare;
mod dropped_values;
mod pairs;
mod past;
mod plugins;
mod project_file;
mod projects;
mod sets;
mod sides;
mod trust;

use tiphys_source::BaseRevision;

pub use compare::{AffectedApplication, RevisionComparison, RevisionDiff};
pub(super) use pairs::unusable_key;
pub use project_file::project_file_of_base;
pub use sets::preview_change;

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

/// Whether live clusters answer references that the base does not have in the same application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadReferences {
    /// They do not: a change could otherwise print any object that a project permits.
    #[default]
    Unresolved,
    /// They do.
    Resolved,
}

/// Which applications are rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rendering {
    /// Those whose inputs differ, or are not known.
    #[default]
    Changed,
    /// All.
    All,
}

/// Which revision the working copy is compared with.
#[derive(Clone, Debug)]
pub struct RevisionOptions {
    /// The base.
    pub base: BaseRevision,
    /// Whose plugins run.
    pub plugins_from: PluginsFrom,
    /// Which references of the working copy live clusters answer.
    pub head_references: HeadReferences,
    /// Which applications are rendered.
    pub rendering: Rendering,
}

impl RevisionOptions {
    /// Returns the name of the base for messages and headings.
    pub fn base_label(&self) -> String {
        past::label(&self.base)
    }
}
