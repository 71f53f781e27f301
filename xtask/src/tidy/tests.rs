//! The choice of checks, and what happens when one cannot look.

use super::synthetic::Synthetic;
use super::*;

#[test]
fn every_check_has_a_name_of_its_own() {
    let mut names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CHECKS.len());
}

#[test]
fn all_checks_run_unless_some_are_named() {
    assert_eq!(chosen(&Options::default()).map(|checks| checks.len()), Ok(CHECKS.len()));
    let options = Options { only: vec!["words".to_owned(), "orphans".to_owned()], list: false };
    let names: Vec<&str> = chosen(&options).unwrap_or_default().iter().map(|check| check.name).collect();
    assert_eq!(names, ["words", "orphans"]);
}

#[test]
fn a_name_of_no_check_is_refused() {
    let options = Options { only: vec!["gone".to_owned()], list: false };
    let failure = chosen(&options).map(|checks| checks.len()).unwrap_err().to_string();
    assert_eq!(failure, "there is no check gone; `cargo xtask tidy --list` shows their names");
}

#[test]
fn a_check_that_cannot_look_is_a_finding() {
    let tree = Synthetic::new(&[("crates/a/src/b.rs", "fn f() {")]);
    let found = tree.findings(&suppressions::CHECK);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("the check could not run: crates/a/src/b.rs: is no Rust source"),
        "{found:?}"
    );
}
