use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use tempfile::TempDir;
use tiphys_yaml::{Change, NewValue, Step, Target};

use super::{FileEdit, FileEditError, FileVersion, FileWriteError};
use crate::{Store, StoreInput};

const APP: &str = "# mine
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: a # the name
spec:
  source:
    repoURL: https://git.example.com/r.git
";

/// A directory with `app.yaml`.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("app.yaml"), APP).expect("a file");
    dir
}

fn load(dir: &Path) -> Store {
    Store::load(&[StoreInput::Path(dir.to_owned())]).expect("readable directory")
}

fn set(path: &[&str], value: &str) -> Vec<Change> {
    let path = path.iter().map(|key| Step::Key((*key).to_owned())).collect();
    vec![Change::Set { path, value: NewValue::from(value) }]
}

fn rename() -> Vec<Change> {
    set(&["metadata", "name"], "b")
}

/// Returns an edit that renames the only application.
fn edit(dir: &Path) -> FileEdit {
    load(dir).applications()[0].edit(&rename()).expect("unchanged file")
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").mode() & 0o7777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
}

#[test]
fn edit_changes_only_the_application() {
    let dir = folder();
    let path = dir.path().join("app.yaml");
    chmod(&path, 0o640);
    let edit = edit(dir.path());
    assert_eq!(edit.path(), path);
    assert_eq!(edit.before(), Some(APP.as_bytes()));
    assert_eq!(fs::read_to_string(&path).expect("the file"), APP, "nothing is written yet");
    let after = APP.replace("name: a #", "name: b #");
    assert_eq!(edit.after(), after.as_bytes());
    edit.write().expect("writable file");
    assert_eq!(fs::read_to_string(&path).expect("the file"), after);
    assert_eq!(mode(&path), 0o640);
    assert_eq!(names(dir.path()), ["app.yaml"]);
    assert_eq!(load(dir.path()).applications()[0].application.metadata.name, "b");
}

#[test]
fn version_is_the_digest_of_the_content() {
    let dir = folder();
    let version = load(dir.path()).applications()[0].version().expect("a version");
    assert_eq!(version, FileVersion::of(APP.as_bytes()));
    // From the test vectors of BLAKE3.
    assert_eq!(FileVersion::of(b"").to_string(), "af1349b9f5f9a1a6");
    assert_ne!(version, FileVersion::of(b"other"));
    let store = Store::load(&[StoreInput::StandardInput(APP.into())]).expect("valid input");
    assert_eq!(store.applications()[0].version(), None);
    let error = store.applications()[0].edit(&rename()).expect_err("no file");
    assert!(matches!(error, FileEditError::NoFile { .. }), "{error}");
}

#[test]
fn file_changed_after_loading_is_a_conflict() {
    let dir = folder();
    let path = dir.path().join("app.yaml");
    let store = load(dir.path());
    fs::write(&path, APP.replace("mine", "theirs")).expect("writable file");
    let error = store.applications()[0].edit(&rename()).expect_err("a changed file");
    assert!(matches!(error, FileEditError::Conflict { .. }), "{error}");
    fs::remove_file(&path).expect("removable file");
    let error = store.applications()[0].edit(&rename()).expect_err("a deleted file");
    assert!(matches!(error, FileEditError::Conflict { .. }), "{error}");
}

