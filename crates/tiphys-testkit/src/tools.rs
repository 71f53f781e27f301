//! The programs and Python packages of `cargo xtask tools` for tests.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::workspace_root;

/// The programs that plugins of this repository run.
const TOOLS: [&str; 4] = ["helm", "jq", "kustomize", "yq"];

/// A `PATH` with the tools of `cargo xtask tools` first. Panics if one is missing.
#[expect(clippy::disallowed_methods, reason = "tests use the user's shell and git")]
pub fn search_path() -> OsString {
    let bin = workspace_root().join("target/tools/bin");
    for tool in TOOLS {
        assert!(bin.join(tool).exists(), "{tool} is missing: run `cargo xtask tools` first");
    }
    let inherited = env::var_os("PATH").unwrap_or_default();
    env::join_paths([bin].into_iter().chain(env::split_paths(&inherited)))
        .expect("directories in PATH have no colons")
}

/// Returns the path of a program of `cargo xtask tools`: `helm`, `helm3`, `registry`. Panics if it is missing.
pub fn program(name: &str) -> PathBuf {
    let program = workspace_root().join("target/tools/bin").join(name);
    assert!(program.exists(), "{name} is missing: run `cargo xtask tools` first");
    program
}

/// Returns the directory of the Python packages of `cargo xtask tools`. Panics if it is missing.
pub fn python_packages() -> PathBuf {
    let folder = workspace_root().join("target/tools/python");
    assert!(folder.is_dir(), "the Python packages are missing: run `cargo xtask tools` first");
    folder
}
