//! go-zglob's `Glob`: one walk below the static part of the pattern, in which each path is matched by one regular expression.

use std::borrow::Cow;
use std::io;
use std::sync::{Mutex, PoisonError};

use regex::bytes::Regex;
use tiphys_go::glob::chars;
use tiphys_go::gotemplate::compile_regex;

use super::mask::Mask;
use super::search::Search;
use super::{GlobError, Place};
use crate::entries::{EntryKind, Final};

/// The last compiled expression. A plugin has one pattern, whose expression is the same in most directories.
#[derive(Debug, Default)]
pub struct FindCache(Mutex<Option<(String, Regex)>>);

impl FindCache {
    fn regex(&self, text: String) -> Result<Regex, GlobError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, regex)) = last.as_ref().filter(|(known, _)| *known == text) {
            return Ok(regex.clone());
        }
        let regex = compile_regex(&text).map_err(|reason| GlobError::Regexp { reason })?;
        *last = Some((text, regex.clone()));
        Ok(regex)
    }
}

/// Passes on the paths that match a clean absolute pattern, in no order. An unreadable directory is an error, even after a match.
pub(super) fn glob(
    place: &Place<'_>,
    pattern: &[u8],
    variable: &dyn Fn(&str) -> Option<String>,
    compiled: &FindCache,
    search: &Search<'_>,
) -> Result<Vec<Vec<u8>>, GlobError> {
    match Mask::new(pattern, variable) {
        Mask::Literal => match place.kind(pattern, Final::Follow) {
            Ok(_) => Ok(vec![pattern.to_vec()]),
            // For any error go-zglob reports that it does not exist.
            Err(_) => Err(GlobError::Missing { path: place.shown(pattern) }),
        },
        Mask::Search { root, prefix, literal, regexp } => {
            let matcher = Matcher { literal, rest: compiled.regex(regexp)? };
            walk(place, &root, &prefix, &matcher, search)
        }
    }
}

/// Walks without following links, except the root. Types are those of the directory listing.
fn walk(
    place: &Place<'_>,
    root: &[u8],
    prefix: &[u8],
    matcher: &Matcher,
    search: &Search<'_>,
) -> Result<Vec<Vec<u8>>, GlobError> {
    let mut hits = Vec::new();
    let kind = place.kind(root, Final::Follow).map_err(|error| failed(place, root, error))?;
    if kind != EntryKind::Directory {
        if matcher.matches(root) {
            hits.push(root.to_vec());
        }
        return Ok(hits);
    }
    let mut todo = vec![root.to_vec()];
    while let Some(directory) = todo.pop() {
        search.directory()?;
        let mut path = directory.clone();
        let mut outcome = Ok(());
        let listed = place.list(&directory, &mut |name, kind| {
            if outcome.is_ok() {
                outcome = search.name();
            }
            if outcome.is_err() {
                return;
            }
            path.truncate(directory.len());
            // The file system's root already ends in a slash. go-zglob does not check that, and nothing matches there.
            path.push(b'/');
            path.extend_from_slice(name);
            let hit = matcher.matches(&path);
            if hit {
                hits.push(path.clone());
            }
            let deeper = hit || path.len() >= prefix.len() || leads_to(&path, prefix);
            if kind == EntryKind::Directory && deeper {
                todo.push(path.clone());
            }
        });
        outcome?;
        listed.map_err(|error| failed(place, &directory, error))?;
    }
    Ok(hits)
}

/// Whether a directory is a parent of the static part of the pattern.
fn leads_to(directory: &[u8], prefix: &[u8]) -> bool {
    prefix.strip_prefix(directory).is_some_and(|rest| rest.starts_with(b"/"))
}

/// The condition for paths.
struct Matcher {
    literal: String,
    rest: Regex,
}

impl Matcher {
    fn matches(&self, path: &[u8]) -> bool {
        let text = match std::str::from_utf8(path) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(chars(path).collect()),
        };
        text.strip_prefix(&self.literal).is_some_and(|rest| self.rest.is_match(rest.as_bytes()))
    }
}

fn failed(place: &Place<'_>, path: &[u8], source: io::Error) -> GlobError {
    let path = place.shown(path);
    if source.kind() == io::ErrorKind::NotFound {
        GlobError::Missing { path }
    } else {
        GlobError::Io { path, source }
    }
}
