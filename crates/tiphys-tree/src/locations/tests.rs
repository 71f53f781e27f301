use std::fs;
use std::os::unix::fs::symlink;

use super::{Location, locations};

#[test]
fn links_and_the_end_of_a_path_are_its_locations() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().canonicalize().expect("it exists");
    for folder in ["checkout/sub/deep", "settings", "other"] {
        fs::create_dir_all(root.join(folder)).expect("a directory");
    }
    for (link, target) in [
        ("checkout/out", "../settings"),
        ("into", "checkout/sub"),
        ("over", "checkout/out"),
        ("checkout/self", "self"),
    ] {
        symlink(target, root.join(link)).expect("a link");
    }
    symlink(root.join("into"), root.join("absolute")).expect("a link");
    for (path, expected) in [
        ("settings/new", &[("settings/new", "")][..]),
        ("checkout/../settings/./x", &[("settings/x", "")]),
        ("checkout/sub/../../settings", &[("settings", "")]),
        ("checkout/new/../../settings", &[("settings", "")]),
        ("checkout/out/x/y", &[("checkout/out", "x/y"), ("settings/x/y", "")]),
        ("checkout/out/../other", &[("checkout/out", "../other"), ("other", "")]),
        ("into/../x", &[("into", "../x"), ("checkout/x", "")]),
        ("over/x", &[("over", "x"), ("checkout/out", "x"), ("settings/x", "")]),
        ("absolute/deep", &[("absolute", "deep"), ("into", "deep"), ("checkout/sub/deep", "")]),
    ] {
        let location = |(place, rest): &(&str, &str)| Location { place: root.join(place), rest: rest.into() };
        let expected: Vec<Location> = expected.iter().map(location).collect();
        assert_eq!(locations(&root.join(path)), expected, "{path}");
    }
    let of_loop = locations(&root.join("checkout/self/x"));
    assert!(of_loop.iter().all(|location| location.place == root.join("checkout/self")), "{of_loop:?}");
}
