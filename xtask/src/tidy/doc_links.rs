//! Relative links, their headings, and paths in backticks exist.

use super::markdown::{anchors, code_words, links, prose};
use super::tree::{is_test_data, normalise};
use super::{Check, Finding, Findings as _, Subject};
use crate::Failure;

/// Prefixes of paths from the workspace's root. A word in backticks with such a prefix is a path.
const ROOT_FOLDERS: &[&str] = &["crates/", "xtask/", "docs/", "plugins/", "examples/", "testdata/", "fuzz/"];

pub(super) const CHECK: Check =
    Check { name: "doc-links", keeps: "links, their headings and paths in documents exist", run };

fn run(subject: &Subject) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for path in subject.tree.with_extension("md").filter(|path| !is_test_data(path)) {
        let Some(text) = subject.tree.text(path)? else { continue };
        for link in links(&text) {
            if let Some(problem) = broken(subject, path, &text, &link.target)? {
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
    Ok(findings)
}

/// Returns the problem of a link.
fn broken(subject: &Subject, document: &str, text: &str, target: &str) -> Result<Option<String>, Failure> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(None);
    }
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (target, None),
    };
    let dir = document.rsplit_once('/').map_or("", |(dir, _)| dir);
    let Some(path) = normalise(&format!("{dir}/{file}")) else {
        return Ok(Some(format!("links {target}, which leads out of the checkout")));
    };
    if !file.is_empty() && !subject.tree.has(&path) {
        return Ok(Some(format!("links {target}, which does not exist")));
    }
    let Some(anchor) = anchor else { return Ok(None) };
    let linked = if file.is_empty() { Some(text.to_owned()) } else { subject.tree.text(&path)? };
    let has_heading = linked.is_some_and(|linked| anchors(&linked).contains(anchor));
    Ok((!has_heading).then(|| format!("links {target}, but there is no such heading")))
}

/// Whether a word in backticks is a path from the root, and not a pattern or placeholder.
fn is_path(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    ROOT_FOLDERS.iter().any(|folder| word.starts_with(folder)) && word.chars().all(is_plain)
}
