//! Selection and order of suggested value files.

use std::fs;
use std::os::unix::fs::symlink;

use super::{DEPTH_MAX, value_files};

#[test]
fn files_named_values_are_suggested_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        "values.yaml",
        "values.yml",
        "caps-extn-values.YAML",
        "has-the-word-values.yaml",
        "dir/values.yaml",
        "exclude.yaml",
        "Values.yaml",
        "values.json",
        "values",
        "values.yaml/inside.txt",
        ".hidden-values.yaml",
    ];
    for file in files.iter().filter(|file| **file != "values.yaml") {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    symlink("dir", folder.path().join("linked")).unwrap();
    let expected = [
        ".hidden-values.yaml",
        "caps-extn-values.YAML",
        "dir/values.yaml",
        "has-the-word-values.yaml",
        "values.yml",
    ];
    assert_eq!(value_files(folder.path()), expected);
}

#[test]
fn nested_directories_are_searched_up_to_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let deepest = "d/".repeat(DEPTH_MAX);
    fs::create_dir_all(folder.path().join(&deepest).join("d")).unwrap();
    fs::write(folder.path().join(&deepest).join("values.yaml"), "").unwrap();
    fs::write(folder.path().join(&deepest).join("d/values.yaml"), "").unwrap();
    assert_eq!(value_files(folder.path()), [format!("{deepest}values.yaml")]);
}
