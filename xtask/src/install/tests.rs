//! Copied and skipped files with their permissions.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::copy_file;

fn write(file: &Path, text: &str, mode: u32) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns path, mode and content of every file below a directory.
fn files(folder: &Path) -> BTreeMap<String, (u32, String)> {
    let mut found = BTreeMap::new();
    for entry in crate::files::entries(folder).unwrap() {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() {
            found.extend(files(&entry).into_iter().map(|(path, file)| (format!("{name}/{path}"), file)));
        } else {
            let mode = fs::metadata(&entry).unwrap().permissions().mode() & 0o777;
            found.insert(name, (mode, fs::read_to_string(&entry).unwrap()));
        }
    }
    found
}

#[test]
fn file_is_replaced_atomically_without_leftovers() {
    let folder = tempfile::tempdir().unwrap();
    let (new, place) = (folder.path().join("new"), folder.path().join("bin/tiphys"));
    write(&new, "new", 0o755);
    write(&place, "an older and longer program", 0o644);
    let running = fs::File::open(&place).unwrap();

    copy_file(&new, &place).unwrap();

    assert_eq!(
        files(&folder.path().join("bin")),
        BTreeMap::from([("tiphys".to_owned(), (0o755, "new".to_owned()))])
    );
    assert_eq!(
        std::io::read_to_string(running).unwrap(),
        "an older and longer program",
        "a running program is not disturbed"
    );
}

#[test]
fn missing_program_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("release/tiphys");
    let failure = copy_file(&missing, &folder.path().join("bin/tiphys")).unwrap_err().to_string();
    assert!(failure.starts_with(&missing.display().to_string()), "{failure}");
}
