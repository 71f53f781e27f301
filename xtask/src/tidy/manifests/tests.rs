//! Manifests that violate one rule each.

use super::*;
use crate::tidy::synthetic::Synthetic;

const ROOT: &str = "[workspace.dependencies]\n\
    tiphys-yaml = { path = \"crates/tiphys-yaml\" }\n\
    serde = { version = \"1\", features = [\"derive\"] } # resource types\n";

const MEMBER: &str = "[package]\nname = \"tiphys-yaml\"\nversion.workspace = true\nedition.workspace = true\n\
    rust-version.workspace = true\nlicense.workspace = true\npublish.workspace = true\n\n[lib]\ndoctest = false\n\n\
    [dependencies]\nserde.workspace = true\n\n[target.'cfg(unix)'.dev-dependencies]\n\
    tiphys-yaml = { workspace = true, optional = true }\n\n[lints]\nworkspace = true\n";

fn findings(root: &str, member: &str) -> Vec<String> {
    let files = [
        ("Cargo.toml", root),
        ("crates/tiphys-yaml/Cargo.toml", member),
        ("crates/tiphys-yaml/src/lib.rs", ""),
    ];
    Synthetic::new(&files).findings(&CHECK)
}

/// The member's manifest without the first line that starts with this text.
fn without(start: &str) -> String {
    let mut removed = false;
    let keep = |line: &&str| {
        let hit = !removed && line.starts_with(start);
        removed |= hit;
        !hit
    };
    MEMBER.lines().filter(keep).collect::<Vec<_>>().join("\n")
}

#[test]
fn manifest_that_inherits_everything_has_no_findings() {
    assert_eq!(findings(ROOT, MEMBER), Vec::<String>::new());
}

#[test]
fn missing_inherited_key_is_found() {
    for name in INHERITED {
        let found = findings(ROOT, &without(name));
        assert_eq!(found, [format!("crates/tiphys-yaml/Cargo.toml: does not inherit {name}")]);
    }
}

#[test]
fn missing_lints_are_found() {
    let found = findings(ROOT, &without("workspace"));
    assert_eq!(found, ["crates/tiphys-yaml/Cargo.toml: does not inherit lints"]);
}

#[test]
fn documentation_tests_of_libraries_are_found() {
    let member = without("doctest");
    assert_eq!(findings(ROOT, &member), ["crates/tiphys-yaml/Cargo.toml: runs its documentation as tests"]);
    let program = Synthetic::new(&[("Cargo.toml", ROOT), ("crates/tiphys-yaml/Cargo.toml", &member)]);
    assert!(program.findings(&CHECK).is_empty());
}

#[test]
fn version_outside_the_root_manifest_is_found() {
    let member = MEMBER.replace("serde.workspace = true", "serde = \"1\"");
    assert_eq!(
        findings(ROOT, &member),
        ["crates/tiphys-yaml/Cargo.toml:13: serde does not come from the workspace"]
    );
}

#[test]
fn dependency_with_its_own_section_is_found() {
    let member = MEMBER
        .replace("serde.workspace = true", "serde.workspace = true\n[dependencies.tar]\nversion = \"1\"");
    assert_eq!(
        findings(ROOT, &member),
        ["crates/tiphys-yaml/Cargo.toml:15: dependencies.tar does not come from the workspace"]
    );
}

#[test]
fn dependency_without_a_reason_is_found() {
    let root = ROOT.replace(" # resource types", "");
    assert_eq!(findings(&root, MEMBER), ["Cargo.toml:3: serde has no reason"]);
}

#[test]
fn unused_dependency_of_the_workspace_is_found() {
    let root = format!("{ROOT}tar = \"0.4\" # archives # of trees\n");
    assert_eq!(findings(&root, MEMBER), ["Cargo.toml:4: tar is used by no crate"]);
}

#[test]
fn unused_crate_of_the_workspace_is_permitted() {
    let member = MEMBER.replace("tiphys-yaml = { workspace = true, optional = true }", "");
    assert_eq!(findings(ROOT, &member), Vec::<String>::new());
}

#[test]
fn hash_within_quotes_is_not_a_comment() {
    let found = entries("[a]\nkey = \"x # y\" # z\n");
    let expected = Entry {
        line: 2,
        section: "a".to_owned(),
        key: "key".to_owned(),
        value: "\"x # y\"".to_owned(),
        comment: "z".to_owned(),
    };
    assert_eq!(found, [expected]);
}
