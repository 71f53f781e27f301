//! What is left out of texts, and what stands in its place.

use std::io;
use std::path::PathBuf;

use super::{Failure, SOURCE_PLACEHOLDER, ShownPath, go_words, masked, without_api_versions};

#[test]
fn api_versions_are_collapsed_as_native_does() {
    let cases = [
        (
            "`helm template . --api-versions v1 --api-versions a/b/C --include-crds` failed",
            "`helm template . <api versions removed> --include-crds` failed",
        ),
        // The last one swallows the backtick.
        (
            "`helm template . --api-versions v1` failed exit",
            "`helm template . <api versions removed> failed exit",
        ),
        // One with a blank leaves its tail.
        ("--api-versions with blank/v1 --include-crds", "<api versions removed> blank/v1 --include-crds"),
        ("--api-versions  --include-crds", "--api-versions  --include-crds"),
        ("--api-versions v1", "--api-versions v1"),
        ("none", "none"),
    ];
    for (text, expected) in cases {
        assert_eq!(without_api_versions(text), expected);
    }
}

#[test]
fn passwords_and_users_are_masked() {
    let cases = [
        ("helm pull --username me --password pa$$ x", "helm pull --username ****** --password ****** x"),
        ("--password last", "--password ******"),
        ("--password-stdin x", "--password-stdin x"),
        ("a --passwords x", "a --passwords x"),
    ];
    for (text, expected) in cases {
        assert_eq!(masked(text), expected);
    }
}

#[test]
fn paths_of_the_machine_are_replaced_longest_first() {
    let shown = |path: &str, shown| ShownPath { path: PathBuf::from(path), shown };
    let paths = [
        shown("/w/repo", SOURCE_PLACEHOLDER),
        shown("/w/repo/home/values", "<temp file>"),
        shown("/", "never"),
        shown("", "never"),
    ];
    let error = io::Error::other("open /w/repo/a.yaml and /w/repo/home/values of /w/other");
    let expected = "open <path to cached source>/a.yaml and <temp file> of /w/other";
    assert_eq!(Failure::of(&error, &paths), Failure::new(expected));
}

#[test]
fn errors_of_the_system_are_in_the_words_of_go() {
    assert_eq!(go_words(&io::Error::from_raw_os_error(2)), "no such file or directory");
    assert_eq!(go_words(&io::Error::from_raw_os_error(21)), "is a directory");
}
