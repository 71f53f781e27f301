use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

/// Set when the test program runs itself in a mount namespace: the directory to work in.
#[cfg(target_os = "linux")]
const DIRECTORY: &str = "TIPHYS_TEST_DIRECTORY";

#[test]
fn directory_is_removed_without_link_targets() {
    let directory = TempDir::new().expect("a directory");
    let top = directory.path().join("top");
    fs::create_dir_all(top.join("closed/deep")).expect("mkdir");
    fs::write(top.join("closed/deep/file"), "").expect("writes");
    fs::write(directory.path().join("kept"), "kept").expect("writes");
    symlink(directory.path(), top.join("link")).expect("links");
    fs::set_permissions(top.join("closed"), fs::Permissions::from_mode(0o000)).expect("chmod");
    remove_tree(&top).expect("removes");
    assert!(!top.exists());
    assert_eq!(fs::read_to_string(directory.path().join("kept")).expect("stays"), "kept");
    remove_tree(&top).expect("a missing directory is not an error");
}

/// Mounts of directories and files, of the same and another device: a description, the command, the mount point.
#[cfg(target_os = "linux")]
const MOUNTS: [(&str, &str, &str); 5] = [
    ("a directory of the same device", "mount --bind precious top/a/m", "top/a/m"),
    (
        "a directory of the same device that is closed",
        "chmod 0 precious; mount --bind precious top/a/m",
        "top/a/m",
    ),
    (
        "another file system",
        "mount -t tmpfs none top/a/m; mkdir top/a/m/deep; echo k >top/a/m/deep/file",
        "top/a/m",
    ),
    ("a file", "mount --bind precious/deep/file top/a/f", "top/a/f"),
    ("over the directory itself", "mount --bind precious top", "top"),
];

#[cfg(target_os = "linux")]
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test starts itself in a namespace, because mounts belong to a whole process"
)]
fn mounts_are_not_entered_and_all_else_is_removed() {
    use std::process::Command;

    if let Some(directory) = std::env::var_os(DIRECTORY) {
        let top = Path::new(&directory).join("top");
        let error = remove_tree(&top).expect_err("a mount");
        assert!(is_mounted_below(&error), "{error}");
        fs::write(Path::new(&directory).join("message"), error.to_string()).expect("writes");
        return;
    }
    let namespace = ["--map-root-user", "--mount"];
    if !Command::new("unshare").args(namespace).arg("true").status().expect("unshare is installed").success()
    {
        return; // Mounting is not permitted here.
    }
    for (name, mount, mount_point) in MOUNTS {
        let directory = TempDir::new().expect("a directory");
        for made in ["precious/deep", "top/a/m", "top/b"] {
            fs::create_dir_all(directory.path().join(made)).expect("mkdir");
        }
        for made in ["precious/deep/file", "top/a/f", "top/b/file"] {
            fs::write(directory.path().join(made), "k\n").expect("writes");
        }
        // The remaining files are listed in the namespace, where the mount is visible.
        let script = format!(
            "{mount} && \"$@\" >out 2>&1; chmod 700 precious; find precious -type f; find {mount_point}/* -type f; find top -path {mount_point} -prune -o -print"
        );
        let program = std::env::current_exe().expect("this program");
        let test = "removal::remove::tests::mounts_are_not_entered_and_all_else_is_removed";
        let output = Command::new("unshare")
            .args(namespace)
            .args(["sh", "-c", &script, "sh"])
            .arg(program)
            .args(["--exact", test])
            .env(DIRECTORY, directory.path())
            .current_dir(directory.path())
            .output()
            .expect("starts");
        let left = String::from_utf8_lossy(&output.stdout).into_owned();
        let message = fs::read_to_string(directory.path().join("message"))
            .unwrap_or_else(|_| panic!("{name}: {output:?}"));
        let shown = directory.path().join(mount_point);
        assert_eq!(
            message,
            format!("mounted directories are not removed: {}; unmount them", shown.display()),
            "{name}"
        );
        let expected = match name {
            "a file" => "precious/deep/file\ntop\ntop/a\n",
            "over the directory itself" => "precious/deep/file\ntop/deep/file\n",
            _ => "precious/deep/file\ntop/a/m/deep/file\ntop\ntop/a\n",
        };
        assert_eq!(left, expected, "{name}");
    }
}
