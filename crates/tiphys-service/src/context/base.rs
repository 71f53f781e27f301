//! The two sides of a comparison of revisions: the working copy and its base.

mod answers;
pub(crate) mod past;
pub(crate) mod plugins;
pub(crate) mod project_file;
pub(crate) mod projects;
pub(crate) mod sides;

use tiphys_source::BaseRevision;

pub use project_file::project_file_of_base;

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
    /// Whether the Applications and sets that an application renders are followed.
    pub follow: bool,
}

impl RevisionOptions {
    /// Returns the name of the base for messages and headings.
    pub fn base_label(&self) -> String {
        past::label(&self.base)
    }
}
