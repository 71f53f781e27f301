//! Suppressions and sleeps in their places and elsewhere.

use super::*;
use crate::tidy::synthetic::Synthetic;

fn findings(path: &str, source: &str) -> Vec<String> {
    Synthetic::new(&[(path, source)]).findings(&CHECK)
}

const BANNED: &str = "#[expect(clippy::disallowed_methods, reason = \"x\")]\nfn f() {}\n";

#[test]
fn an_expectation_with_a_reason_holds() {
    assert!(
        findings("crates/a/src/b.rs", "#[expect(clippy::too_many_lines, reason = \"x\")]\nfn f() {}\n")
            .is_empty()
    );
}

#[test]
fn allow_is_found_in_every_form() {
    for source in [
        "#[allow(dead_code)]\nfn f() {}",
        "#![allow(dead_code)]",
        "#[cfg_attr(test, allow(dead_code))]\nfn f() {}",
    ] {
        assert_eq!(
            findings("crates/a/src/b.rs", source),
            ["crates/a/src/b.rs:1: switches a lint off with `allow`"],
            "{source}"
        );
    }
}

#[test]
fn banned_calls_are_found_outside_their_places() {
    for path in ["crates/tiphys-source/src/git.rs", "crates/tiphys/src/render.rs"] {
        assert_eq!(findings(path, BANNED), [format!("{path}:1: calls a function that clippy.toml bans")]);
    }
}

#[test]
fn banned_calls_hold_in_their_places_and_in_tests() {
    for path in [
        "crates/tiphys-process/src/run.rs",
        "crates/tiphys/src/main.rs",
        "crates/tiphys/src/settings/environment.rs",
        "crates/tiphys-source/src/git/tests.rs",
        "crates/tiphys-source/tests/git.rs",
        "xtask/src/cargo.rs",
    ] {
        assert!(findings(path, BANNED).is_empty(), "{path}");
    }
}

#[test]
fn a_group_of_lints_is_switched_off_for_generated_code_alone() {
    let source = "#[expect(clippy::pedantic, reason = \"x\")]\nmod a {}\n";
    assert_eq!(
        findings("crates/a/src/b.rs", source),
        ["crates/a/src/b.rs:1: switches off the group clippy::pedantic"]
    );
    assert!(findings(GENERATED_MODULE, source).is_empty());
}

#[test]
fn an_ignored_test_is_found() {
    for source in [
        "#[test]\n#[ignore]\nfn f() {}",
        "#[test]\n#[ignore = \"x\"]\nfn f() {}",
        "#[test]\n#[cfg_attr(unix, ignore)]\nfn f() {}",
    ] {
        assert_eq!(
            findings("crates/a/tests/b.rs", source),
            ["crates/a/tests/b.rs:2: has a test that does not run"]
        );
    }
}

#[test]
fn sleeping_is_found_in_tests_too() {
    let source = "fn f() { std::thread::sleep(D); }\n";
    assert_eq!(findings("crates/a/tests/b.rs", source), ["crates/a/tests/b.rs:1: sleeps"]);
}
