//! The launcher program, for tests of crates that start runs.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::built;

/// Path of `tiphys-launcher`, a program of the crate `tiphys-process`, of the same profile as the test that asks.
pub fn program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM
        .get_or_init(|| built::program("tiphys-process", "tiphys-launcher", "crates/tiphys-process"))
        .clone()
}
