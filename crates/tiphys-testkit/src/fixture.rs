//! Test cases as directories: `testdata/<feature>/<case>/` with inputs and one expected file.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the directories of the cases, sorted by name. Panics if there are none.
pub fn cases(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{}: no cases", dir.display());
    found
}

/// Whether to write expected files instead of comparing them.
#[expect(clippy::disallowed_methods, reason = "UPDATE requests new expected files")]
pub fn is_updating() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Compares a string with a file; with `UPDATE=1` writes the file instead.
pub fn compare(expected: &Path, actual: &str) {
    if is_updating() {
        fs::write(expected, actual).unwrap_or_else(|error| panic!("{}: {error}", expected.display()));
        return;
    }
    let text = fs::read_to_string(expected)
        .unwrap_or_else(|error| panic!("{}: {error} (UPDATE=1 writes it)", expected.display()));
    assert_eq!(text, actual, "{} differs (UPDATE=1 writes it)", expected.display());
}
