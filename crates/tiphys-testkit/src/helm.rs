//! The Helm plugin's program, for tests of other crates that run the plugin.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::built;

/// Path of `tiphys-helm`, of the same profile as the test that asks. With its folder on `PATH`, the plugin of the checkout runs.
pub fn program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built::program("tiphys-helm", "tiphys-helm", "plugins/helm")).clone()
}
