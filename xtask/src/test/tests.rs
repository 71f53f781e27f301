//! The choice of steps and the reports at the end.

use std::fs;

use super::*;

fn names(options: &Options) -> Vec<String> {
    options.steps().into_iter().map(Step::name).collect()
}

#[test]
fn all_steps_run_in_order_without_options() {
    assert_eq!(
        names(&Options::default()),
        ["format", "clippy", "tidy", "tools", "book", "static", "e2e", "tests", "docs", "reports"]
    );
}

#[test]
fn only_runs_one_step() {
    assert_eq!(names(&Options { only: Some(Step::Tidy), from: None }), ["tidy"]);
}

#[test]
fn from_runs_a_step_and_all_after_it() {
    assert_eq!(names(&Options { only: None, from: Some(Step::Tests) }), ["tests", "docs", "reports"]);
}

#[test]
fn reports_are_printed_in_the_order_of_their_names() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("target/oracles");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("b.txt"), "b: 1 of 2 equal\n  case: decision\n").unwrap();
    fs::write(dir.join("a.txt"), "a: 3 of 3 equal\n").unwrap();
    fs::write(dir.join("note.md"), "not a report\n").unwrap();
    assert_eq!(
        reports(root.path()).unwrap(),
        "    a: 3 of 3 equal\n    b: 1 of 2 equal\n      case: decision\n"
    );
}

#[test]
fn missing_reports_are_a_failure() {
    let root = tempfile::tempdir().unwrap();
    let failure = reports(root.path()).unwrap_err().to_string();
    assert!(failure.contains("run the step tests first"), "{failure}");
}
