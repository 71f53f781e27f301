//! Links, large files and build output.

use std::os::unix::fs::symlink;

use super::*;
use crate::tidy::synthetic::Synthetic;

#[test]
fn symbolic_link_is_found_outside_test_data() {
    let tree = Synthetic::new(&[("a.md", ""), ("testdata/b.md", "")]);
    symlink("a.md", tree.root().join("link")).unwrap();
    symlink("b.md", tree.root().join("testdata/link")).unwrap();
    assert_eq!(tree.findings(&CHECK), ["link: is a symbolic link"]);
}

#[test]
fn dangling_link_is_found() {
    let tree = Synthetic::new(&[]);
    symlink("nowhere", tree.root().join("link")).unwrap();
    assert_eq!(tree.findings(&CHECK), ["link: is a symbolic link"]);
}

#[test]
fn file_size_is_limited_and_test_data_may_be_larger() {
    let tree = Synthetic::new(&[]);
    tree.write("testdata/exact.bin", vec![0; 1024 * 1024]);
    tree.write("exact.bin", vec![0; 128 * 1024]);
    assert!(tree.findings(&CHECK).is_empty());
    tree.write("testdata/large.bin", vec![0; 1024 * 1024 + 1]);
    tree.write("large.bin", vec![0; 128 * 1024 + 1]);
    let expected = [
        "large.bin: has 131073 bytes, more than 131072",
        "testdata/large.bin: has 1048577 bytes, more than 1048576",
    ];
    assert_eq!(tree.findings(&CHECK), expected);
}

#[test]
fn build_output_is_found_in_any_directory() {
    let made = [".rustc_info.json", "a/CACHEDIR.TAG", "a/default.profraw", "libx.rlib", "testdata/x.o"];
    let tree = Synthetic::new(&made.map(|path| (path, "")));
    assert_eq!(tree.findings(&CHECK), made.map(|path| format!("{path}: is made by a build")));
    let written = Synthetic::new(&[("rustc_info.json", ""), ("a/o", ""), ("docs/a.so.md", "")]);
    assert!(written.findings(&CHECK).is_empty());
}

#[test]
fn lock_file_needs_the_manifest_of_a_workspace() {
    let tree = Synthetic::new(&[
        ("Cargo.toml", "[workspace]\nmembers = []\n"),
        ("Cargo.lock", ""),
        ("fuzz/Cargo.toml", "[package]\nname = \"fuzz\"\n\n[workspace]\n"),
        ("fuzz/Cargo.lock", ""),
    ]);
    assert!(tree.findings(&CHECK).is_empty());
    tree.write("crates/a/Cargo.toml", "[package]\nname = \"a\"\nversion.workspace = true\n");
    tree.write("crates/a/Cargo.lock", "");
    tree.write("docs/Cargo.lock", "");
    let problem = "locks versions beside no manifest of a workspace";
    let expected = [format!("crates/a/Cargo.lock: {problem}"), format!("docs/Cargo.lock: {problem}")];
    assert_eq!(tree.findings(&CHECK), expected);
}
