//! Crates inherit the settings of the workspace. Versions are in the root manifest only, each with its reason.

use super::manifest::{Entry, dependency_name, entries, lists_dependencies};
use super::tree::is_test_data;
use super::{Check, Findings, Subject};
use crate::Failure;

/// Inherited keys of a crate's `[package]`.
const INHERITED: [&str; 5] = ["version", "edition", "rust-version", "license", "publish"];

pub(super) const CHECK: Check = Check {
    name: "manifests",
    keeps: "crates inherit lints, version, edition, licence and publish; versions stand in the root manifest, each with its reason",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let root = entries(&subject.tree.text("Cargo.toml")?.unwrap_or_default());
    root_findings(&root, findings);
    let mut wanted = Vec::new();
    for path in member_manifests(subject) {
        let text = subject.tree.text(path)?.unwrap_or_default();
        let has_lib = subject.tree.has(&path.replace("Cargo.toml", "src/lib.rs"));
        let entries = entries(&text);
        member_findings(path, &entries, has_lib, findings);
        wanted.extend(entries.into_iter().filter(|entry| lists_dependencies(&entry.section)));
    }
    let is_ours = |entry: &Entry| entry.value.contains("path =");
    for entry in root.iter().filter(|entry| entry.section == "workspace.dependencies" && !is_ours(entry)) {
        if !wanted.iter().any(|it| dependency_name(&it.key) == entry.key) {
            findings.add(
                format!("Cargo.toml:{}", entry.line),
                format!("{} is used by no crate", entry.key),
                "remove the line",
            );
        }
    }
    Ok(())
}

/// The manifests of crates, without the root's, test data, and the separate workspace of the fuzz targets.
fn member_manifests(subject: &Subject) -> impl Iterator<Item = &str> {
    let is_fuzz = |path: &str| path.split('/').any(|part| part == "fuzz");
    subject
        .tree
        .paths()
        .filter(move |path| path.ends_with("/Cargo.toml") && !is_test_data(path) && !is_fuzz(path))
}

fn root_findings(root: &[Entry], findings: &mut Findings) {
    for entry in root.iter().filter(|entry| entry.section.starts_with("workspace.dependencies")) {
        let place = format!("Cargo.toml:{}", entry.line);
        if entry.section != "workspace.dependencies" {
            let remedy = "write it as one line in [workspace.dependencies]";
            findings.add(place, format!("[{}] has a section of its own", entry.section), remedy);
        } else if entry.comment.is_empty() && !entry.value.contains("path =") {
            let remedy = "state the reason in a comment on the same line";
            findings.add(place, format!("{} has no reason", entry.key), remedy);
        }
    }
}

fn member_findings(path: &str, entries: &[Entry], has_lib: bool, findings: &mut Findings) {
    let has = |section: &str, key: &str, value: &str| {
        entries.iter().any(|entry| entry.section == section && entry.key == key && entry.value == value)
    };
    for name in INHERITED {
        if !has("package", &format!("{name}.workspace"), "true") {
            let remedy = format!("write `{name}.workspace = true` below [package]");
            findings.add(path, format!("does not inherit {name}"), remedy);
        }
    }
    if !has("lints", "workspace", "true") {
        findings.add(path, "does not inherit lints", "write `workspace = true` below [lints]");
    }
    if has_lib && !has("lib", "doctest", "false") {
        let remedy = "write `doctest = false` below [lib]: examples are tests in files of their own";
        findings.add(path, "runs its documentation as tests", remedy);
    }
    for entry in entries {
        let own_section = entry.section.contains("dependencies.");
        let inherits = entry.key.ends_with(".workspace") && entry.value == "true"
            || entry.value.starts_with('{') && entry.value.contains("workspace = true");
        if own_section || lists_dependencies(&entry.section) && !inherits {
            findings.add(
                format!("{path}:{}", entry.line),
                format!(
                    "{} does not come from the workspace",
                    if own_section { &entry.section } else { &entry.key }
                ),
                "put the version into the root manifest and write `NAME.workspace = true` here",
            );
        }
    }
}
