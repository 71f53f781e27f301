//! Discovery rules. Only the first rule that is set has an effect.

use std::path::Path;

use tiphys_tree::glob::{self, FindCache, GlobError, Listing, Place};

use crate::config::{Command, PluginConfig};
use crate::error::PluginError;
use crate::quote::quote_command;

/// The path at which patterns see the tree. It is as deep below `/` as in Argo CD's server, so a pattern that leaves the tree and returns
/// matches the same paths.
const TREE_PATH: &str = "/tmp/_cmp_server/tree";

/// A discovery rule.
pub(crate) enum Rule<'a> {
    /// A pattern that must match a path.
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

/// Returns the first rule that is set: `fileName`, `find.glob`, `find.command`.
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

/// Returns the rule that is in effect as it is written in the plugin's file.
pub(crate) fn rule_text(config: &PluginConfig) -> Option<String> {
    Some(match rule(config)? {
        Rule::Pattern(Pattern::FileName(pattern)) => format!("fileName {pattern:?}"),
        Rule::Pattern(Pattern::Glob(pattern)) => format!("find.glob {pattern:?}"),
        Rule::Command(command) => {
            let words = [command.command.as_slice(), &command.args].concat();
            format!("find.command {}, which printed nothing,", quote_command(&words))
        }
    })
}

impl Pattern<'_> {
    /// Whether the pattern can only match names directly in its directory: it has neither `..`, `**` nor a path, not even by a variable.
    /// A class of a glob may match a slash: `[^x]`.
    pub(crate) fn matches_only_names(&self) -> bool {
        let (Self::FileName(text) | Self::Glob(text)) = self;
        let has_class = matches!(self, Self::Glob(_)) && text.contains('[');
        let text = text.strip_prefix("./").unwrap_or(text);
        !has_class && !text.contains(['/', '$', '~']) && !text.contains("..") && !text.contains("**")
    }

    /// Whether the pattern matches a path in a tree, on disk or in memory, relative to the application's directory, a path without links.
    /// Matches outside the tree do not count: in Argo CD `..` in a pattern can match the plugin server's own files. `stop` is called
    /// repeatedly; `true` ends the search with [`PluginError::Cancelled`].
    pub(crate) fn found(
        &self,
        tree: &dyn Listing,
        base: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
        compiled: &FindCache,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, PluginError> {
        let place = Place { tree, seen_at: Path::new(TREE_PATH), base };
        let (rule, text, found) = match self {
            Self::FileName(pattern) => ("filename", pattern, glob::has_file_name(&place, pattern, stop)),
            Self::Glob(pattern) => {
                ("glob", pattern, glob::has_found(&place, pattern, variable, compiled, stop))
            }
        };
        found.map_err(|source| match source {
            GlobError::Stopped => PluginError::Cancelled,
            source => PluginError::Pattern { rule, pattern: (*text).to_owned(), source },
        })
    }
}
