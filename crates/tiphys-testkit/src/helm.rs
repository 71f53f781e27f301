//! The Helm plugin's program for tests of other crates.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::built;

/// Returns the path of `tiphys-helm` with the profile of the calling test. With its directory on `PATH`, this repository's plugin runs.
pub fn program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built::program("tiphys-helm", "tiphys-helm", "plugins/helm")).clone()
}
