//! A view by an overlay mount, where the system has them.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
use std::path::{Path, PathBuf};

#[cfg(not(target_os = "linux"))]
use super::view::Layer;
#[cfg(not(target_os = "linux"))]
use crate::run::Shielded;

#[cfg(target_os = "linux")]
pub(super) use linux::{mount, unmount};

#[cfg(not(target_os = "linux"))]
pub(super) fn mount(
    _layers: &[Layer],
    _run_dir: &Path,
    _shielded: &Shielded,
) -> Result<Vec<PathBuf>, String> {
    Err("this system has no overlays".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn unmount(_roots: impl IntoIterator<Item = PathBuf>, _covered: &[PathBuf]) {}
