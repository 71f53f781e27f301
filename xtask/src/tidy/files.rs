//! Tracked files are short, small and written by people: no symbolic links outside test data, no build output.

use super::tree::{GENERATED_DIR, has_extension, is_test, is_test_data};
use super::{Check, Findings, Subject};
use crate::Failure;

/// Lines of a source file or a document, and of a file of tests.
const LINES_MAX: usize = 800;
const TEST_LINES_MAX: usize = 1_500;

/// Generated files, which may have more lines.
const GENERATED: &[&str] = &[GENERATED_DIR, "Cargo.lock", "fuzz/Cargo.lock", "LICENSE"];

/// Bytes of one tracked file, and of one of test data.
const BYTES_MAX: u64 = 128 * 1024;
const TEST_DATA_BYTES_MAX: u64 = 1024 * 1024;

/// Files that cargo writes into its target directory.
const MADE_NAMES: [&str; 3] = [".rustc_info.json", ".cargo-lock", "CACHEDIR.TAG"];

/// Extensions of files that a compiler, a linker, a profiler or the fuzzer writes.
const MADE_EXTENSIONS: [&str; 10] =
    ["rlib", "rmeta", "o", "a", "so", "pdb", "profraw", "profdata", "gcda", "gcno"];

pub(super) const CHECK: Check = Check {
    name: "files",
    keeps: "no file over 800 lines (tests: 1,500) or 128 KiB (test data: 1 MiB), no symbolic link outside test data, nothing that a build made",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    for path in subject.tree.paths() {
        let full = subject.tree.root().join(path);
        let metadata = full.symlink_metadata().map_err(|error| Failure::at(&full, error))?;
        if metadata.is_symlink() && !is_test_data(path) {
            findings.add(path, "is a symbolic link", "put a file there; links do not survive every checkout");
        }
        let bytes_max = if is_test_data(path) { TEST_DATA_BYTES_MAX } else { BYTES_MAX };
        if metadata.is_file() && metadata.len() > bytes_max {
            let problem = format!("has {} bytes, more than {bytes_max}", metadata.len());
            findings.add(path, problem, "make it in the test that needs it, or split it");
        }
        let lines = subject.tree.text(path)?.map_or(0, |text| text.lines().count());
        let lines_max = if is_test(path) { TEST_LINES_MAX } else { LINES_MAX };
        let has_limit = !is_test_data(path) && !GENERATED.iter().any(|place| path.starts_with(place));
        if has_limit && lines > lines_max {
            findings.add(path, format!("has {lines} lines, more than {lines_max}"), "split it by subject");
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        if MADE_NAMES.contains(&name) || MADE_EXTENSIONS.iter().any(|made| has_extension(name, made)) {
            findings.add(path, "is made by a build", "git rm --cached, and remove it");
        }
        let manifest = || subject.tree.text(&path.replace(".lock", ".toml"));
        let is_workspace = |text: String| text.lines().any(|line| line.starts_with("[workspace"));
        if name == "Cargo.lock" && !manifest()?.is_some_and(is_workspace) {
            let remedy = "remove it; the versions are those of the workspace's Cargo.lock";
            findings.add(path, "locks versions beside no manifest of a workspace", remedy);
        }
    }
    Ok(())
}
