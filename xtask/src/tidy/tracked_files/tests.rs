//! Links and large files.

use std::os::unix::fs::symlink;

use super::*;
use crate::tidy::synthetic::Synthetic;

#[test]
fn a_symbolic_link_is_found_outside_test_data() {
    let tree = Synthetic::new(&[("a.md", ""), ("testdata/b.md", "")]);
    symlink("a.md", tree.root().join("link")).unwrap();
    symlink("b.md", tree.root().join("testdata/link")).unwrap();
    assert_eq!(tree.findings(&CHECK), ["link: is a symbolic link"]);
}

#[test]
fn a_link_to_nothing_is_found_too() {
    let tree = Synthetic::new(&[]);
    symlink("nowhere", tree.root().join("link")).unwrap();
    assert_eq!(tree.findings(&CHECK), ["link: is a symbolic link"]);
}

#[test]
fn a_file_may_have_one_mebibyte() {
    let tree = Synthetic::new(&[]);
    tree.write("testdata/exact.bin", vec![0; 1024 * 1024]);
    assert!(tree.findings(&CHECK).is_empty());
    tree.write("testdata/large.bin", vec![0; 1024 * 1024 + 1]);
    assert_eq!(tree.findings(&CHECK), ["testdata/large.bin: has 1048577 bytes, more than 1048576"]);
}
