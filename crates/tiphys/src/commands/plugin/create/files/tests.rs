use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{FILES, Mode, SCHEMA_FILE};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands/plugin/create/template")
}

/// Collects all files below a directory as relative paths.
fn files(folder: &Path, below: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder.join(below)).expect("read_dir") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if folder.join(&path).is_dir() {
            files(folder, &path, found);
        } else {
            found.insert(path);
        }
    }
}

#[test]
fn all_template_files_are_written_with_their_mode() {
    let mut on_disk = BTreeSet::new();
    files(&folder(), "", &mut on_disk);
    let written: BTreeSet<String> =
        FILES.iter().map(|file| file.path.to_owned()).filter(|path| path != SCHEMA_FILE).collect();
    assert_eq!(written, on_disk);
    for file in FILES.iter().filter(|file| file.path != SCHEMA_FILE) {
        let mode = fs::metadata(folder().join(file.path)).expect("file exists").permissions().mode();
        assert_eq!(file.mode == Mode::Executable, mode & 0o111 != 0, "{}", file.path);
    }
}
