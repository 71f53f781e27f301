//! Relative links, their headings, and paths in backticks exist. The book has every page of `docs`, and its pages link none outside of it.

use super::markdown::{anchors, code_words, links, prose};
use super::tree::{is_test_data, normalise};
use super::{Check, Findings, Subject};
use crate::Failure;

/// Prefixes of paths from the workspace's root. A word in backticks with such a prefix is a path.
const ROOT_FOLDERS: &[&str] =
    &["bench/", "crates/", "xtask/", "docs/", "plugins/", "examples/", "testdata/", "fuzz/"];

/// Directory of the book's pages, and the list of them. mdbook ignores other pages silently.
const BOOK: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";

/// Pages among the test data.
const RULES: &str = "testdata/rules/";

pub(super) const CHECK: Check = Check {
    name: "doc-links",
    keeps: "links, their headings and paths in documents exist; the book has every page of docs and links none outside of it",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let summary = subject.tree.text(SUMMARY)?;
    let listed = summary
        .map(|text| links(&text).into_iter().map(|link| target(SUMMARY, &link.target)).collect::<Vec<_>>());
    for path in
        subject.tree.with_extension("md").filter(|path| !is_test_data(path) || path.starts_with(RULES))
    {
        let Some(text) = subject.tree.text(path)? else { continue };
        let is_listed = |listed: &Vec<_>| path == SUMMARY || listed.contains(&Some(path.to_owned()));
        if path.starts_with(BOOK) && !listed.as_ref().is_none_or(is_listed) {
            findings.add(path, "is not in the book", format!("add a line for it to {SUMMARY}"));
        }
        for link in links(&text) {
            if let Some(problem) = broken(subject, path, &link.target)? {
                findings.add(format!("{path}:{}", link.line), problem, "correct the link");
            }
        }
        for (line, words) in prose(&text).map(|(line, text)| (line, code_words(text))) {
            for word in words.into_iter().filter(|word| is_path(word)) {
                if !subject.tree.has(word.trim_end_matches('/')) {
                    let problem = format!("names {word}, which does not exist");
                    findings.add(format!("{path}:{line}"), problem, "correct the path");
                }
            }
        }
    }
    Ok(())
}

/// Returns the problem of a link.
fn broken(subject: &Subject, document: &str, link: &str) -> Result<Option<String>, Failure> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(None);
    }
    let Some(path) = target(document, link) else {
        return Ok(Some(format!("links {link}, which leads out of the checkout")));
    };
    if !subject.tree.has(&path) {
        return Ok(Some(format!("links {link}, which does not exist")));
    }
    if document.starts_with(BOOK) && !path.starts_with(BOOK) {
        return Ok(Some(format!("links {link}, which is not in the book")));
    }
    let Some((_, anchor)) = link.split_once('#') else { return Ok(None) };
    let has_heading = subject.tree.text(&path)?.is_some_and(|text| anchors(&text).contains(anchor));
    Ok((!has_heading).then(|| format!("links {link}, but there is no such heading")))
}

/// Returns the path of a link's file; `None` if it leads out of the checkout.
fn target(document: &str, link: &str) -> Option<String> {
    let file = link.split('#').next().unwrap_or_default();
    let directory = document.rsplit_once('/').map_or("", |(directory, _)| directory);
    if file.is_empty() { Some(document.to_owned()) } else { normalise(&format!("{directory}/{file}")) }
}

/// Whether a word in backticks is a path from the root, and not a pattern or placeholder.
fn is_path(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    ROOT_FOLDERS.iter().any(|folder| word.starts_with(folder)) && word.chars().all(is_plain)
}
