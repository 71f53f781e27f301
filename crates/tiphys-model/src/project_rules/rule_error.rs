//! Errors of a project's rules.

use tiphys_go::glob::{GlobError, MalformedPattern};

use crate::project_rules::destinations::NEGATION;

/// A rule of a project that cannot be evaluated. The project permits nothing then: an invalid pattern in a blacklist would otherwise deny
/// nothing, and after `!` permit everything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("project '{project}': {field}: {problem}")]
pub struct RuleError {
    /// The project that has the rule: the Application's or a global one.
    pub project: String,
    /// The field, such as `spec.destinations[0].namespace`.
    pub field: String,
    /// The problem.
    pub problem: RuleProblem,
}

/// A problem of a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// The value is not a glob pattern.
    #[error(transparent)]
    Glob(#[from] GlobError),
    /// The value is not a pattern of `path.Match`.
    #[error("pattern {pattern:?}: {problem}")]
    Name {
        /// The pattern.
        pattern: String,
        /// The problem.
        problem: MalformedPattern,
    },
    /// The pattern of a repository that Argo CD rejects as a URL, so that it compares the pattern as an empty string.
    #[error(
        "pattern {pattern:?} {}: Argo CD rejects it as a URL; write an entry for each scheme, host and port",
        without_match(.pattern)
    )]
    NoUrl {
        /// The pattern.
        pattern: String,
    },
    /// The pattern of a repository whose wildcards Argo CD percent-encodes.
    #[error(
        "pattern {pattern:?} {}: Argo CD compares it as {normalized:?}; write a space as %20, and an entry for each alternative",
        without_match(.pattern)
    )]
    EncodedWildcard {
        /// The pattern.
        pattern: String,
        /// The pattern as it is compared.
        normalized: String,
    },
    /// The pattern denies everything.
    #[error("pattern \"!*\" denies everything; remove the entry")]
    DeniesAll,
    /// A read-only entry without a namespace.
    #[error("a namespace is required; for all namespaces write \"*\"")]
    MissingNamespace,
    /// A read-only entry that denies.
    #[error("pattern {pattern:?}: a read-only list permits only; remove the `!`")]
    ReadOnlyDenial {
        /// The pattern.
        pattern: String,
    },
    /// The value between slashes is not a regular expression.
    #[error("regular expression {pattern:?}: {message}")]
    Regex {
        /// The expression with its slashes.
        pattern: String,
        /// The problem.
        message: String,
    },
}

/// Returns the effect of a pattern that matches no repository.
fn without_match(pattern: &str) -> &'static str {
    if pattern.starts_with(NEGATION) {
        "matches no repository, so it denies nothing and permits everything else"
    } else {
        "matches no repository"
    }
}