#[test]
fn file_changed_before_writing_is_a_conflict() {
    let dir = folder();
    let path = dir.path().join("app.yaml");
    let edit = edit(dir.path());
    let theirs = APP.replace("mine", "theirs");
    fs::write(&path, &theirs).expect("writable file");
    let error = edit.clone().write().expect_err("a changed file");
    assert!(matches!(error, FileWriteError::Conflict { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), theirs);
    assert_eq!(names(dir.path()), ["app.yaml"]);
    fs::remove_file(&path).expect("removable file");
    let error = edit.write().expect_err("a deleted file");
    assert!(matches!(error, FileWriteError::Conflict { .. }), "{error}");
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn read_only_file_is_rejected() {
    let dir = folder();
    let path = dir.path().join("app.yaml");
    chmod(&path, 0o444);
    let error = edit(dir.path()).write().expect_err("a read-only file");
    assert!(matches!(error, FileWriteError::ReadOnly { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), APP);
    assert_eq!(names(dir.path()), ["app.yaml"]);
}

#[test]
fn link_is_written_through_only_if_the_caller_names_it() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (real, apps) = (dir.path().join("real"), dir.path().join("apps"));
    fs::create_dir(&real).expect("a directory");
    fs::create_dir(&apps).expect("a directory");
    fs::write(real.join("target"), APP).expect("a file");
    std::os::unix::fs::symlink("../real/target", apps.join("app.yaml")).expect("a link");
    let error = load(&apps).applications()[0].edit(&rename()).expect_err("the store contains a link");
    assert!(matches!(error, FileEditError::Link { .. }), "{error}");
    std::os::unix::fs::symlink(&apps, dir.path().join("link")).expect("a link");
    edit(&dir.path().join("link/app.yaml")).write().expect("the caller names the link");
    assert!(apps.join("app.yaml").is_symlink());
    assert_eq!(fs::read_to_string(real.join("target")).expect("the file"), APP.replace("name: a", "name: b"));
    assert_eq!(names(&real), ["target"]);
    assert_eq!(names(&apps), ["app.yaml"]);
}

#[test]
fn edit_without_effect_does_not_write() {
    let dir = folder();
    let path = dir.path().join("app.yaml");
    chmod(&path, 0o444);
    let before = fs::metadata(&path).expect("the file").ino();
    let store = load(dir.path());
    let edit = store.applications()[0].edit(&set(&["metadata", "name"], "a")).expect("unchanged file");
    assert!(edit.is_unchanged());
    edit.write().expect("nothing to write");
    assert_eq!(fs::metadata(&path).expect("the file").ino(), before);
}

#[test]
fn file_is_created_only_if_missing() {
    let dir = folder();
    let path = dir.path().join(".argocd-source-a.yaml");
    let edit = FileEdit::create(&path, "a: 1\n");
    assert_eq!(edit.before(), None);
    edit.clone().write().expect("a new file");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "a: 1\n");
    let error = FileEdit::create(&path, "b: 2\n").write().expect_err("an existing file");
    assert!(matches!(error, FileWriteError::Exists { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "a: 1\n");
    assert_eq!(names(dir.path()), [".argocd-source-a.yaml", "app.yaml"]);
    let error = FileEdit::create(dir.path().join("none/x.yaml"), "").write().expect_err("no directory");
    assert!(matches!(error, FileWriteError::Folder { .. }), "{error}");
}

#[test]
fn file_outside_the_store_can_be_edited() {
    let dir = folder();
    let path = dir.path().join(".argocd-source.yaml");
    fs::write(&path, "# none yet\n").expect("a file");
    let edit =
        FileEdit::of(&path, Target::FirstDocument, &set(&["plugin", "name"], "x")).expect("readable file");
    edit.write().expect("writable file");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "# none yet\nplugin:\n  name: x\n");
    let error =
        FileEdit::of(dir.path().join("none.yaml"), Target::FirstDocument, &[]).expect_err("a missing file");
    assert!(matches!(error, FileEditError::Read { .. }), "{error}");
    let error = FileEdit::of(&path, Target::FirstDocument, &set(&["plugin", "name", "x"], "y"))
        .expect_err("a string");
    assert!(matches!(error, FileEditError::Edit { .. }), "{error}");
}

#[test]
fn only_regular_files_are_replaced() {
    let dir = folder();
    let edit = FileEdit { before: Some(Vec::new()), ..FileEdit::create(dir.path(), "x") };
    let error = edit.write().expect_err("a directory");
    assert!(matches!(error, FileWriteError::NotAFile { .. }), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn directory_without_write_access_is_reported() {
    let before = fs::read("/proc/self/comm").expect("readable file");
    let edit = FileEdit { before: Some(before), ..FileEdit::create("/proc/self/comm", "x") };
    let error = edit.write().expect_err("no file can be created in /proc");
    assert!(matches!(error, FileWriteError::Folder { .. }), "{error}");
}

#[test]
fn concurrent_edits_succeed_or_conflict() {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 50;
    let dir = folder();
    let write = |writer: usize| {
        let mut written = Vec::new();
        for round in 0..ROUNDS {
            let key = format!("writer-{writer}-{round}");
            let store = load(dir.path());
            let edit = store.applications()[0].edit(&set(&["metadata", "labels", &key], "x"));
            match edit.map(FileEdit::write) {
                Ok(Ok(())) => written.push(key),
                Ok(Err(FileWriteError::Conflict { .. })) | Err(FileEditError::Conflict { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
        written
    };
    let written: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn({
                    let write = &write;
                    move || write(writer)
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().expect("a finished writer")).collect()
    });
    assert!(!written.is_empty(), "at least one writer succeeds");
    let store = load(dir.path());
    let labels = &store.applications()[0].application.metadata.labels;
    let lost: Vec<&String> = written.iter().filter(|key| !labels.contains_key(*key)).collect();
    assert_eq!(lost, Vec::<&String>::new(), "successful writes are not lost");
    assert_eq!(labels.len(), written.len(), "conflicting writes change nothing");
    assert_eq!(names(dir.path()), ["app.yaml"]);
}

/// Two documents of one file, and one of another file.
fn several() -> TempDir {
    let dir = folder();
    fs::write(dir.path().join("two.yaml"), format!("{}---\n{}", named("b"), named("c"))).expect("a file");
    dir
}

fn named(name: &str) -> String {
    APP.replace("name: a ", &format!("name: {name} "))
}

#[test]
fn edits_of_one_file_are_joined() {
    let dir = several();
    let store = load(dir.path());
    let add = |name: &str| set(&["spec", "source", "path"], name);
    let edits = store.applications().iter().map(|one| one.edit(&add(&one.application.metadata.name)));
    let edits: Vec<FileEdit> = edits.collect::<Result<_, _>>().expect("unchanged files");
    assert_eq!(edits.len(), 3);
    for edit in FileEdit::join(edits).expect("different places") {
        edit.write().expect("it is written");
    }
    let with_path = |name: &str| format!("{}    path: {name}\n", named(name));
    assert_eq!(fs::read_to_string(dir.path().join("app.yaml")).expect("a file"), with_path("a"));
    let two = format!("{}---\n{}", with_path("b"), with_path("c"));
    assert_eq!(fs::read_to_string(dir.path().join("two.yaml")).expect("a file"), two);
}

#[test]
fn edits_of_the_same_place_are_not_joined() {
    let dir = folder();
    let edits = ["x", "y"].map(|name| {
        let changes = set(&["metadata", "name"], name);
        load(dir.path()).applications()[0].edit(&changes).expect("unchanged file")
    });
    let error = FileEdit::join(edits).expect_err("both change the name");
    assert!(matches!(error, FileEditError::Overlap { .. }), "{error}");
    let edits = ["x", "y"].map(|name| {
        let changes = set(&["spec", "source", "path"], name);
        load(dir.path()).applications()[0].edit(&changes).expect("unchanged file")
    });
    let error = FileEdit::join(edits).expect_err("both add a line at one place");
    assert!(matches!(error, FileEditError::Overlap { .. }), "{error}");
    let error = FileEdit::join(["a", "b"].map(|text| FileEdit::create(dir.path().join("new"), text)));
    assert!(matches!(error, Err(FileEditError::Overlap { .. })), "both create the file: {error:?}");
}

#[test]
fn edits_of_one_file_by_two_paths_are_joined() {
    let dir = folder();
    let path = dir.path().join("sub/../app.yaml");
    fs::create_dir(dir.path().join("sub")).expect("a directory");
    let by_path =
        Store::load(&[StoreInput::Path(path)]).expect("a readable file").applications()[0].edit(&rename());
    let edits = [edit(dir.path()), by_path.expect("unchanged file")];
    assert_eq!(FileEdit::join(edits.clone()).expect("one change"), edits[..1]);
}

#[test]
fn edits_of_different_versions_are_not_joined() {
    let dir = several();
    let edit = |at: usize| load(dir.path()).applications()[at].edit(&rename()).expect("unchanged file");
    let first = edit(1);
    fs::write(dir.path().join("two.yaml"), format!("# new\n{}---\n{}", named("b"), named("c")))
        .expect("a file");
    let error = FileEdit::join([first, edit(2)]).expect_err("the file changed");
    assert!(matches!(error, FileEditError::Conflict { .. }), "{error}");
}
