//! The selection of checks, checks that fail, and the cases of checks.

use std::fmt::Write as _;
use std::fs;

use tiphys_testkit::fixture;

use super::synthetic::Synthetic;
use super::*;
use crate::workspace_root;

/// Findings of each case of `testdata/tidy/CHECK.txt`. A case is a title, sections of a small tree (`-- PATH --`, or `-- graph --` for
/// packages) and the findings; sections before the first case are part of each. `UPDATE=1` writes the findings.
#[test]
fn checks_report_the_findings_of_their_cases() {
    let folder = workspace_root().join("xtask/testdata/tidy");
    let mut count = 0;
    for check in CHECKS {
        let path = folder.join(format!("{}.txt", check.name));
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let (common, cases) = text.split_once("######## ").unwrap();
        let mut actual = common.to_owned();
        for case in cases.split("######## ") {
            let (given, _) = case.split_once("-- findings --\n").unwrap();
            let tree = Synthetic::of(&[sections(common), sections(given)].concat());
            writeln!(actual, "######## {given}-- findings --").unwrap();
            actual.extend(tree.findings(check).into_iter().map(|finding| finding + "\n"));
        }
        fixture::compare(&path, &actual);
        count += 1;
    }
    assert_eq!(count, fs::read_dir(folder).unwrap().count(), "each file belongs to a check");
}

/// The names and texts of sections.
fn sections(text: &str) -> Vec<(String, String)> {
    let text = format!("\n{text}");
    let section = |part: &str| {
        let (name, text) = part.split_once(" --").unwrap();
        let text = text.trim_start_matches('\n').trim_end_matches('\n');
        (name.to_owned(), if text.is_empty() { String::new() } else { format!("{text}\n") })
    };
    text.split("\n-- ").skip(1).map(section).collect()
}

#[test]
fn names_of_checks_are_unique() {
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
fn unknown_check_is_rejected() {
    let options = Options { only: vec!["gone".to_owned()], list: false };
    let failure = chosen(&options).map(|checks| checks.len()).unwrap_err().to_string();
    assert_eq!(failure, "unknown check gone; `cargo xtask tidy --list` shows their names");
}

#[test]
fn links_and_large_files_are_found_outside_test_data() {
    let tree = Synthetic::new(&[("a.md", ""), ("testdata/b.md", "")]);
    for (target, link) in [("a.md", "link"), ("b.md", "testdata/link"), ("nowhere", "dangling")] {
        std::os::unix::fs::symlink(target, tree.root().join(link)).unwrap();
    }
    for (path, bytes_max) in [("testdata/x.bin", 1024 * 1024), ("x.bin", 128 * 1024)] {
        tree.write(path, vec![0; bytes_max]);
        tree.write(&format!("{path}2"), vec![0; bytes_max + 1]);
    }
    for (path, lines) in [
        ("a.rs", 800),
        ("b.rs", 801),
        ("docs/a.md", 801),
        ("b/tests.rs", 1_500),
        ("b/tests/c.rs", 1_501),
        ("testdata/a.jsonl", 2_000),
        ("crates/tiphys-cmp/src/generated/plugin.rs", 2_000),
    ] {
        tree.write(path, "//\n".repeat(lines));
    }
    let expected = [
        "b.rs: has 801 lines, more than 800",
        "b/tests/c.rs: has 1501 lines, more than 1500",
        "dangling: is a symbolic link",
        "docs/a.md: has 801 lines, more than 800",
        "link: is a symbolic link",
        "testdata/x.bin2: has 1048577 bytes, more than 1048576",
        "x.bin2: has 131073 bytes, more than 131072",
    ];
    assert_eq!(tree.findings(&super::files::CHECK), expected);
}
