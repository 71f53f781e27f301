//! Discovery: exactly one rule of a plugin's file is looked at, the first that is set (`spec/cmp.md` 3.1).

use std::path::Path;

use tiphys_tree::glob::{self, GlobError, Listing, Place};

use crate::config::{Command, PluginConfig};
use crate::plugin::PluginError;

/// Where patterns see the tree: as deep below `/` as Argo CD's server has it (`spec/cmp.md` 7.1), so that a pattern which climbs out of
/// the tree and comes back finds the same, wherever the tree really is.
const SEEN_AT: &str = "/tmp/_cmp_server/tree";

/// The rule that decides.
pub(crate) enum Rule<'a> {
    /// A pattern that must hit something.
    Pattern(Pattern<'a>),
    /// A command that must print something.
    Command(&'a Command),
}

/// `discover.fileName` or `discover.find.glob`.
pub(crate) enum Pattern<'a> {
    /// Go's `filepath.Glob`.
    FileName(&'a str),
    /// zglob.
    Glob(&'a str),
}

/// The first rule that is set: `fileName`, `find.glob`, `find.command`.
pub(crate) fn rule(config: &PluginConfig) -> Option<Rule<'_>> {
    let discover = &config.discover;
    if !discover.file_name.is_empty() {
        return Some(Rule::Pattern(Pattern::FileName(&discover.file_name)));
    }
    if !discover.find_glob.is_empty() {
        return Some(Rule::Pattern(Pattern::Glob(&discover.find_glob)));
    }
    discover.find_command.as_ref().map(Rule::Command)
}

impl Pattern<'_> {
    /// Whether the pattern hits nothing outside of the folder that it is looked up in: it neither climbs nor names an absolute path,
    /// also not by a variable.
    pub(crate) fn stays_in_folder(&self) -> bool {
        let (Self::FileName(text) | Self::Glob(text)) = self;
        !text.contains("..")
            && !text.contains(['$', '~'])
            && !text.contains("{/")
            && !text.contains(",/")
            && !text.starts_with('/')
    }

    /// Whether the pattern hits anything in a tree, on disk or in memory, seen from the application's folder, a path without links.
    /// Hits outside the tree do not count: Argo CD lets `..` in a pattern look around in the plugin server's own files. `stop` is asked
    /// while it looks; `true` ends it with [`PluginError::Cancelled`].
    pub(crate) fn found(
        &self,
        tree: &dyn Listing,
        base: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, PluginError> {
        let place = Place { tree, seen_at: Path::new(SEEN_AT), base };
        let (rule, text, found) = match self {
            Self::FileName(pattern) => ("filename", pattern, glob::has_file_name(&place, pattern, stop)),
            Self::Glob(pattern) => ("glob", pattern, glob::has_found(&place, pattern, variable, stop)),
        };
        found.map_err(|source| match source {
            GlobError::Stopped => PluginError::Cancelled,
            source => PluginError::Pattern { rule, pattern: (*text).to_owned(), source },
        })
    }
}
