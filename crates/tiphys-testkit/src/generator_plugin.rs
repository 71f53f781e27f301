//! The generator plugins of `examples/generator-plugins`.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::{built, workspace_root};

/// Returns the path of the example in Rust, with the profile of the calling test.
pub fn rust() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let build = || built::example("tiphys-web", "generator-plugin", "examples/generator-plugins/rust");
    PROGRAM.get_or_init(build).clone()
}

/// Returns the path of the example in Python.
pub fn python() -> PathBuf {
    workspace_root().join("examples/generator-plugins/python/server.py")
}
