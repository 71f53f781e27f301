//! The pinned helm, kustomize, yq and jq, for tests that run plugins, what else only tests run, and the packages of a plugin server in
//! Python.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::workspace_root;

/// What the plugins of this repository run.
const TOOLS: [&str; 4] = ["helm", "jq", "kustomize", "yq"];

/// A `PATH` on which the tools of `cargo xtask tools` come first. Fails if one of them is missing.
#[expect(
    clippy::disallowed_methods,
    reason = "tests find the shell and git where the person who runs them has them"
)]
pub fn search_path() -> OsString {
    let bin = workspace_root().join("target/tools/bin");
    for tool in TOOLS {
        assert!(bin.join(tool).exists(), "{tool} is missing: run `cargo xtask tools` first");
    }
    let inherited = env::var_os("PATH").unwrap_or_default();
    env::join_paths([bin].into_iter().chain(env::split_paths(&inherited)))
        .expect("folders of a PATH have no colons")
}

/// Path of one program of `cargo xtask tools`: `helm`, `helm3`, `registry`. Fails if it is missing.
pub fn program(name: &str) -> PathBuf {
    let program = workspace_root().join("target/tools/bin").join(name);
    assert!(program.exists(), "{name} is missing: run `cargo xtask tools` first");
    program
}

/// The folder of the Python packages of `cargo xtask tools`. Fails if it is missing.
pub fn python_packages() -> PathBuf {
    let folder = workspace_root().join("target/tools/python");
    assert!(folder.is_dir(), "the Python packages are missing: run `cargo xtask tools` first");
    folder
}
