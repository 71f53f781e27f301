//! Limits the length of files.

#[cfg(test)]
mod tests;

use super::tree::{is_test, is_test_data};
use super::{Check, Finding, Findings as _, Subject};
use crate::{Failure, proto};

/// Lines of a source file or a document.
const LINES_MAX: usize = 800;

/// Lines of a file of tests.
const TEST_LINES_MAX: usize = 1_500;

/// Generated files.
const GENERATED: &[&str] = &[proto::GENERATED_DIR, "Cargo.lock", "fuzz/Cargo.lock", "LICENSE"];

pub(super) const CHECK: Check =
    Check { name: "line-count", keeps: "no file over 800 lines, no file of tests over 1,500", run };

fn run(subject: &Subject) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for path in subject.tree.paths() {
        if is_test_data(path) || GENERATED.iter().any(|place| path.starts_with(place)) {
            continue;
        }
        let Some(text) = subject.tree.text(path)? else { continue };
        let (lines, lines_max) =
            (text.lines().count(), if is_test(path) { TEST_LINES_MAX } else { LINES_MAX });
        if lines > lines_max {
            findings.add(path, format!("has {lines} lines, more than {lines_max}"), "split it by subject");
        }
    }
    Ok(findings)
}
