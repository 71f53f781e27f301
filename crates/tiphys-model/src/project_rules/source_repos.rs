//! The repositories that a project permits: the patterns of its `sourceRepos`, as in Argo CD.

use crate::access::{ContextProject, canonical_addresses, canonical_patterns, normalize_git_url};
use crate::resources::AppProject;
use tiphys_go::glob::{Glob, GlobError, Slash};

use crate::project_rules::destinations::NEGATION;
use crate::project_rules::{RuleError, RuleProblem};

/// The pattern that matches every URL. It is compared before normalization.
const ALL: &str = "*";

/// `*`, `[`, `]`, `{`, `}` and `\` as Go encodes them. What a pattern encodes itself is in lower case.
const ENCODED_WILDCARDS: [&str; 6] = ["%2A", "%5B", "%5D", "%7B", "%7D", "%5C"];

/// Whether the project permits a repository as a source of its applications.
pub fn permits_source(project: &ContextProject, repo_url: &str) -> bool {
    source_permitted(&project.source_repos, &[repo_url], &normalize_git_url)
}

/// Whether a project with these `sourceRepos` permits a repository (Argo CD's `IsSourcePermitted`). `urls` are different spellings of the
/// repository's URL. `normalize` maps equivalent URLs to one form; it is applied to URLs and patterns.
///
/// A pattern after `!` denies what it matches, regardless of other patterns, and permits everything else. It denies the repository if it
/// matches any of `urls`: checked one by one, a spelling that the pattern does not match would be permitted. Unlike Argo CD, it also denies
/// equivalent URLs: with another user, the default port, percent-encoding, or with and without `oci://`. A project that denies anything
/// also denies hosts that clients may resolve differently, such as non-ASCII names. An invalid pattern matches nothing. But a `!` pattern
/// that exceeds a limit of [`Glob`] denies everything, because Argo CD could evaluate it.
pub fn source_permitted(source_repos: &[String], urls: &[&str], normalize: &dyn Fn(&str) -> String) -> bool {
    let normalized: Vec<String> = urls.iter().map(|url| normalize(url)).collect();
    let canonical_urls: Option<Vec<String>> =
        urls.iter().map(|url| canonical_addresses(url)).collect::<Option<Vec<_>>>().map(|all| all.concat());
    let matched = |pattern: &str, urls: &[String]| {
        Glob::new(pattern, Slash::Separator).map(|glob| urls.iter().any(|url| glob.matches(url)))
    };
    let matches = |pattern: &str| matched(&normalize(pattern), &normalized);
    let denies_equivalent = |pattern: &str| {
        let Some(canonical_urls) = &canonical_urls else { return true };
        canonical_patterns(pattern).iter().any(|pattern| denies(&matched(pattern, canonical_urls)))
    };
    let mut is_permitted = false;
    for pattern in source_repos {
        match pattern.strip_prefix(NEGATION) {
            Some(denied) if denies(&matches(denied)) || denies_equivalent(denied) => return false,
            Some(_) => is_permitted = true,
            None => is_permitted |= pattern == ALL || matches(pattern) == Ok(true),
        }
    }
    is_permitted
}

/// Returns the patterns of `sourceRepos` that match no repository in Argo CD, because it normalizes them as URLs: it percent-encodes a
/// whole path if one of its characters is not permitted in a path, and the wildcards with it. A pattern after `!` denies nothing then, and
/// permits everything else.
pub fn unmatched_source_repos(project: &AppProject) -> Vec<RuleError> {
    let problem = |pattern: &String| {
        let normalized = normalize_git_url(pattern.strip_prefix(NEGATION).unwrap_or(pattern));
        let pattern = pattern.clone();
        if normalized.is_empty() {
            return Some(RuleProblem::NoUrl { pattern });
        }
        let is_encoded = ENCODED_WILDCARDS.iter().any(|encoded| normalized.contains(encoded));
        is_encoded.then_some(RuleProblem::EncodedWildcard { pattern, normalized })
    };
    let error = |(index, pattern): (usize, &String)| {
        let project = project.metadata.name.clone();
        Some(RuleError { project, field: format!("spec.sourceRepos[{index}]"), problem: problem(pattern)? })
    };
    project.spec.source_repos.iter().enumerate().filter_map(error).collect()
}

/// Whether a pattern after `!` denies a URL, given the result of matching.
fn denies(matched: &Result<bool, GlobError>) -> bool {
    match matched {
        Ok(matched) => *matched,
        Err(GlobError::Class { .. } | GlobError::Brace { .. } | GlobError::Escape { .. }) => false,
        Err(GlobError::TooLong { .. } | GlobError::TooMany { .. }) => true,
    }
}

#[cfg(test)]
mod tests;
