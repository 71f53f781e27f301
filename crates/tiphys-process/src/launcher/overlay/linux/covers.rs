//! Mounts in a run's namespace that keep its commands away from folders of others.
//!
//! Trees, views, sockets and plugins belong to the user whom the commands run as, so nothing but a mount keeps a command from changing them
//! by their paths. A command without capabilities can neither take a mount away nor, with a namespace of its own, get below it: mounts that
//! come with a namespace from a more privileged one are locked there. Other processes' roots in `/proc` are closed to it as well, since they
//! belong to another user namespace.
//!
//! A mount point cannot be renamed, but a folder above it can, and another one could be put where it was. So each folder above a mount
//! that the user could rename is mounted onto itself, which makes it a mount point, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, StatVfsMountFlags, accessat, fstatvfs, open};
use rustix::mount::{MountFlags, UnmountFlags, mount_bind, mount_bind_recursive, mount_remount, unmount};

use crate::run::Shielded;

/// Begins the names of the folders in the run's own one that are mounted over others.
const COVER: &str = "cover-";

/// What a command sees at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// An empty folder instead of what is there.
    Nothing,
    /// What is there, which cannot be changed.
    ReadOnly,
    /// What is there, whatever is mounted above.
    Own,
}

/// Mounts what shields these folders; those that do not exist are skipped. The run's own folder stays as it is. Returns the mount points,
/// outer ones first; after an error nothing is mounted. To be called in a mount namespace of the run's own, whose mounts are private.
pub(super) fn mount(shielded: &Shielded, run_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut mounted = Vec::new();
    let result = mount_all(&plan(shielded, run_dir), run_dir, &mut mounted);
    if let Err(error) = result {
        remove(&mounted);
        return Err(error);
    }
    Ok(mounted)
}

/// Unmounts these mount points, with all that was mounted below them.
pub(super) fn remove(mounted: &[PathBuf]) {
    for point in mounted.iter().rev() {
        let _gone: rustix::io::Result<()> = unmount(point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    }
}

fn mount_all(plan: &[(PathBuf, Seen)], run_dir: &Path, mounted: &mut Vec<PathBuf>) -> io::Result<()> {
    for folder in renameable_above(plan) {
        mount_bind_recursive(&folder, &folder)?;
        mounted.push(folder);
    }
    // Descriptors, since the paths lead elsewhere as soon as a folder above them is covered.
    let mut sources = Vec::new();
    for (number, (path, seen)) in plan.iter().enumerate() {
        sources.push(match seen {
            Seen::Nothing => descriptor(&make_cover(plan, path, &run_dir.join(format!("{COVER}{number}")))?)?,
            Seen::ReadOnly | Seen::Own => descriptor(path)?,
        });
    }
    for ((path, seen), source) in plan.iter().zip(&sources) {
        let from = format!("/proc/self/fd/{}", source.as_raw_fd());
        match seen {
            Seen::Nothing | Seen::Own => mount_bind(from, path)?,
            // With what is mounted below it: a plugin's file is often a mount of its own.
            Seen::ReadOnly => mount_bind_recursive(from, path)?,
        }
        mounted.push(path.clone());
        if *seen == Seen::ReadOnly {
            mount_remount(path, MountFlags::BIND | MountFlags::RDONLY | locked_flags(source)?, "")?;
        }
    }
    Ok(())
}

/// What is mounted, outer paths first, links resolved. What would make no difference below another one is left out.
fn plan(shielded: &Shielded, run_dir: &Path) -> Vec<(PathBuf, Seen)> {
    let existing = |folders: &[PathBuf], seen: Seen| -> Vec<(PathBuf, Seen)> {
        let resolved = folders.iter().filter_map(|folder| fs::canonicalize(folder).ok());
        resolved.map(|folder| (folder, seen)).collect()
    };
    // A folder comes before what is in it. One that is to be hidden and read is read.
    let mut wanted: BTreeMap<PathBuf, Seen> = BTreeMap::new();
    wanted.extend(existing(&shielded.hidden, Seen::Nothing));
    wanted.extend(existing(&shielded.read_only, Seen::ReadOnly));
    wanted.insert(run_dir.to_path_buf(), Seen::Own);
    let mut plan: Vec<(PathBuf, Seen)> = Vec::new();
    for (path, seen) in wanted {
        let above = plan.iter().rev().find(|(outer, _)| path.starts_with(outer)).map(|(_, seen)| *seen);
        if above.unwrap_or(Seen::Own) != seen {
            plan.push((path, seen));
        }
    }
    plan
}

/// The folders above those of the plan that this user could rename, outer ones first.
fn renameable_above(plan: &[(PathBuf, Seen)]) -> BTreeSet<PathBuf> {
    let is_planned = |folder: &Path| plan.iter().any(|(path, _)| folder.starts_with(path));
    let above = plan.iter().flat_map(|(path, _)| path.ancestors().skip(1));
    let renameable = above.filter(|folder| {
        !is_planned(folder)
            && folder
                .parent()
                .is_some_and(|parent| accessat(CWD, parent, Access::WRITE_OK, AtFlags::EACCESS).is_ok())
    });
    renameable.map(Path::to_path_buf).collect()
}

/// Makes an empty folder to cover `path` with, in which there are only mount points for the parts of the plan below it.
fn make_cover(plan: &[(PathBuf, Seen)], path: &Path, cover: &Path) -> io::Result<PathBuf> {
    fs::create_dir(cover)?;
    for below in plan.iter().filter_map(|(other, _)| other.strip_prefix(path).ok()) {
        fs::create_dir_all(cover.join(below))?;
    }
    Ok(cover.to_path_buf())
}

/// Flags that a mount has and that a user namespace does not let go.
fn locked_flags(source: &OwnedFd) -> io::Result<MountFlags> {
    let has = fstatvfs(source)?.f_flag;
    let flags = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    Ok(flags.into_iter().filter(|(flag, _)| has.contains(*flag)).map(|(_, flag)| flag).collect())
}

fn descriptor(folder: &Path) -> io::Result<OwnedFd> {
    Ok(open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}
