//! What a project permits, as far as it is enforced: the repositories that plugins are told of.

use crate::{Glob, Slash};

/// What inverts a pattern.
const NEGATION: char = '!';

/// Whether a project with these `sourceRepos` permits a repository (Argo CD's `IsSourcePermitted`). `normalize` makes one address of all
/// ways to write it, and is applied to both sides.
///
/// A pattern behind `!` forbids what it matches, whatever other patterns say, and permits everything else. A pattern that cannot be read
/// matches nothing.
pub fn source_permitted(source_repos: &[String], url: &str, normalize: &dyn Fn(&str) -> String) -> bool {
    let url = normalize(url);
    let mut is_permitted = false;
    for pattern in source_repos {
        match pattern.strip_prefix(NEGATION) {
            Some(forbidden) if matches(&normalize(forbidden), &url) => return false,
            Some(_) => is_permitted = true,
            None => is_permitted |= pattern == "*" || matches(&normalize(pattern), &url),
        }
    }
    is_permitted
}

fn matches(pattern: &str, url: &str) -> bool {
    Glob::new(pattern, Slash::Separator).is_ok_and(|glob| glob.matches(url))
}
