//! The book's pages: unlisted pages and broken links.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::html::{self, Page};
use crate::Failure;
use crate::tidy::markdown::links;
use crate::tidy::tree::{has_extension, normalise};

/// The list of the book's pages, below its sources.
const SUMMARY: &str = "SUMMARY.md";

/// mdbook's error page for servers. Its links start at the server's root, which a directory does not have.
const MISSING_PAGE: &str = "404.html";

/// Reports pages of `sources` that are not in the summary. mdbook ignores them silently.
pub(super) fn unlisted(sources: &Path) -> Result<Vec<String>, Failure> {
    let summary = sources.join(SUMMARY);
    let text = fs::read_to_string(&summary).map_err(|error| Failure::at(&summary, error))?;
    let listed: Vec<String> = links(&text).into_iter().filter_map(|link| normalise(&link.target)).collect();
    let mut pages = files(sources)?;
    pages.retain(|path| has_extension(path, "md") && path != SUMMARY && !listed.contains(path));
    let shown = |page| format!("{}: {page} is not in the book; add a line for it", summary.display());
    Ok(pages.into_iter().map(shown).collect())
}

/// Returns the pages of a built book by their paths in it.
pub(super) fn read(book: &Path) -> Result<BTreeMap<String, Page>, Failure> {
    let mut pages = BTreeMap::new();
    for path in files(book)?.into_iter().filter(|path| has_extension(path, "html") && path != MISSING_PAGE) {
        let full = book.join(&path);
        let text = fs::read_to_string(&full).map_err(|error| Failure::at(&full, error))?;
        pages.insert(path, html::read(&text));
    }
    Ok(pages)
}

/// Returns the problems of links, one line each.
pub(super) fn broken_links(book: &Path, pages: &BTreeMap<String, Page>) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, page) in pages {
        for target in &page.targets {
            if let Some(problem) = broken(book, pages, path, target) {
                problems.push(format!("{path}: links {target}, {problem}"));
            }
        }
    }
    problems.dedup();
    problems
}

fn broken(book: &Path, pages: &BTreeMap<String, Page>, from: &str, target: &str) -> Option<&'static str> {
    let scheme = target.split(['/', '#', '?']).next().unwrap_or_default();
    if scheme.contains(':') || target.starts_with("//") {
        return None;
    }
    if target.starts_with('/') {
        return Some("which only a server at the root of a host has");
    }
    let (place, anchor) = match target.split_once('#') {
        Some((place, anchor)) => (place, Some(anchor)),
        None => (target, None),
    };
    let file = place.split('?').next().unwrap_or_default();
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = if file.is_empty() { Some(from.to_owned()) } else { normalise(&format!("{folder}/{file}")) };
    let Some(path) = path else { return Some("which leads out of the book") };
    if !book.join(&path).is_file() {
        return Some("which is not in the book");
    }
    let anchor = anchor.filter(|anchor| !anchor.is_empty())?;
    let is_there = pages.get(&path).is_some_and(|page| page.anchors.contains(anchor));
    (!is_there).then_some("but there is no such heading")
}

/// Returns the sorted paths of all files below a directory, `/`-separated.
fn files(root: &Path) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let place = root.join(&folder);
        for entry in fs::read_dir(&place).map_err(|error| Failure::at(&place, error))? {
            let entry = entry.map_err(|error| Failure::at(&place, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if entry.path().is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}
