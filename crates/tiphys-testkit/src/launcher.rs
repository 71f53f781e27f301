//! The launcher program for tests of crates that start runs.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::built;

/// Returns the path of `tiphys-launcher` of the crate `tiphys-process`, with the profile of the calling test.
pub fn program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM
        .get_or_init(|| built::program("tiphys-process", "tiphys-launcher", "crates/tiphys-process"))
        .clone()
}
