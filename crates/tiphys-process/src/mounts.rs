//! Removes run directories, including mounts that commands made in them.

use std::io;
use std::path::Path;

use crate::removal::remove_tree;

/// Removes the directory of a run whose processes have ended. Mounts in it are unmounted first, and their content is kept. If one cannot be
/// unmounted, it stays with the directories above it, and the result is an error.
pub(crate) fn remove_run_dir(run_dir: &Path) -> io::Result<()> {
    match remove_tree(run_dir) {
        // Unmounts only after an error, because commands rarely mount.
        Err(error) if crate::removal::is_mounted_below(&error) => {
            unmount_below(run_dir);
            remove_tree(run_dir)
        }
        removed => removed,
    }
}

/// Unmounts the mounts at and below a directory in the namespace of this process, in reverse order.
#[cfg(target_os = "linux")]
fn unmount_below(directory: &Path) {
    use rustix::mount::{UnmountFlags, unmount};

    // The path in the kernel's form.
    let Some(directory) =
        directory.parent().and_then(|above| Some(above.canonicalize().ok()?.join(directory.file_name()?)))
    else {
        return;
    };
    let Ok(mounts) = std::fs::read("/proc/self/mountinfo") else { return };
    let points = mounts.split(|byte| *byte == b'\n').filter_map(mount_point);
    let below: Vec<_> = points.filter(|point| point.starts_with(&directory)).collect();
    for point in below.iter().rev() {
        // Busy mounts are detached, because all processes of the run have ended. Without permission the caller gets an error for the
        // remaining directory.
        let _not_allowed: rustix::io::Result<()> =
            unmount(point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    }
}

#[cfg(not(target_os = "linux"))]
fn unmount_below(_directory: &Path) {}

/// The fifth field of a line of `mountinfo` (proc(5)). Blanks, line ends and backslashes are octal escapes.
#[cfg(target_os = "linux")]
fn mount_point(line: &[u8]) -> Option<std::path::PathBuf> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    let field = line.split(|byte| *byte == b' ').nth(4)?;
    let mut point = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, others)) = rest.split_first() {
        let escaped = others.get(..3).filter(|_| *first == b'\\');
        let value = escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        point.push(value.unwrap_or(*first));
        rest = if value.is_some() { others.get(3..)? } else { others };
    }
    Some(OsString::from_vec(point).into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
