use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::FolderState;

#[test]
fn state_differs_exactly_if_a_read_file_differs() {
    let dir = TempDir::new().expect("a directory");
    let write = |file: &str, content: &str| {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
    };
    let state = |path: &Path| {
        let mut state = FolderState::default();
        state.add(path);
        state
    };
    write("a.yaml", "a");
    write("nested/b.json", "b");
    let mut before = state(dir.path());
    for (file, is_read) in [
        ("a.yaml", true),
        ("nested/b.json", true),
        ("new.yml", true),
        ("README.md", false),
        ("a.yaml.swp", false),
        (".git/index.yaml", false),
        ("nested/.git/HEAD", false),
    ] {
        write(file, "longer");
        let after = state(dir.path());
        assert_eq!(after != before, is_read, "{file}");
        before = after;
    }
    fs::remove_file(dir.path().join("new.yml")).expect("a file");
    assert_ne!(state(dir.path()), before);
    let missing = state(&dir.path().join("missing"));
    assert_ne!(missing, FolderState::default(), "an error is not an empty directory");
}
