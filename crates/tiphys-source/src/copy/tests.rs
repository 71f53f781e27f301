use std::path::{Path, PathBuf};

use super::{CopyOrigin, LocalCopy, is_same_repository};
use crate::normalize_git_url;

#[test]
fn the_option_is_read_in_all_its_forms() {
    for (text, url, revision, dir) in [
        (".", None, None, "/here/."),
        ("/abs/x", None, None, "/abs/x"),
        ("a=b", None, None, "/here/a=b"),
        ("./x:y=z", None, None, "/here/./x:y=z"),
        ("https://h/x.git=d", Some("https://h/x.git"), None, "/here/d"),
        ("https://h/x=a=b", Some("https://h/x"), None, "/here/a=b"),
        ("https://user@h/x=d", Some("https://user@h/x"), None, "/here/d"),
        ("https://user@h/x@v1=d", Some("https://user@h/x"), Some("v1"), "/here/d"),
        ("https://h/x@release/1.x=d", Some("https://h/x"), Some("release/1.x"), "/here/d"),
        ("https://h/@scope/x=d", Some("https://h/@scope/x"), None, "/here/d"),
        ("git@h:team/x.git=d", Some("git@h:team/x.git"), None, "/here/d"),
        ("git@h:team/x@v1=d", Some("git@h:team/x"), Some("v1"), "/here/d"),
        ("ssh://git@h:22/x@v1=d", Some("ssh://git@h:22/x"), Some("v1"), "/here/d"),
        ("file:///srv/x=d", Some("file:///srv/x"), None, "/here/d"),
        ("@main=d", None, Some("main"), "/here/d"),
        ("@release/1.x=/abs", None, Some("release/1.x"), "/abs"),
        ("@d", None, None, "/here/@d"),
    ] {
        let expected = LocalCopy {
            url: url.map(str::to_owned),
            revision: revision.map(str::to_owned),
            dir: PathBuf::from(dir),
            origin: CopyOrigin::Caller,
        };
        assert_eq!(LocalCopy::parse(text, Path::new("/here")), Ok(expected), "{text}");
    }
}

#[test]
fn an_option_without_a_folder_is_refused() {
    for text in ["", "https://h/x="] {
        let error = LocalCopy::parse(text, Path::new("/here")).expect_err("there is no folder");
        assert_eq!(
            error.to_string(),
            format!("{text:?} names no folder; write DIR, @BRANCH=DIR, URL=DIR or URL@REV=DIR")
        );
    }
}

#[test]
fn one_repository_has_urls_of_several_schemes() {
    let same = |a: &str, b: &str| is_same_repository(&normalize_git_url(a), &normalize_git_url(b));
    let url = "https://git.example.org/team/apps.git";
    for other in [
        "https://git.example.org/team/apps",
        "http://git.example.org/team/apps",
        "https://robot@git.example.org/team/apps.git",
        "git@git.example.org:team/apps.git",
        "ssh://git@git.example.org/team/apps.git",
        "ssh://git@git.example.org:2222/team/apps",
    ] {
        assert!(same(url, other) && same(other, url), "{other}");
    }
    for other in [
        "https://git.example.org/team/other",
        "https://example.org/team/apps",
        "git@git.example.org:other/apps.git",
        "file:///git.example.org/team/apps",
        "/git.example.org/team/apps",
    ] {
        assert!(!same(url, other), "{other}");
    }
    assert!(!same("file:///srv/x", "https:///srv/x"));
}
