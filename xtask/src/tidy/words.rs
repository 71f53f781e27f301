//! Tracked files contain no paths and settings of a particular machine. Comments, messages and pages use plain words (CONTRIBUTING.md,
//! "Language"), and cite only documents of this repository.

use super::tree::has_extension;
use super::{Check, Findings, Subject};
use crate::Failure;

/// Home and build directories. `<name>` stands for one component of a path.
const MACHINE_PATHS: &[&str] = &["/home/<name>/", "/Users/<name>/", "/root/", "/var/jenkins/", "/__w/"];

/// Names after `/home/` in Argo CD's container images.
const IMAGE_USERS: &[&str] = &["argocd"];

/// Hosts of package registries and their caches, which depend on the configuration of each machine.
const REGISTRY_HOSTS: &[&str] = &[
    "index.crates.io",
    "static.crates.io",
    "proxy.golang.org",
    "sum.golang.org",
    "registry.npmjs.org",
    "files.pythonhosted.org",
];

/// The permitted source of crates in the lock file.
const LOCK_SOURCE: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

/// Unwanted words and phrases of sources and pages in lower case, and documents that are not in this repository.
const WORDS: &[&str] = &[
    "nobody",
    "somebody",
    "whoever",
    "everybody",
    "told apart",
    "by chance",
    "truth value",
    "is told",
    "are told",
    "be told",
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

/// Verbs that `no` and a noun must not follow, except after `there`.
const VERBS: &[&str] = &["is", "are", "was", "were"];

/// Words after `no` with which a verb is not the negation of a noun.
const ADVERBS: &[&str] = &["longer", "more"];

/// The page that lists the words, and the log of past changes.
const EXEMPT_FROM_WORDS: &[&str] = &["CONTRIBUTING.md", "CHANGELOG.md"];

/// This check and its tests, which contain the words, and recorded answers of other programs.
const EXEMPT: &[&str] = &["xtask/src/tidy/words.rs", "xtask/testdata/tidy/words.txt", "testdata/oracles/"];

pub(super) const CHECK: Check = Check {
    name: "words",
    keeps: "tracked files name no machine, registry host or foreign lock source; sources and pages use the words of CONTRIBUTING.md",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    for path in subject.tree.paths() {
        if EXEMPT.iter().any(|exempt| path.starts_with(exempt)) {
            continue;
        }
        let Some(text) = subject.tree.text(path)? else { continue };
        let is_page = has_extension(path, "md");
        let is_source = has_extension(path, "rs");
        let has_words = (is_page || is_source) && !EXEMPT_FROM_WORDS.contains(&path);
        let mut is_code = false;
        let mut is_in_comment = false;
        for (index, line) in text.lines().enumerate() {
            let place = || format!("{path}:{}", index + 1);
            if let Some(pattern) = MACHINE_PATHS.iter().find(|pattern| has_path(line, pattern)) {
                let remedy = "use a relative path, or a made-up one";
                findings.add(place(), format!("names a path of a machine ({pattern})"), remedy);
            }
            if let Some(host) = REGISTRY_HOSTS.iter().find(|host| line.contains(*host)) {
                let remedy = "leave it to the configuration of each machine";
                findings.add(place(), format!("names the registry host {host}"), remedy);
            }
            if path.ends_with("Cargo.lock") && line.starts_with("source = ") && line != LOCK_SOURCE {
                let remedy = "use a released version from the public registry";
                findings.add(place(), format!("locks a crate to another source: {line}"), remedy);
            }
            is_code ^= is_page && line.trim_start().starts_with("```");
            let line = line.to_lowercase();
            for word in WORDS.iter().filter(|word| has_words && !is_code && has_word(&line, word)) {
                let remedy = "name the actor, or use the word of the table in CONTRIBUTING.md";
                findings.add(place(), format!("contains {word:?}"), remedy);
            }
            if let Some(phrase) = negated_noun(&line).filter(|_| has_words && !is_code) {
                let remedy = "write \"is not a …\", or a positive statement such as \"must be a …\"";
                findings.add(place(), format!("contains {phrase:?}"), remedy);
            }
            let is_comment = is_source && line.trim_start().starts_with("//");
            if is_comment && !is_in_comment && begins_with_what(&line) {
                findings.add(place(), "begins a comment with \"what\"", "begin with a noun phrase or a verb");
            }
            is_in_comment = is_comment;
        }
    }
    Ok(())
}

/// Whether a character is part of an identifier or a compound word.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Whether the first word of a comment is `what`. The line is in lower case.
fn begins_with_what(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches(['/', '!']).trim_start();
    text.strip_prefix("what").is_some_and(|rest| !rest.starts_with(is_part))
}

/// Returns the first phrase such as `is no file` of a line in lower case. `there is no file` and `is no longer` are permitted.
fn negated_noun(line: &str) -> Option<String> {
    let last_word = |part: &str| part.rsplit(|c| !is_part(c)).next().unwrap_or_default().to_owned();
    let parts: Vec<&str> = line.split_whitespace().collect();
    parts.windows(3).enumerate().find_map(|(at, window)| {
        let &[verb, "no", noun] = window else { return None };
        let verb = last_word(verb);
        let noun = noun.split(|c| !is_part(c)).find(|word| !word.is_empty())?;
        let has_subject_there = at > 0 && last_word(parts[at - 1]) == "there";
        let is_negated = VERBS.contains(&verb.as_str()) && !ADVERBS.contains(&noun) && !has_subject_there;
        is_negated.then(|| format!("{verb} no {noun}"))
    })
}

/// Whether a line contains a word or phrase that is not part of an identifier.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
}

/// Whether a line contains this absolute path, not as a part of a longer one.
fn has_path(line: &str, pattern: &str) -> bool {
    let (start, has_name) = match pattern.split_once("<name>/") {
        Some((start, _)) => (start, true),
        None => (pattern, false),
    };
    line.match_indices(start).any(|(at, _)| {
        let continues =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '>' | '*' | ')');
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name = line[at + start.len()..].split_once('/').map_or("", |(name, _)| name);
        let is_person = !name.is_empty() && name.chars().all(is_name) && !IMAGE_USERS.contains(&name);
        !line[..at].ends_with(continues) && (!has_name || is_person)
    })
}
