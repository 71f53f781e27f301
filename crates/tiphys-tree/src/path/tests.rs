//! Valid and invalid paths in a repository.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use proptest::prelude::*;

use super::{EntryPath, PathError, RepoPath};

fn clean(path: &str) -> String {
    RepoPath::new(path).expect("a path inside").as_str().to_owned()
}

fn entry(path: &[u8]) -> EntryPath<'_> {
    EntryPath::new(path).expect("a path inside")
}

#[test]
fn path_is_cleaned() {
    for (given, expected) in [
        ("", ""),
        (".", ""),
        ("./", ""),
        ("a", "a"),
        ("a/", "a"),
        ("a//", "a"),
        ("./a//b/../c", "a/c"),
        ("a/..", ""),
        ("a/../", ""),
        ("a/b/../../c/./d", "c/d"),
        ("..a/b..", "..a/b.."),
        ("...", "..."),
        ("a b/ä/日本", "a b/ä/日本"),
        ("a\\..\\b", "a\\..\\b"),
        ("\\etc\\passwd", "\\etc\\passwd"),
        ("~/x", "~/x"),
        ("a\nb", "a\nb"),
    ] {
        assert_eq!(clean(given), expected, "{given:?}");
        assert_eq!(entry(given.as_bytes()).as_bytes(), expected.as_bytes(), "{given:?}");
    }
}

#[test]
fn path_that_leads_out_at_any_step_is_rejected() {
    for path in ["..", "../a", "a/../..", "a/../../a", "./..", "a/b/../../../c"] {
        assert_eq!(RepoPath::new(path), Err(PathError::Outside { path: path.into() }));
    }
}

#[test]
fn absolute_path_is_rejected() {
    for path in ["/", "/a", "//a"] {
        assert_eq!(RepoPath::new(path), Err(PathError::Absolute { path: path.into() }));
    }
}

#[test]
fn path_with_a_nul_byte_is_rejected() {
    assert_eq!(RepoPath::new("a\0b"), Err(PathError::Nul { path: "a\0b".into() }));
}

#[test]
fn joined_path_may_go_up_but_not_out() {
    let base = RepoPath::new("a/b").expect("inside");
    assert_eq!(base.join("../c").expect("inside").as_str(), "a/c");
    assert_eq!(base.join("").expect("inside"), base);
    assert_eq!(base.join("../..").expect("inside").as_str(), "");
    assert_eq!(base.join("../../.."), Err(PathError::Outside { path: "../../..".into() }));
    assert_eq!(base.join("/c"), Err(PathError::Absolute { path: "/c".into() }));
}

#[test]
fn root_is_printed_as_a_dot() {
    assert_eq!(RepoPath::default().to_string(), ".");
    assert_eq!(RepoPath::new("a/b").expect("inside").to_string(), "a/b");
}

#[test]
fn parts_of_a_path() {
    let path = RepoPath::new("a/b/c").expect("inside");
    assert_eq!(path.file_name(), Some("c"));
    assert_eq!(path.parent().map(|p| p.as_str().to_owned()), Some("a/b".to_owned()));
    assert_eq!(RepoPath::new("a").expect("inside").parent(), Some(RepoPath::default()));
    assert_eq!(RepoPath::default().parent(), None);
    assert_eq!(RepoPath::default().file_name(), None);
    assert_eq!(path.below(Path::new("/r")), Path::new("/r/a/b/c"));
    assert_eq!(RepoPath::default().below(Path::new("/r")).as_os_str(), "/r");
}

#[test]
fn path_of_an_entry_may_be_any_bytes() {
    let path = entry(b"caf\xe9/./x\xff");
    assert_eq!(path.as_bytes(), b"caf\xe9/x\xff");
    assert_eq!(path.file_name(), Some(&b"x\xff"[..]));
    assert_eq!(path.parent(), Some(entry(b"caf\xe9")));
    assert_eq!(path.join(b"../\xfe").expect("inside").as_bytes(), b"caf\xe9/\xfe");
    assert_eq!(path.below(Path::new("/r")).as_os_str().as_bytes(), b"/r/caf\xe9/x\xff");
    assert_ne!(entry(b"caf\xe9"), entry(b"caf\xe8"));
    assert!(entry(b"caf\xc3\xa9") < entry(b"caf\xe9"), "in the order of bytes");
    let outside = EntryPath::new(b"\xe9/../..").expect_err("it leads out");
    assert_eq!(outside.to_string(), r#"path "\xE9/../.." leads out of the repository"#);
}

#[test]
fn non_utf8_path_is_printed_with_escapes() {
    for (path, expected) in [
        (&b""[..], "."),
        (b"a b/\\xE9", r"a b/\xE9"),
        ("d/caf\u{e9}.yaml".as_bytes(), "d/caf\u{e9}.yaml"),
        ("caf\u{fffd}".as_bytes(), "caf\u{fffd}"),
        (b"d/caf\xe9.yaml", r#""d/caf\xE9.yaml""#),
        (b"\\xE9\xe9", r#""\\xE9\xE9""#),
        (b"caf\xc3\xa9\xe9\n", r#""café\xE9\n""#),
    ] {
        assert_eq!(entry(path).to_string(), expected);
    }
}

#[test]
fn repo_path_converts_to_entry_path() {
    let path = RepoPath::new("a/ü").expect("inside");
    assert_eq!(EntryPath::from(&path), entry("a/ü".as_bytes()));
    assert_eq!(EntryPath::from(path), entry("a/ü".as_bytes()));
}

proptest! {
    #[test]
    fn any_bytes_are_cleaned_as_a_text_is(path in prop::collection::vec(prop::sample::select(b"a./\0\xe9".to_vec()), 0..12)) {
        // Each odd byte stands alone between others, so a letter that no path has can stand for it.
        let text = String::from_utf8(path.iter().map(|byte| if *byte == 0xe9 { b'e' } else { *byte }).collect());
        let of_text = RepoPath::new(&text.expect("ASCII")).map(|path| path.as_str().as_bytes().to_vec());
        let of_bytes = EntryPath::new(&path).map(|path| path.as_bytes().to_vec());
        prop_assert_eq!(of_bytes.is_ok(), of_text.is_ok());
        if let (Ok(bytes), Ok(text)) = (of_bytes, of_text) {
            let bytes: Vec<u8> = bytes.into_iter().map(|byte| if byte == 0xe9 { b'e' } else { byte }).collect();
            prop_assert_eq!(bytes, text);
        }
    }

    #[test]
    fn a_clean_path_stays_as_it_is(path in "[a./\\\\é]{0,24}") {
        if let Ok(clean) = RepoPath::new(&path) {
            prop_assert_eq!(RepoPath::new(clean.as_str()), Ok(clean.clone()));
            prop_assert!(clean.is_root() || clean.as_str().split('/').all(|c| !matches!(c, "" | "." | "..")));
        }
    }
}
