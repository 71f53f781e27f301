//! Overlays in a mount namespace of this process, with the user's own rights or in a user namespace.
//!
//! The overlay is visible to this process and its descendants only, and vanishes with the last of them. In a user namespace the commands
//! keep their user, group and supplementary groups: only the own user and group are mapped, to themselves. The commands get no
//! capabilities. `execve` clears those of the namespace's creator unless the user is root, and for root the bounding set is cut to the
//! previous capabilities.
//!
//! In a user namespace a directory of the tree cannot be renamed (`EXDEV`; `mv` copies instead): the kernel refuses `redirect_dir` there.

mod covers;

use std::ffi::CString;
use std::fs::{self, Permissions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, unshare};
use rustix::fs::{Mode, OFlags, XattrFlags, open, removexattr, setxattr};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount_change, unmount as umount};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, capabilities, remove_capability_from_bounding_set};

use crate::launcher::layer::Layer;
use crate::spec::Shielded;

/// Mounts the overlays of all trees at their roots and shields directories from the run. Returns the paths that are covered. An error names
/// what the system refused. The mount namespace may have changed by then, but nothing is mounted or covered.
pub(crate) fn mount(layers: &[Layer], run_dir: &Path, shielded: &Shielded) -> Result<Vec<PathBuf>, String> {
    let mut owners = Vec::new();
    for layer in layers {
        owners.push(make_directories(layer)?);
    }
    let in_user_namespace = match unshare(CloneFlags::CLONE_NEWNS) {
        Ok(()) => false,
        Err(_not_privileged) => {
            // Only files of the own user can be copied up there, because only this user is mapped.
            if owners.iter().any(|owner| *owner != geteuid().as_raw()) {
                return Err("the tree belongs to another user".to_owned());
            }
            enter_user_namespace().map_err(|error| format!("user namespace: {error}"))?;
            true
        }
    };
    // Mounts must not propagate to other namespaces.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| format!("making mounts private: {error}"))?;
    let mut opened = Vec::new();
    for layer in layers {
        opened.push(Opened::new(layer, in_user_namespace)?);
    }
    // Directly before the overlays, because the trees may be covered, too.
    let covered =
        covers::mount(shielded, run_dir).map_err(|error| format!("shielding other directories: {error}"))?;
    for (mounted, layer) in opened.iter().enumerate() {
        if let Err(error) = layer.mount() {
            unmount(opened.iter().take(mounted).map(|layer| layer.root.clone()), &covered);
            return Err(format!("mounting an overlay: {error}"));
        }
    }
    Ok(covered)
}

/// Detaches the overlays at these roots with everything mounted below them, and the covers of these directories.
pub(crate) fn unmount(roots: impl IntoIterator<Item = PathBuf>, covered: &[PathBuf]) {
    covers::remove(covered);
    for root in roots {
        let _not_mounted: rustix::io::Result<()> =
            umount(&root, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    }
}

/// Makes the directories of an overlay. Returns the user ID of the tree's owner.
fn make_directories(layer: &Layer) -> Result<u32, String> {
    let metadata = fs::metadata(&layer.lower).map_err(|error| format!("reading the tree: {error}"))?;
    let upper = upper(layer);
    // The root of the view takes its mode from the upper directory.
    let mode = Permissions::from_mode((metadata.mode() & 0o7777) | 0o700);
    let made = fs::create_dir_all(&layer.dir)
        .and_then(|()| [&upper, &work(layer), &layer.root()].into_iter().try_for_each(fs::create_dir))
        .and_then(|()| fs::set_permissions(&upper, mode));
    made.map_err(|error| format!("making directories: {error}"))?;
    Ok(metadata.uid())
}

fn upper(layer: &Layer) -> PathBuf {
    layer.dir.join("upper")
}

fn work(layer: &Layer) -> PathBuf {
    layer.dir.join("work")
}

/// The open directories of an overlay. Their paths are invalid after a parent directory is covered.
struct Opened {
    lower: OwnedFd,
    upper: OwnedFd,
    work: OwnedFd,
    attributes: &'static str,
    root: PathBuf,
}

impl Opened {
    fn new(layer: &Layer, in_user_namespace: bool) -> Result<Self, String> {
        let (upper, work) = (upper(layer), work(layer));
        let attributes = attributes(&upper, in_user_namespace)?;
        let open = |directory: &Path| {
            open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
                .map_err(|error| format!("opening directories: {error}"))
        };
        Ok(Self {
            lower: open(&layer.lower)?,
            upper: open(&upper)?,
            work: open(&work)?,
            attributes,
            root: layer.root(),
        })
    }

    fn mount(&self) -> rustix::io::Result<()> {
        // Paths of descriptors, because the real paths may contain the separators of mount options.
        let path = |directory: &OwnedFd| format!("/proc/self/fd/{}", directory.as_raw_fd());
        // `volatile`: nothing has to survive a crash. `index=off`: an index is for hard links and exports only.
        let options = format!(
            "lowerdir={},upperdir={},workdir={},volatile,index=off,{}",
            path(&self.lower),
            path(&self.upper),
            path(&self.work),
            self.attributes
        );
        let options = CString::new(options).map_err(|_nul| Errno::INVAL)?;
        rustix::mount::mount("overlay", &self.root, "overlay", MountFlags::empty(), options.as_c_str())
    }
}

fn enter_user_namespace() -> Result<(), String> {
    let (user, group) = (geteuid(), getegid());
    let had = capabilities(None).map_err(|error| error.to_string())?.permitted;
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).map_err(|error| error.to_string())?;
    let write = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| format!("{file}: {error}"))
    };
    // An unprivileged process may map its group only after it denied `setgroups` (`user_namespaces(7)`).
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))?;
    for capability in CapabilitySet::all().difference(had).iter() {
        // Refused for capabilities that this kernel does not know.
        let _unknown: rustix::io::Result<()> = remove_capability_from_bounding_set(capability);
    }
    Ok(())
}

/// Mount options for the extended attributes by which an overlay marks deleted and replaced entries. Without them the mount succeeds, but
/// replacing a directory fails.
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
