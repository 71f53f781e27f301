//! Which repositories a project permits: the patterns of its `sourceRepos`, as Argo CD reads them.

mod meaning;

use tiphys_access::{ContextProject, normalize_git_url};

use crate::{Glob, GlobError, Slash};

/// What inverts a pattern.
const NEGATION: char = '!';

/// The pattern of everything, which no normalising changes.
const ALL: &str = "*";

/// Whether the project permits a repository as a source of its applications.
pub fn permits_source(project: &ContextProject, repo_url: &str) -> bool {
    source_permitted(&project.source_repos, &[repo_url], &normalize_git_url)
}

/// Whether a project with these `sourceRepos` permits a repository (Argo CD's `IsSourcePermitted`). `urls` are all ways to write that one
/// repository. `normalize` makes one address of all ways to write it that it knows, and is applied to both sides.
///
/// A pattern behind `!` forbids what it matches, whatever other patterns say, and permits everything else. It is enough that it
/// matches one of the forms: asked form by form, a repository would be permitted by the one of which the pattern does not know. Other
/// than in Argo CD it also forbids each address that only means the same: with another user, the usual port, or a letter as `%XX`, of a
/// registry with and without its scheme. An address with a host of which nobody but who connects knows what it means is forbidden
/// wherever a pattern forbids something.
/// A pattern that cannot be read matches nothing, but for one behind `!` that is only beyond our bounds: it forbids everything,
/// because Argo CD could have read it.
pub fn source_permitted(source_repos: &[String], urls: &[&str], normalize: &dyn Fn(&str) -> String) -> bool {
    let normalized: Vec<String> = urls.iter().map(|url| normalize(url)).collect();
    let meant: Option<Vec<String>> =
        urls.iter().map(|url| meaning::of_address(url)).collect::<Option<Vec<_>>>().map(|all| all.concat());
    let matched = |pattern: &str, urls: &[String]| {
        Glob::new(pattern, Slash::Separator).map(|glob| urls.iter().any(|url| glob.matches(url)))
    };
    let matches = |pattern: &str| matched(&normalize(pattern), &normalized);
    let means_forbidden = |pattern: &str| {
        let Some(meant) = &meant else { return true };
        meaning::of_pattern(pattern).iter().any(|pattern| forbids(&matched(pattern, meant)))
    };
    let mut is_permitted = false;
    for pattern in source_repos {
        match pattern.strip_prefix(NEGATION) {
            Some(forbidden) if forbids(&matches(forbidden)) || means_forbidden(forbidden) => return false,
            Some(_) => is_permitted = true,
            None => is_permitted |= pattern == ALL || matches(pattern) == Ok(true),
        }
    }
    is_permitted
}

/// Whether a pattern behind `!` forbids, by what came of matching it.
fn forbids(matched: &Result<bool, GlobError>) -> bool {
    match matched {
        Ok(matched) => *matched,
        Err(GlobError::Class { .. } | GlobError::Brace { .. }) => false,
        Err(GlobError::TooLong { .. } | GlobError::TooMany { .. }) => true,
    }
}

#[cfg(test)]
mod tests;
