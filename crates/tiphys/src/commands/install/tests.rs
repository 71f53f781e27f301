//! Content of the directory after an installation.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::{Link, install};

/// Name, mode and content of every entry of a directory, sorted by name; a link has its target as content.
fn entries(dir: &Path) -> Vec<(String, u32, String)> {
    let mut found: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if metadata.is_symlink() {
                (name, 0, format!("-> {}", fs::read_link(&path).unwrap().display()))
            } else {
                (name, metadata.permissions().mode() & 0o7777, fs::read_to_string(&path).unwrap())
            }
        })
        .collect();
    found.sort();
    found
}

/// The sorted names in a directory.
fn names(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn entry(name: &str, mode: u32, content: &str) -> (String, u32, String) {
    (name.to_owned(), mode, content.to_owned())
}

/// A program that only its owner may execute.
fn program(folder: &Path) -> std::path::PathBuf {
    let program = folder.join("tiphys");
    fs::write(&program, "new").unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o700)).unwrap();
    program
}

#[test]
fn program_and_link_are_installed_into_a_new_directory() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("var/run/tiphys");
    assert_eq!(install(&program(folder.path()), &dir).unwrap(), Link::Ours);
    let expected = [entry("argocd", 0, "-> argocd-cmp-server"), entry("argocd-cmp-server", 0o755, "new")];
    assert_eq!(entries(&dir), expected);
    assert_eq!(install(&program(folder.path()), &dir).unwrap(), Link::Ours, "a second time");
    assert_eq!(entries(&dir), expected);
}

#[test]
fn older_running_program_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("shared");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("argocd-cmp-server"), "an older and longer one").unwrap();
    let running = fs::File::open(dir.join("argocd-cmp-server")).unwrap();
    install(&program(folder.path()), &dir).unwrap();
    assert_eq!(fs::read_to_string(dir.join("argocd-cmp-server")).unwrap(), "new");
    assert_eq!(std::io::read_to_string(running).unwrap(), "an older and longer one");
}

#[test]
fn leftover_of_killed_installation_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("shared");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join(".argocd-cmp-server.x1Y2z3"), "half of i").unwrap();
    fs::create_dir(dir.join(".argocd-cmp-server.d")).unwrap();
    fs::write(dir.join(".argocd-cmp-serverless"), "another file").unwrap();
    install(&program(folder.path()), &dir).unwrap();
    let expected = [".argocd-cmp-server.d", ".argocd-cmp-serverless", "argocd", "argocd-cmp-server"];
    assert_eq!(names(&dir), expected);
}

#[test]
fn installation_waits_for_a_concurrent_one() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("shared");
    fs::create_dir(&dir).unwrap();
    let writing = dir.join(".argocd-cmp-server.x1Y2z3");
    fs::write(&writing, "half of i").unwrap();
    let other = fs::File::open(&dir).unwrap();
    other.lock().unwrap();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| install(&program(folder.path()), &dir).unwrap());
        // The other installation finishes: it renames the file, then releases the lock.
        fs::rename(&writing, dir.join("argocd-cmp-server")).expect("not removed");
        drop(other);
        assert_eq!(second.join().unwrap(), Link::Ours);
    });
    assert_eq!(fs::read_to_string(dir.join("argocd-cmp-server")).unwrap(), "new");
}

#[test]
fn program_can_be_installed_over_itself() {
    let folder = tempfile::tempdir().unwrap();
    let installed = folder.path().join("argocd-cmp-server");
    fs::write(&installed, "new").unwrap();
    install(&installed, folder.path()).unwrap();
    let expected = [entry("argocd", 0, "-> argocd-cmp-server"), entry("argocd-cmp-server", 0o755, "new")];
    assert_eq!(entries(folder.path()), expected);
}

#[test]
fn argo_cds_program_is_kept_and_only_links_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("argocd");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("argocd"), "Argo CD").unwrap();
    fs::set_permissions(dir.join("argocd"), Permissions::from_mode(0o755)).unwrap();
    symlink("argocd", dir.join("argocd-cmp-server")).unwrap();
    assert_eq!(install(&program(folder.path()), &dir).unwrap(), Link::Foreign);
    assert_eq!(entries(&dir), [entry("argocd", 0o755, "Argo CD"), entry("argocd-cmp-server", 0o755, "new")]);
}

#[test]
fn write_and_read_failures_leave_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path());
    fs::write(folder.path().join("file"), "").unwrap();
    let failure = install(&program, &folder.path().join("file/dir")).unwrap_err();
    let expected =
        format!("--install: cannot write to {}/file/dir: Not a directory", folder.path().display());
    assert!(failure.message().starts_with(&expected), "{}", failure.message());
    assert_eq!(
        failure.hint(),
        Some("give it a folder that this user may write to, such as an emptyDir volume")
    );

    let dir = folder.path().join("taken");
    fs::create_dir_all(dir.join("argocd-cmp-server/folder")).unwrap();
    let failure = install(&program, &dir).unwrap_err();
    assert!(failure.message().contains("Is a directory"), "{}", failure.message());
    let names: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["argocd-cmp-server"], "no temporary file");

    let failure = install(&folder.path().join("gone"), folder.path()).unwrap_err();
    let expected = format!("--install: cannot read this program, {}/gone: ", folder.path().display());
    assert!(failure.message().starts_with(&expected), "{}", failure.message());
}
