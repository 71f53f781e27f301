//! Views by overlay mounts (Linux).

#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
use std::path::{Path, PathBuf};

#[cfg(not(target_os = "linux"))]
use super::layer::Layer;
#[cfg(not(target_os = "linux"))]
use crate::spec::Shielded;

#[cfg(target_os = "linux")]
pub(super) use linux::{mount, unmount};

#[cfg(not(target_os = "linux"))]
pub(super) fn mount(
    _layers: &[Layer],
    _run_dir: &Path,
    _shielded: &Shielded,
) -> Result<Vec<PathBuf>, String> {
    Err("overlays are not supported on this system".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn unmount(_roots: impl IntoIterator<Item = PathBuf>, _covered: &[PathBuf]) {}
