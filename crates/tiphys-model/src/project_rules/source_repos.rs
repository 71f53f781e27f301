//! The repositories that a project permits: the patterns of its `sourceRepos`, as in Argo CD.

use crate::access::{ContextProject, canonical_addresses, canonical_patterns, normalize_git_url};
use tiphys_go::glob::{Glob, GlobError, Slash};

/// Prefix of a pattern that denies.
const NEGATION: char = '!';

/// The pattern that matches every URL. It is compared before normalization.
const ALL: &str = "*";

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
