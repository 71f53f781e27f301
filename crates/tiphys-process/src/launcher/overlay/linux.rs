//! An overlay in a mount namespace of this process, by the user's own rights or in a user namespace.
//!
//! The overlay is visible to this process and its descendants only, and goes with the last of them. In a user namespace the commands keep
//! their user, group and supplementary groups: only the own user and group are mapped, onto themselves. They get no capabilities: those of
//! a namespace's founder end with the execution of a program by anyone but root, and for root the bounding set is cut to what it had.
//!
//! With a user namespace a folder of the tree cannot be renamed (`EXDEV`, which `mv` and its like answer by copying): the kernel refuses
//! `redirect_dir` there.

mod covers;

use std::ffi::CString;
use std::fmt::Display;
use std::fs::{self, Permissions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, unshare};
use rustix::fs::{Mode, OFlags, XattrFlags, open, removexattr, setxattr};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount_change, unmount as umount};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, capabilities, remove_capability_from_bounding_set};

use crate::launcher::session::root_below;

/// Mounts the overlay of a tree at the root below the run's folder, and covers the folders that the run shall not see; gives those that are
/// covered. An error tells what the system refused; the mount namespace may have changed by then, but nothing is covered.
pub(crate) fn mount(lower: &Path, run_dir: &Path, hidden: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let (upper, work, root) = (run_dir.join("upper"), run_dir.join("work"), root_below(run_dir));
    let said = |what: &'static str| move |error: &dyn Display| format!("{what}: {error}");
    let lower_metadata = fs::metadata(lower).map_err(|error| said("reading the tree")(&error))?;
    for folder in [&upper, &work, &root] {
        fs::create_dir(folder).map_err(|error| said("making folders")(&error))?;
    }
    // The root of the view has the mode of the upper folder.
    let mode = Permissions::from_mode((lower_metadata.mode() & 0o7777) | 0o700);
    fs::set_permissions(&upper, mode).map_err(|error| said("making folders")(&error))?;

    let in_user_namespace = match unshare(CloneFlags::CLONE_NEWNS) {
        Ok(()) => false,
        Err(_not_privileged) => {
            // Only our own files can be copied up there, since only our own user is mapped.
            if lower_metadata.uid() != geteuid().as_raw() {
                return Err("the tree belongs to another user".to_owned());
            }
            enter_user_namespace().map_err(|error| said("user namespace")(&error))?;
            true
        }
    };
    // What we mount must not appear elsewhere.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| said("making mounts private")(&error))?;

    let attributes = attributes(&upper, in_user_namespace)?;
    // Descriptors stand for the paths, which may hold the characters that separate options.
    let [lower, upper, work] = [lower, upper.as_path(), work.as_path()].map(|folder| {
        open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| said("opening folders")(&error))
    });
    let (lower, upper, work) = (lower?, upper?, work?);
    let path = |folder: &OwnedFd| format!("/proc/self/fd/{}", folder.as_raw_fd());
    // Nothing has to survive a crash, hence volatile. An index would be for hard links and exports only.
    let options = format!(
        "lowerdir={},upperdir={},workdir={},volatile,index=off,{attributes}",
        path(&lower),
        path(&upper),
        path(&work)
    );
    let options = CString::new(options).map_err(|error| said("options")(&error))?;
    // Last of all, since the tree is among what is covered.
    let covered = covers::mount(hidden, run_dir).map_err(|error| said("covering other folders")(&error))?;
    let mounted = rustix::mount::mount("overlay", &root, "overlay", MountFlags::empty(), options.as_c_str());
    mounted.map_err(|error| {
        covers::remove(&covered);
        said("mounting an overlay")(&error)
    })?;
    Ok(covered)
}

/// Detaches the overlay and all that was mounted below it, if there is one, and what covers these folders.
pub(crate) fn unmount(root: &Path, covered: &[PathBuf]) {
    covers::remove(covered);
    let _not_mounted: rustix::io::Result<()> = umount(root, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
}

fn enter_user_namespace() -> Result<(), String> {
    let (user, group) = (geteuid(), getegid());
    let had = capabilities(None).map_err(|error| error.to_string())?.permitted;
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).map_err(|error| error.to_string())?;
    let write = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| format!("{file}: {error}"))
    };
    // An unprivileged process may map its group only after giving up to change its groups.
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))?;
    for capability in CapabilitySet::all().difference(had).iter() {
        // Capabilities that this kernel does not know are refused.
        let _unknown: rustix::io::Result<()> = remove_capability_from_bounding_set(capability);
    }
    Ok(())
}

/// Options for the extended attributes by which an overlay marks what was deleted or replaced. Without them it can still be mounted, but
/// replacing a folder fails.
fn attributes(upper: &Path, in_user_namespace: bool) -> Result<&'static str, String> {
    let can_set = |name: &str| {
        let set = setxattr(upper, name, b"1", XattrFlags::empty());
        set.and_then(|()| removexattr(upper, name))
    };
    if !in_user_namespace && can_set("trusted.overlay.tiphys").is_ok() {
        return Ok("redirect_dir=on,metacopy=off");
    }
    can_set("user.overlay.tiphys").map_err(|error| format!("extended attributes: {error}"))?;
    Ok("userxattr")
}
