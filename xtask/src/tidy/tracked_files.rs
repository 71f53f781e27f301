//! What git tracks is small and plain: no symbolic links outside test data, no file over 1 MiB.

#[cfg(test)]
mod tests;

use super::tree::is_test_data;
use super::{Check, Finding, Subject};
use crate::Failure;

/// Bytes of one tracked file.
const BYTES_MAX: u64 = 1024 * 1024;

pub(super) const CHECK: Check =
    Check { name: "tracked-files", keeps: "no symbolic link outside test data, no file over 1 MiB", run };

fn run(subject: &Subject) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for path in subject.tree.paths() {
        let full = subject.tree.root().join(path);
        let metadata = full.symlink_metadata().map_err(|error| Failure::at(&full, error))?;
        if metadata.is_symlink() && !is_test_data(path) {
            findings.push(Finding::new(
                path,
                "is a symbolic link",
                "put a file there; links do not survive every checkout",
            ));
        }
        if metadata.is_file() && metadata.len() > BYTES_MAX {
            findings.push(Finding::new(
                path,
                format!("has {} bytes, more than {BYTES_MAX}", metadata.len()),
                "make it in the test that needs it, or split it",
            ));
        }
    }
    Ok(findings)
}
