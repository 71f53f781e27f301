//! The namespaces in which Applications may use a project: globs, and regular expressions between slashes.

use crate::resources::AppProject;
use fancy_regex::Regex;
use tiphys_go::glob::{Glob, Slash};

use crate::project_rules::{RuleError, RuleProblem};

/// A pattern of namespaces.
#[derive(Clone, Debug)]
pub enum NamespacePattern {
    /// A name or a glob.
    Glob(Glob),
    /// An expression between slashes, which is not anchored, as in Argo CD.
    Regex(Regex),
}

/// Constructs that Argo CD's library (of the .NET dialect) rejects or reads differently from ours: what it means and what it would match
/// here are not the same.
const FOREIGN_CONSTRUCTS: [&str; 11] =
    ["(?P", "\\Q", "\\K", "\\h", "\\H", "\\R", "*+", "++", "?+", "}+", "{,"];

/// Constructs that mean a set operation within a class here, and characters or another operation there.
const FOREIGN_IN_CLASSES: [&str; 4] = ["[", "&&", "--", "~~"];

impl NamespacePattern {
    /// Compiles the patterns of a project.
    pub(crate) fn of(project: &AppProject) -> Result<Vec<Self>, RuleError> {
        let compile = |(index, pattern): (usize, &String)| {
            Self::new(pattern).map_err(|problem| RuleError {
                project: project.metadata.name.clone(),
                field: format!("spec.sourceNamespaces[{index}]"),
                problem,
            })
        };
        project.spec.source_namespaces.iter().enumerate().map(compile).collect()
    }

    /// Compiles a pattern. As in Argo CD, `//` is a glob.
    pub fn new(pattern: &str) -> Result<Self, RuleProblem> {
        let between_slashes = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let Some(regex) = between_slashes.filter(|regex| !regex.is_empty()) else {
            return Ok(Self::Glob(Glob::new(pattern, Slash::Ordinary)?));
        };
        let failed = |message: String| RuleProblem::Regex { pattern: pattern.to_owned(), message };
        if let Some(construct) = foreign_construct(regex) {
            return Err(failed(format!("Argo CD does not support {construct:?}")));
        }
        Regex::new(regex).map(Self::Regex).map_err(|error| failed(error.to_string()))
    }

    /// Whether the pattern matches a namespace. An expression that exceeds its limit of steps does not match.
    pub fn matches(&self, namespace: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.matches(namespace),
            Self::Regex(regex) => regex.is_match(namespace).unwrap_or_default(),
        }
    }
}

/// Returns the first construct that Argo CD would read differently.
fn foreign_construct(regex: &str) -> Option<&'static str> {
    let mut is_in_class = false;
    let mut rest = regex;
    while let Some(first) = rest.chars().next() {
        let constructs: &[&'static str] = if is_in_class { &FOREIGN_IN_CLASSES } else { &FOREIGN_CONSTRUCTS };
        if let Some(construct) = constructs.iter().find(|construct| rest.starts_with(**construct)) {
            return Some(construct);
        }
        let length = match first {
            // The brace of a property, as in `\p{L}+`, is not one of a repetition.
            '\\' if rest.starts_with("\\p{") || rest.starts_with("\\P{") => {
                rest.find('}').map_or(2, |end| end + 1)
            }
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '[' => {
                is_in_class = true;
                // A bracket at the beginning is a character of the class.
                let begin = if rest.starts_with("[^") { 2 } else { 1 };
                begin + usize::from(rest[begin..].starts_with(']'))
            }
            ']' => {
                is_in_class = false;
                1
            }
            other => other.len_utf8(),
        };
        rest = &rest[length..];
    }
    None
}

#[cfg(test)]
mod tests;
