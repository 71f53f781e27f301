//! Folders that a run shall not see, covered in its mount namespace.
//!
//! Trees and views belong to the user whom the commands run as, so nothing but a mount keeps a command from writing to them by their paths.
//! A command without capabilities can neither take a cover away nor, with a namespace of its own, get below it: mounts that come with a
//! namespace from a more privileged one are locked there. Other processes' roots in `/proc` are closed to it as well, since they belong to
//! another user namespace.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{UnmountFlags, mount_bind, unmount};

/// Begins the names of the folders in the run's own one that are mounted over others.
const COVER: &str = "cover-";

/// Covers each of these folders with an empty one; those that are not there, or are in another one of them, are passed over. The run's own
/// folder stays where it is. Gives those that are covered; after an error none is. To be called in a mount namespace of the run's own,
/// whose mounts are private.
pub(super) fn mount(hidden: &[PathBuf], run_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let hidden = outermost(hidden);
    let mut covered = Vec::new();
    let mounted = mount_all(&hidden, run_dir, &mut covered);
    if let Err(error) = mounted {
        remove(&covered);
        return Err(error);
    }
    Ok(covered)
}

/// Takes the covers away from these folders, with all that was mounted below them.
pub(super) fn remove(covered: &[PathBuf]) {
    for folder in covered {
        let _gone: rustix::io::Result<()> = unmount(folder, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    }
}

fn mount_all(hidden: &[PathBuf], run_dir: &Path, covered: &mut Vec<PathBuf>) -> io::Result<()> {
    // Descriptors, since the paths lead elsewhere as soon as a folder above them is covered.
    let own = descriptor(run_dir)?;
    let mut covers = Vec::new();
    for (number, folder) in hidden.iter().enumerate() {
        let cover = run_dir.join(format!("{COVER}{number}"));
        fs::create_dir(&cover)?;
        if let Ok(place_of_the_run) = run_dir.strip_prefix(folder) {
            fs::create_dir_all(cover.join(place_of_the_run))?;
        }
        covers.push((descriptor(&cover)?, folder));
    }
    for (cover, folder) in covers {
        mount_bind(path_of(&cover), folder)?;
        covered.push(folder.clone());
        if run_dir.starts_with(folder) {
            mount_bind(path_of(&own), run_dir)?;
        }
    }
    Ok(())
}

/// Those that are there, links resolved, and no two of which one is in the other.
fn outermost(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut resolved: Vec<PathBuf> =
        hidden.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
    // A folder comes before what is in it.
    resolved.sort_unstable();
    let mut outermost: Vec<PathBuf> = Vec::new();
    for folder in resolved {
        if !outermost.iter().any(|outer| folder.starts_with(outer)) {
            outermost.push(folder);
        }
    }
    outermost
}

fn descriptor(folder: &Path) -> io::Result<OwnedFd> {
    Ok(open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

fn path_of(descriptor: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd())
}
