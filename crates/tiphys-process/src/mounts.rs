//! The removal of a run's folder, with what its commands have mounted in it.

use std::io;
use std::path::Path;

use tiphys_removal::remove_tree;

/// Removes the folder of a run whose processes have ended. What they mounted there, if they may, is unmounted first, and keeps its content. What
/// cannot be unmounted stays, with the folders above it, and is an error.
pub(crate) fn remove_run_dir(run_dir: &Path) -> io::Result<()> {
    match remove_tree(run_dir) {
        // Only now, since nearly nobody mounts anything.
        Err(error) if tiphys_removal::is_mounted_below(&error) => {
            unmount_below(run_dir);
            remove_tree(run_dir)
        }
        removed => removed,
    }
}

/// Unmounts what is mounted at a folder or below it in this process' namespace, the last mounted first.
#[cfg(target_os = "linux")]
fn unmount_below(folder: &Path) {
    use rustix::mount::{UnmountFlags, unmount};

    // As the kernel names it.
    let Some(folder) =
        folder.parent().and_then(|above| Some(above.canonicalize().ok()?.join(folder.file_name()?)))
    else {
        return;
    };
    let Ok(mounts) = std::fs::read("/proc/self/mountinfo") else { return };
    let points = mounts.split(|byte| *byte == b'\n').filter_map(mount_point);
    let below: Vec<_> = points.filter(|point| point.starts_with(&folder)).collect();
    for point in below.iter().rev() {
        // Busy ones are detached: nobody of the run is left who could need them. Whoever may not is told of the folder that stays.
        let _not_allowed: rustix::io::Result<()> =
            unmount(point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    }
}

#[cfg(not(target_os = "linux"))]
fn unmount_below(_folder: &Path) {}

/// The fifth field of a line of `mountinfo`, in which blanks, line ends and backslashes are written as three octal digits.
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
