//! Redaction of messages.

use std::io;
use std::path::Path;

use super::{INLINE_PLACEHOLDER, Redactor, redact_urls, without_api_versions, without_secrets};
use crate::failure::Failure;
use crate::home::Home;

#[test]
fn api_versions_are_collapsed_as_argo_cd_does() {
    let cases = [
        (
            "`helm template . --api-versions v1 --api-versions a/b/C --include-crds` failed",
            "`helm template . <api versions removed> --include-crds` failed",
        ),
        // The last one includes the backtick.
        (
            "`helm template . --api-versions v1` failed exit",
            "`helm template . <api versions removed> failed exit",
        ),
        // A version with a space leaves its tail.
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
fn passwords_and_users_are_redacted() {
    let cases = [
        ("helm pull --username me --password pa$$ x", "helm pull --username ****** --password ****** x"),
        ("--password last", "--password ******"),
        ("--password-stdin x", "--password-stdin x"),
        ("a --passwords x", "a --passwords x"),
    ];
    for (text, expected) in cases {
        assert_eq!(without_secrets(text), expected);
    }
}

#[test]
fn longest_paths_are_replaced_first() {
    let temporary = tempfile::tempdir().unwrap();
    let home = Home::in_a_test(temporary.path()).unwrap();
    let shown = home.path().display();
    let redactor = Redactor::new(["/w/repo", "/w/repo/below", "/", ""].map(Path::new)).with_home(&home);
    let text = format!(
        "open /w/repo/a.yaml, /w/repo/below and {shown}/values of /w/other; {shown}/tree/c/charts, {shown}/kustomize/x; {shown}/tmp/y"
    );
    let expected = format!(
        "open <path to cached source>/a.yaml, <path to cached source> and {INLINE_PLACEHOLDER} of /w/other; \
         <path to cached source>/c/charts, <path to cached source>/x; <helm-home>/tmp/y"
    );
    assert_eq!(Failure::of(&io::Error::other(text), &redactor), Failure::new(expected));
}

#[test]
fn home_behind_a_link_is_replaced() {
    let temporary = tempfile::tempdir().unwrap();
    let link = temporary.path().join("link");
    std::os::unix::fs::symlink(".", &link).unwrap();
    let home = Home::in_a_test(&link).unwrap();
    let real = home.path().canonicalize().unwrap();
    assert_ne!(real, home.path());
    let text = format!("{}/x {}/x", home.path().display(), real.display());
    assert_eq!(Redactor::default().with_home(&home).redact(&text), "<helm-home>/x <helm-home>/x");
}

#[test]
fn credentials_of_urls_are_redacted_in_paths_too() {
    for (url, text, shown) in [
        ("http://joe:s3cret@h/x?t=1", "http://joe:s3cret@h/x?t=1", "http://joe:***@h/x?***"),
        ("http://joe:s3#et@h/x", "open /w/http:/joe:s3#et@h/x", "open /w/http:/joe:***@h/x"),
        ("http://joe:s3/et@h/x", "open /w/http:/joe:s3/et@h/x", "open /w/http:/joe:***@h/x"),
        ("http://joe:s3?et@h/x", "open /w/http:/joe:s3?et@h/x", "open /w/http:/joe:***@h/x"),
        ("http://h/x?", "http://h/x?", "http://h/x?"),
    ] {
        assert_eq!(Redactor::default().with_urls([url]).redact(text), shown);
    }
}

#[test]
fn only_urls_of_a_message_are_redacted() {
    let text = "Error: \"https://bob:hunter22@a.example.com/x\"\n\tfailed  (https://b.example.com): no\n";
    let shown = "Error: \"https://bob:***@a.example.com/x\"\n\tfailed  (https://b.example.com): no\n";
    assert_eq!(redact_urls(text), shown);
    assert_eq!(redact_urls(""), "");
}
