//! What is left out of texts, and what stands in its place.

use std::io;
use std::path::Path;

use tiphys_access::Secret;

use super::{
    Cleaner, INLINE_PLACEHOLDER, masked_urls, without_api_versions, without_passwords, without_secret_options,
};
use crate::failure::Failure;
use crate::home::Home;

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
        assert_eq!(without_secret_options(text), expected);
    }
}

#[test]
fn paths_of_the_machine_are_replaced_longest_first() {
    let temporary = tempfile::tempdir().unwrap();
    let home = Home::in_a_test(temporary.path()).unwrap();
    let shown = home.path().display();
    let cleaner = Cleaner::of_sources(["/w/repo", "/w/repo/below", "/", ""].map(Path::new)).with_home(&home);
    let text = format!(
        "open /w/repo/a.yaml, /w/repo/below and {shown}/values of /w/other; {shown}/tree/c/charts, {shown}/kept, {shown}/kustomize/x; {shown}/tmp/y"
    );
    let expected = format!(
        "open <path to cached source>/a.yaml, <path to cached source> and {INLINE_PLACEHOLDER} of /w/other; \
         <path to cached source>/c/charts, <path to cached source>, <path to cached source>/x; <helm-home>/tmp/y"
    );
    assert_eq!(Failure::of(&io::Error::other(text), &cleaner), Failure::new(expected));
}

#[test]
fn a_home_behind_a_link_is_not_shown_either() {
    let temporary = tempfile::tempdir().unwrap();
    let link = temporary.path().join("link");
    std::os::unix::fs::symlink(".", &link).unwrap();
    let home = Home::in_a_test(&link).unwrap();
    let real = home.path().canonicalize().unwrap();
    assert_ne!(real, home.path());
    let text = format!("{}/x {}/x", home.path().display(), real.display());
    assert_eq!(Cleaner::default().with_home(&home).cleaned(&text), "<helm-home>/x <helm-home>/x");
}

#[test]
fn passwords_are_left_out_of_what_others_say_and_short_ones_only_of_urls() {
    let passwords = ["hunter22", "is"].map(Secret::new);
    let text = "it is hunter22 at https://bob:is@a.example.com";
    let shown = "it is ****** at https://bob:***@a.example.com";
    assert_eq!(without_passwords(text, &passwords), shown);
}

#[test]
fn logins_of_urls_that_helm_gets_are_left_out_also_where_a_url_was_taken_for_a_path() {
    for (url, text, shown) in [
        ("http://joe:s3cret@h/x?t=1", "http://joe:s3cret@h/x?t=1", "http://joe:***@h/x?***"),
        ("http://joe:s3#et@h/x", "open /w/http:/joe:s3#et@h/x", "open /w/http:/joe:***@h/x"),
        ("http://joe:s3/et@h/x", "open /w/http:/joe:s3/et@h/x", "open /w/http:/joe:***@h/x"),
        ("http://joe:s3?et@h/x", "open /w/http:/joe:s3?et@h/x", "open /w/http:/joe:***@h/x"),
        ("http://h/x?", "http://h/x?", "http://h/x?"),
    ] {
        assert_eq!(Cleaner::default().with_urls([url]).cleaned(text), shown);
    }
}

#[test]
fn urls_of_a_text_are_masked_and_the_rest_stays() {
    let text = "Error: \"https://bob:hunter22@a.example.com/x\"\n\tfailed  (https://b.example.com): no\n";
    let shown = "Error: \"https://bob:***@a.example.com/x\"\n\tfailed  (https://b.example.com): no\n";
    assert_eq!(masked_urls(text), shown);
    assert_eq!(masked_urls(""), "");
}
