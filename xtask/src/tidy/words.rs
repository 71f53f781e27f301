//! Tracked files contain no paths and settings of a particular machine.

use super::{Check, Finding, Findings as _, Subject};
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

/// This check and its tests, which contain the words, and recorded answers of other programs.
const EXEMPT: &[&str] = &["xtask/src/tidy/words.rs", "xtask/testdata/tidy/words.txt", "testdata/oracles/"];

pub(super) const CHECK: Check = Check {
    name: "words",
    keeps: "no path of a machine, no host of a package registry and no foreign lock source in tracked files",
    run,
};

fn run(subject: &Subject) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for path in subject.tree.paths() {
        if EXEMPT.iter().any(|exempt| path.starts_with(exempt)) {
            continue;
        }
        let Some(text) = subject.tree.text(path)? else { continue };
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
        }
    }
    Ok(findings)
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
        if line[..at].ends_with(continues) {
            return false;
        }
        if !has_name {
            return true;
        }
        let rest = &line[at + start.len()..];
        let name: String =
            rest.chars().take_while(|&c| c.is_ascii_alphanumeric() || c == '_' || c == '-').collect();
        !name.is_empty() && rest[name.len()..].starts_with('/') && !IMAGE_USERS.contains(&name.as_str())
    })
}
