//! The choice of steps and the reports at the end.

use std::fs;

use super::*;

fn names(options: &Options) -> Vec<String> {
    options.steps().into_iter().map(Step::name).collect()
}

#[test]
fn options_select_steps_in_order() {
    assert_eq!(names(&Options::default()).len(), Step::value_variants().len());
    assert_eq!(names(&Options { only: Some(Step::Tidy), from: None }), ["tidy"]);
    assert_eq!(names(&Options { only: None, from: Some(Step::Tests) }), ["tests", "e2e", "docs", "reports"]);
}

#[test]
fn reports_are_required_and_printed_by_name() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("target/oracles");
    let failure = reports(root.path()).unwrap_err().to_string();
    assert!(failure.contains("run the step tests first"), "{failure}");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("b.txt"), "b: 1 of 2 equal\n  case: decision\n").unwrap();
    fs::write(dir.join("a.txt"), "a: 3 of 3 equal\n").unwrap();
    fs::write(dir.join("note.md"), "not a report\n").unwrap();
    assert_eq!(
        reports(root.path()).unwrap(),
        "    a: 3 of 3 equal\n    b: 1 of 2 equal\n      case: decision\n"
    );
}
