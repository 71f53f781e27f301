use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

/// Set for the test's program when it runs itself in a namespace in which it may mount: the folder to work in.
#[cfg(target_os = "linux")]
const FOLDER: &str = "TIPHYS_TEST_FOLDER";

#[test]
fn a_folder_goes_with_all_that_is_in_it_and_a_links_target_stays() {
    let folder = TempDir::new().expect("a folder");
    let top = folder.path().join("top");
    fs::create_dir_all(top.join("closed/deep")).expect("mkdir");
    fs::write(top.join("closed/deep/file"), "").expect("writes");
    fs::write(folder.path().join("kept"), "kept").expect("writes");
    symlink(folder.path(), top.join("link")).expect("links");
    fs::set_permissions(top.join("closed"), fs::Permissions::from_mode(0o000)).expect("chmod");
    remove_tree(&top).expect("removes");
    assert!(!top.exists());
    assert_eq!(fs::read_to_string(folder.path().join("kept")).expect("stays"), "kept");
    remove_tree(&top).expect("what is not there is removed");
}

/// Folders and files that are mounted, of the same device and of another, where, and what has to stay beside the folders above them.
#[cfg(target_os = "linux")]
const MOUNTS: [(&str, &str, &str); 5] = [
    ("a folder of the same device", "mount --bind precious top/a/m", "top/a/m"),
    (
        "a folder of the same device that is closed",
        "chmod 0 precious; mount --bind precious top/a/m",
        "top/a/m",
    ),
    (
        "another file system",
        "mount -t tmpfs none top/a/m; mkdir top/a/m/deep; echo k >top/a/m/deep/file",
        "top/a/m",
    ),
    ("a file", "mount --bind precious/deep/file top/a/f", "top/a/f"),
    ("over the folder itself", "mount --bind precious top", "top"),
];

#[cfg(target_os = "linux")]
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test starts itself in a namespace, since mounts are the whole process' own"
)]
fn what_is_mounted_is_neither_entered_nor_changed_and_all_else_goes() {
    use std::process::Command;

    if let Some(folder) = std::env::var_os(FOLDER) {
        let top = Path::new(&folder).join("top");
        let error = remove_tree(&top).expect_err("something is mounted");
        assert!(is_mounted_below(&error), "{error}");
        fs::write(Path::new(&folder).join("told"), error.to_string()).expect("writes");
        return;
    }
    let namespace = ["--map-root-user", "--mount"];
    if !Command::new("unshare").args(namespace).arg("true").status().expect("unshare is there").success() {
        return; // Nobody can mount here.
    }
    for (name, mount, place) in MOUNTS {
        let folder = TempDir::new().expect("a folder");
        for made in ["precious/deep", "top/a/m", "top/b"] {
            fs::create_dir_all(folder.path().join(made)).expect("mkdir");
        }
        for made in ["precious/deep/file", "top/a/f", "top/b/file"] {
            fs::write(folder.path().join(made), "k\n").expect("writes");
        }
        // What is left is looked at from inside, where the mount is.
        let script = format!(
            "{mount} && \"$@\" >out 2>&1; chmod 700 precious; find precious -type f; find {place}/* -type f; find top -path {place} -prune -o -print"
        );
        let program = std::env::current_exe().expect("this program");
        let test = "remove::tests::what_is_mounted_is_neither_entered_nor_changed_and_all_else_goes";
        let output = Command::new("unshare")
            .args(namespace)
            .args(["sh", "-c", &script, "sh"])
            .arg(program)
            .args(["--exact", test])
            .env(FOLDER, folder.path())
            .current_dir(folder.path())
            .output()
            .expect("starts");
        let left = String::from_utf8_lossy(&output.stdout).into_owned();
        let told =
            fs::read_to_string(folder.path().join("told")).unwrap_or_else(|_| panic!("{name}: {output:?}"));
        let shown = folder.path().join(place);
        assert_eq!(
            told,
            format!(
                "something is mounted at {}: unmount it, what is mounted is not touched",
                shown.display()
            ),
            "{name}"
        );
        let expected = match name {
            "a file" => "precious/deep/file\ntop\ntop/a\n",
            "over the folder itself" => "precious/deep/file\ntop/deep/file\n",
            _ => "precious/deep/file\ntop/a/m/deep/file\ntop\ntop/a\n",
        };
        assert_eq!(left, expected, "{name}");
    }
}
