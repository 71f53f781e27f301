//! Arguments of `diff --base`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use tiphys_service::compare::{HeadReferences, Rendering, RevisionOptions};
use tiphys_source::{BasePoint, BaseRevision};

// Which two revisions are compared, and whose plugins run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparing revisions")]
pub(crate) struct BaseArgs {
    /// Compare with a revision of the store and of the `--repo` folders: a branch, `origin/main`, a tag, a commit, `HEAD^`
    #[arg(long, value_name = "REV", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) base: Option<String>,

    /// Compare with the merge base of REV and HEAD, like `git diff --merge-base`
    #[arg(long, requires = "base")]
    pub(crate) merge_base: bool,

    /// Side whose plugins run if `--plugins` names a path in a compared work tree: `base`, `head` or `each`. Use the last two only for trusted
    /// changes
    #[arg(long, value_name = "SIDE", requires = "base", default_value = "base", hide_possible_values = true)]
    pub(crate) plugins_from: PluginsFrom,

    /// Let clusters answer references that REV does not have in the same Application. Use it only for trusted changes
    #[arg(long, requires = "base")]
    pub(crate) resolve_head_references: bool,

    /// Render all applications, those with equal inputs, too
    #[arg(long, requires = "base")]
    pub(crate) render_all: bool,
}

impl BaseArgs {
    /// Compares with a revision that no option names.
    pub(crate) fn use_default(&mut self, base: BaseRevision) {
        self.merge_base = base.point == BasePoint::MergeBase;
        self.base = Some(base.name);
    }

    /// Returns the revision to compare with, if one is given.
    pub(crate) fn revision(&self) -> Option<RevisionOptions> {
        let base = base_revision(self.base.as_ref()?, self.merge_base);
        let head_references =
            if self.resolve_head_references { HeadReferences::Resolved } else { HeadReferences::Unresolved };
        let rendering = if self.render_all { Rendering::All } else { Rendering::Changed };
        let plugins_from = self.plugins_from.into();
        Some(RevisionOptions { base, plugins_from, head_references, rendering, follow: false })
    }
}

/// Returns the revision that `--base` and `--merge-base` name.
pub(super) fn base_revision(name: &str, merge_base: bool) -> BaseRevision {
    let point = if merge_base { BasePoint::MergeBase } else { BasePoint::Revision };
    BaseRevision { name: name.to_owned(), point }
}

/// The side whose plugins run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginsFrom {
    // Those of REV for both sides.
    Base,
    // Those of the working copy for both sides.
    Head,
    // Each side its own.
    Each,
}

impl From<PluginsFrom> for tiphys_service::compare::PluginsFrom {
    fn from(arg: PluginsFrom) -> Self {
        match arg {
            PluginsFrom::Base => Self::Base,
            PluginsFrom::Head => Self::Head,
            PluginsFrom::Each => Self::Each,
        }
    }
}
