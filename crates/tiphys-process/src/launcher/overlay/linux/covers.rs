//! Mounts in the namespace of a run that shield directories from its commands.
//!
//! Trees, working copies, sockets and plugins belong to the user that runs the commands, so only a mount keeps a command from changing them
//! by their paths. A command without capabilities can neither unmount it nor, in a mount namespace of its own, look below it: mounts
//! inherited from a more privileged namespace are locked there (`mount_namespaces(7)`). The roots of other processes in `/proc` are
//! inaccessible to it as well, because they belong to another user namespace.
//!
//! A mount point cannot be renamed, but a directory above it can, and another one could take its place. So each directory above a mount
//! that the user could rename is bind-mounted onto itself, which makes it a mount point, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, StatVfsMountFlags, accessat, fstatvfs, open};
use rustix::mount::{MountFlags, UnmountFlags, mount_bind, mount_bind_recursive, mount_remount, unmount};

use crate::spec::Shielded;

/// Prefix of the directories in the run directory that are mounted over others.
const COVER: &str = "cover-";

/// Visibility of a path for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    /// An empty directory.
    Hidden,
    /// The content, read-only.
    ReadOnly,
    /// The content, even below a cover.
    Full,
}

/// Mounts the shields of these directories, and skips those that do not exist. The run directory stays visible. Returns the mount points,
/// outer ones first. After an error nothing is mounted. The mount namespace must be the run's own, with private mounts.
pub(super) fn mount(shielded: &Shielded, run_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut mounted = Vec::new();
    let result = mount_all(&plan(shielded, run_dir), run_dir, &mut mounted);
    if let Err(error) = result {
        remove(&mounted);
        return Err(error);
    }
    Ok(mounted)
}

/// Unmounts these mount points and everything mounted below them.
pub(super) fn remove(mounted: &[PathBuf]) {
    for point in mounted.iter().rev() {
        let _gone: rustix::io::Result<()> = unmount(point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    }
}

fn mount_all(plan: &[(PathBuf, Visibility)], run_dir: &Path, mounted: &mut Vec<PathBuf>) -> io::Result<()> {
    for directory in renameable_above(plan) {
        mount_bind_recursive(&directory, &directory)?;
        mounted.push(directory);
    }
    // Descriptors, because paths are invalid after a parent directory is covered.
    let mut sources = Vec::new();
    for (number, (path, visibility)) in plan.iter().enumerate() {
        sources.push(match visibility {
            Visibility::Hidden => {
                descriptor(&make_cover(plan, path, &run_dir.join(format!("{COVER}{number}")))?)?
            }
            Visibility::ReadOnly | Visibility::Full => descriptor(path)?,
        });
    }
    for ((path, visibility), source) in plan.iter().zip(&sources) {
        let from = format!("/proc/self/fd/{}", source.as_raw_fd());
        match visibility {
            Visibility::Hidden | Visibility::Full => mount_bind(from, path)?,
            // Recursive, because the file of a plugin is often a mount of its own.
            Visibility::ReadOnly => mount_bind_recursive(from, path)?,
        }
        mounted.push(path.clone());
        if *visibility == Visibility::ReadOnly {
            mount_remount(path, MountFlags::BIND | MountFlags::RDONLY | locked_flags(source)?, "")?;
        }
    }
    Ok(())
}

/// Returns the mounts, outer paths first, links resolved, without those that change nothing below another one.
fn plan(shielded: &Shielded, run_dir: &Path) -> Vec<(PathBuf, Visibility)> {
    let existing = |directories: &[PathBuf], visibility: Visibility| -> Vec<(PathBuf, Visibility)> {
        let resolved = directories.iter().filter_map(|directory| fs::canonicalize(directory).ok());
        resolved.map(|directory| (directory, visibility)).collect()
    };
    // Parents sort before their children. Read-only takes precedence over hidden.
    let mut shields: BTreeMap<PathBuf, Visibility> = BTreeMap::new();
    shields.extend(existing(&shielded.hidden, Visibility::Hidden));
    shields.extend(existing(&shielded.read_only, Visibility::ReadOnly));
    shields.insert(run_dir.to_path_buf(), Visibility::Full);
    let mut plan: Vec<(PathBuf, Visibility)> = Vec::new();
    for (path, visibility) in shields {
        let above =
            plan.iter().rev().find(|(outer, _)| path.starts_with(outer)).map(|(_, visibility)| *visibility);
        if above.unwrap_or(Visibility::Full) != visibility {
            plan.push((path, visibility));
        }
    }
    plan
}

/// Returns the directories above those of the plan that this user could rename, outer ones first.
fn renameable_above(plan: &[(PathBuf, Visibility)]) -> BTreeSet<PathBuf> {
    let is_planned = |directory: &Path| plan.iter().any(|(path, _)| directory.starts_with(path));
    let above = plan.iter().flat_map(|(path, _)| path.ancestors().skip(1));
    let renameable = above.filter(|directory| {
        !is_planned(directory)
            && directory
                .parent()
                .is_some_and(|parent| accessat(CWD, parent, Access::WRITE_OK, AtFlags::EACCESS).is_ok())
    });
    renameable.map(Path::to_path_buf).collect()
}

/// Makes an empty directory to cover `path` with. It contains only mount points for the entries of the plan below `path`.
fn make_cover(plan: &[(PathBuf, Visibility)], path: &Path, cover: &Path) -> io::Result<PathBuf> {
    fs::create_dir(cover)?;
    for below in plan.iter().filter_map(|(other, _)| other.strip_prefix(path).ok()) {
        fs::create_dir_all(cover.join(below))?;
    }
    Ok(cover.to_path_buf())
}

/// Flags of a mount that a user namespace cannot clear.
fn locked_flags(source: &OwnedFd) -> io::Result<MountFlags> {
    let has = fstatvfs(source)?.f_flag;
    let flags = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    Ok(flags.into_iter().filter(|(flag, _)| has.contains(*flag)).map(|(_, flag)| flag).collect())
}

fn descriptor(directory: &Path) -> io::Result<OwnedFd> {
    Ok(open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}
