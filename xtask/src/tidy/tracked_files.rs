//! Tracked files are small and written by people: no symbolic links outside test data, no large files, no build output.

#[cfg(test)]
mod tests;

use super::tree::{has_extension, is_test_data};
use super::{Check, Finding, Findings as _, Subject};
use crate::Failure;

/// Bytes of one tracked file of test data.
const TEST_DATA_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of any other tracked file.
const BYTES_MAX: u64 = 128 * 1024;

/// Files that cargo writes into its target directory.
const MADE_NAMES: [&str; 3] = [".rustc_info.json", ".cargo-lock", "CACHEDIR.TAG"];

/// Extensions of files that a compiler, a linker, a profiler or the fuzzer writes.
const MADE_EXTENSIONS: [&str; 10] =
    ["rlib", "rmeta", "o", "a", "so", "pdb", "profraw", "profdata", "gcda", "gcno"];

pub(super) const CHECK: Check = Check {
    name: "tracked-files",
    keeps: "no symbolic link outside test data, no file over 128 KiB (test data: 1 MiB), nothing that a build made",
    run,
};

fn run(subject: &Subject) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for path in subject.tree.paths() {
        let full = subject.tree.root().join(path);
        let metadata = full.symlink_metadata().map_err(|error| Failure::at(&full, error))?;
        if metadata.is_symlink() && !is_test_data(path) {
            findings.add(path, "is a symbolic link", "put a file there; links do not survive every checkout");
        }
        let bytes_max = if is_test_data(path) { TEST_DATA_BYTES_MAX } else { BYTES_MAX };
        if metadata.is_file() && metadata.len() > bytes_max {
            findings.add(
                path,
                format!("has {} bytes, more than {bytes_max}", metadata.len()),
                "make it in the test that needs it, or split it",
            );
        }
        if is_made(path) {
            findings.add(path, "is made by a build", "git rm --cached, and remove it");
        }
        if is_stray_lock(subject, path)? {
            findings.add(
                path,
                "locks versions beside no manifest of a workspace",
                "remove it; the versions are those of the workspace's Cargo.lock",
            );
        }
    }
    Ok(findings)
}

fn is_made(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    MADE_NAMES.contains(&name) || MADE_EXTENSIONS.iter().any(|extension| has_extension(name, extension))
}

/// Whether this is a `Cargo.lock` that cargo does not read in the workspace.
fn is_stray_lock(subject: &Subject, path: &str) -> Result<bool, Failure> {
    let Some(folder) =
        path.strip_suffix("Cargo.lock").filter(|folder| folder.is_empty() || folder.ends_with('/'))
    else {
        return Ok(false);
    };
    let manifest = format!("{folder}Cargo.toml");
    let text = if subject.tree.has(&manifest) { subject.tree.text(&manifest)? } else { None };
    let is_workspace = |line: &str| line.starts_with("[workspace");
    Ok(!text.is_some_and(|text| text.lines().any(is_workspace)))
}
