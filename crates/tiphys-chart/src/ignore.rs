//! `.helmignore`: which files of a chart's directory Helm does not load.
//!
//! The rules resemble those of `.gitignore`, but the first decision is final. A rule that begins with `!` ignores everything that it does
//! *not* match. `**` is an error. Helm adds one rule: `templates/.?*`.

use tiphys_go::glob::{MalformedPattern, go_match};
use tiphys_go::path::base;

use crate::load::without_bom;

/// The file with the rules.
pub(crate) const FILE: &str = ".helmignore";

/// The last rule of every chart.
const DEFAULT: &[u8] = b"templates/.?*";

/// The rules of a chart, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IgnoreRules(Vec<Rule>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    pattern: Vec<u8>,
    operand: Operand,
    is_negated: bool,
    is_for_directories: bool,
}

/// The string that a pattern must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    /// The path in the chart: the pattern has a slash.
    Path,
    /// The last element of the path.
    Name,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
}

/// Invalid rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IgnoreError {
    /// A rule contains `**`.
    #[error("double-star (**) syntax is not supported")]
    DoubleStar,
    /// A pattern is malformed.
    #[error(transparent)]
    Pattern(#[from] MalformedPattern),
    /// There are more rules than [`crate::LoadLimits::ignore_rules`].
    #[error(".helmignore has more than {max} rules; remove some")]
    TooMany {
        /// The maximum number.
        max: usize,
    },
}

impl IgnoreRules {
    /// Returns the rules of a chart without `.helmignore`.
    pub(crate) fn default_only() -> Self {
        Self(Rule::parse(DEFAULT).ok().flatten().into_iter().collect())
    }

    /// Parses `.helmignore`.
    pub(crate) fn parse(text: &[u8], rules_max: usize) -> Result<Self, IgnoreError> {
        let mut rules = Vec::new();
        for line in without_bom(text).split(|byte| *byte == b'\n').chain([DEFAULT]) {
            if rules.len() > rules_max {
                return Err(IgnoreError::TooMany { max: rules_max });
            }
            rules.extend(Rule::parse(line)?);
        }
        Ok(Self(rules))
    }

    /// Whether a file is ignored: by its own path, or with one of its directories.
    pub(crate) fn ignores(&self, path: &str) -> bool {
        let mut directories = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
        directories.any(|directory| self.matches(directory.as_bytes(), Kind::Directory))
            || self.matches(path.as_bytes(), Kind::File)
    }

    fn matches(&self, path: &[u8], kind: Kind) -> bool {
        self.0.iter().any(|rule| rule.ignores(path, kind))
    }
}

impl Rule {
    /// Parses a line; `None` for an empty line or a comment.
    fn parse(line: &[u8]) -> Result<Option<Self>, IgnoreError> {
        let line = str::from_utf8(line).map_or_else(|_| line.trim_ascii(), |line| line.trim().as_bytes());
        if line.is_empty() || line.starts_with(b"#") {
            return Ok(None);
        }
        if line.windows(2).any(|pair| pair == b"**") {
            return Err(IgnoreError::DoubleStar);
        }
        // As in Helm, with a name that makes Go read most malformed patterns to their end.
        go_match(line, b"abc")?;
        let (is_negated, line) = line.strip_prefix(b"!").map_or((false, line), |rest| (true, rest));
        let (is_for_directories, line) = line.strip_suffix(b"/").map_or((false, line), |rest| (true, rest));
        let operand = if line.contains(&b'/') { Operand::Path } else { Operand::Name };
        let pattern = line.strip_prefix(b"/").unwrap_or(line).to_vec();
        Ok(Some(Self { pattern, operand, is_negated, is_for_directories }))
    }

    fn ignores(&self, path: &[u8], kind: Kind) -> bool {
        let is_candidate = !self.is_for_directories || kind == Kind::Directory;
        (is_candidate && self.matches(path)) != self.is_negated
    }

    /// Whether the pattern matches; a malformed one does not.
    fn matches(&self, path: &[u8]) -> bool {
        let matched = match self.operand {
            Operand::Path => go_match(&self.pattern, path),
            Operand::Name => go_match(&self.pattern, &base(path)),
        };
        matched == Ok(true)
    }
}

#[cfg(test)]
mod tests;
