//! Comments, messages and pages use plain words (CONTRIBUTING.md, "Language").

#[cfg(test)]
mod tests;

use super::tree::has_extension;
use super::{Check, Finding, Subject};
use crate::Failure;

/// Unwanted words and phrases in lower case.
const WORDS: &[&str] =
    &["nobody", "somebody", "whoever", "everybody", "told apart", "by chance", "truth value"];

/// Documents that are not in this repository.
const CITATIONS: &[&str] = &[
    "design.md",
    "spec/applicationset.md",
    "spec/baseline.md",
    "spec/cmp.md",
    "spec/codebase-models.md",
    "spec/dynamic-params.md",
    "spec/helm-parity.md",
    "spec/kube-apiserver.md",
    "spec/performance.md",
    "spec/repo-server.md",
    "spec/ux.md",
];

/// The page that lists the words, and the log of past changes.
const EXEMPT: &[&str] = &["CONTRIBUTING.md", "CHANGELOG.md", "xtask/src/tidy/language"];

pub(super) const CHECK: Check = Check {
    name: "language",
    keeps: "sources and pages use the words of CONTRIBUTING.md and cite no document that is not here",
    run,
};

fn run(subject: &Subject) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for path in subject.tree.with_extension("rs").chain(subject.tree.with_extension("md")) {
        if EXEMPT.iter().any(|exempt| path.starts_with(exempt)) {
            continue;
        }
        let Some(text) = subject.tree.text(path)? else { continue };
        let found = offending(&text, has_extension(path, "md"));
        findings.extend(found.into_iter().map(|(line, word)| {
            let remedy = "name the actor, or use the word of the table in CONTRIBUTING.md";
            Finding::new(format!("{path}:{line}"), format!("contains {word:?}"), remedy)
        }));
    }
    Ok(findings)
}

/// Returns the lines with unwanted words, and the words. Code blocks of pages are skipped.
fn offending(text: &str, is_page: bool) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (index, line) in text.lines().enumerate() {
        is_code ^= is_page && line.trim_start().starts_with("```");
        if is_code {
            continue;
        }
        let line = line.to_lowercase();
        let words = WORDS.iter().chain(CITATIONS).filter(|word| has_word(&line, word));
        found.extend(words.map(|word| (index + 1, *word)));
    }
    found
}

/// Whether a line contains a word or phrase that is not part of an identifier.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}
