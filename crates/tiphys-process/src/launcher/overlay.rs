//! A view by an overlay mount, where the system has them.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(super) use linux::{mount, unmount};

#[cfg(not(target_os = "linux"))]
pub(super) fn mount(_lower: &std::path::Path, _run_dir: &std::path::Path) -> Result<(), String> {
    Err("this system has no overlays".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn unmount(_root: &std::path::Path) {}
