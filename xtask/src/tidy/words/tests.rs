//! Paths of machines, hosts of registries, sources of the lock file.

use super::*;
use crate::tidy::synthetic::Synthetic;

fn findings(path: &str, text: &str) -> Vec<String> {
    Synthetic::new(&[(path, text)]).findings(&CHECK)
}

#[test]
fn paths_of_people_and_build_machines_are_found() {
    for (text, pattern) in [
        ("cd /home/alice/tiphys", "/home/<name>/"),
        ("\"/Users/bob/x\"", "/Users/<name>/"),
        ("file:///root/x", "/root/"),
        ("(/root/.cache)", "/root/"),
    ] {
        assert_eq!(
            findings("docs/a.md", text),
            [format!("docs/a.md:1: names a path of a machine ({pattern})")]
        );
    }
}

#[test]
fn argo_cds_own_paths_and_parts_of_longer_paths_hold() {
    for text in [
        "/home/argocd/cmp-server/plugins",
        "a/root/b",
        "{dir}/root/x",
        "the /root of a chart",
        "/home/<user>/",
        "/home/",
    ] {
        assert!(findings("docs/a.md", text).is_empty(), "{text}");
    }
}

#[test]
fn hosts_of_package_registries_are_found() {
    assert_eq!(
        findings("README.md", "first\nsee https://index.crates.io/x\n"),
        ["README.md:2: names the registry host index.crates.io"]
    );
}

#[test]
fn a_lock_file_names_the_public_registry_alone() {
    let locked = |source: &str| findings("Cargo.lock", &format!("name = \"a\"\nsource = \"{source}\"\n"));
    assert!(locked("registry+https://github.com/rust-lang/crates.io-index").is_empty());
    assert_eq!(
        locked("git+https://example.org/a"),
        ["Cargo.lock:2: locks a crate to another source: source = \"git+https://example.org/a\""]
    );
}

#[test]
fn recorded_answers_of_other_programs_are_kept_as_they_are() {
    assert!(findings("testdata/oracles/a.jsonl", "/root/x").is_empty());
}
