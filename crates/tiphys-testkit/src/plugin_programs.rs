//! The programs of the plugins, for tests of crates that are not the program.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::built;

/// Returns the directory of `tiphys-helm` and `tiphys-kustomize` with the profile of the calling test. With it on `PATH`, the plugins of
/// this repository run.
pub fn directory() -> PathBuf {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let program = built::program("tiphys-helm", "tiphys-helm", "plugins/helm");
        built::program("tiphys-kustomize", "tiphys-kustomize", "plugins/kustomize");
        program.parent().expect("a program has a folder").to_path_buf()
    };
    DIRECTORY.get_or_init(build).clone()
}
