use std::fmt::Write as _;
use std::path::Path;

use super::{RepoUrl, normalize_git_url, refused_scheme, url_scheme};

/// The pairs are recorded from Argo CD's checks of sources against projects and from Go's `net/url`.
#[test]
fn urls_are_normalized_as_in_argo_cd() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/normalized-urls.jsonl");
    let text = std::fs::read_to_string(path).expect("the pairs can be read");
    let mut differences = String::new();
    let mut count = 0;
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        let pair: serde_json::Value = serde_json::from_str(line).expect("a pair is JSON");
        let url = pair["url"].as_str().expect("url is a string");
        let (expected, ours) =
            (pair["normalized"].as_str().expect("normalized is a string"), normalize_git_url(url));
        count += 1;
        if ours != expected {
            writeln!(differences, "{url:?}: {expected:?}, ours {ours:?}").expect("writing to a string");
        }
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(count > 100, "only {count} pairs");
}

/// Address, scheme, user information, host, port and path.
type Row = (
    &'static str,
    Option<&'static str>,
    Option<&'static str>,
    &'static str,
    Option<&'static str>,
    &'static str,
);

#[test]
fn address_is_split_into_parts() {
    const ROWS: &[Row] = &[
        ("https://h.example/a", Some("https"), None, "h.example", None, "/a"),
        ("HTTPS://u:p@ss@h.example:8443?x", Some("HTTPS"), Some("u:p@ss"), "h.example", Some("8443"), "?x"),
        (" https://[::1]:8443/a ", Some("https"), None, "[::1]", Some("8443"), "/a"),
        ("https://h.example#u@other", Some("https"), None, "h.example", None, "#u@other"),
        ("git@h.example:team/a@b", None, Some("git"), "h.example", Some("team"), "/a@b"),
        ("git@h.example:a@b/c", None, Some("git"), "h.example", Some("a@b"), "/c"),
        ("h.example:5000/team", None, None, "h.example", Some("5000"), "/team"),
        ("u:p@h.example/team", None, Some("u:p"), "h.example", None, "/team"),
        ("h.example/team@sha256", None, None, "h.example", None, "/team@sha256"),
        ("https:///a", Some("https"), None, "", None, "/a"),
        ("", None, None, "", None, ""),
    ];
    for (address, scheme, user_info, host, port, path) in ROWS {
        let url = RepoUrl::new(address);
        let found = (url.scheme(), url.user_info(), url.host(), url.port(), url.path());
        assert_eq!(found, (*scheme, *user_info, *host, *port, *path), "{address:?}");
    }
}

#[test]
fn credentials_are_removed_from_address() {
    let cases = [
        ("https://user:secret@git.example.org/a.git", "https://git.example.org/a.git"),
        ("https://token@git.example.org/a.git", "https://git.example.org/a.git"),
        ("https://git.example.org/a.git?token=x", "https://git.example.org/a.git?***"),
        ("git@git.example.org:team/a.git", "git@git.example.org:team/a.git"),
        ("ssh://git@git.example.org/a.git", "ssh://git@git.example.org/a.git"),
        ("ext::sh -c touch% /x", "ext::sh -c touch% /x"),
        // The servers that programs read differ.
        ("https://user:pass/word@git.example.org/a.git", "https://user:***@git.example.org/a.git"),
    ];
    for (address, expected) in cases {
        assert_eq!(RepoUrl::new(address).without_credentials(), expected, "{address}");
    }
}

#[test]
fn server_name_is_host_without_brackets() {
    for (address, expected) in [
        ("oci://r.example:5000/team", Some("r.example")),
        ("https://[::1]:8443/a", Some("::1")),
        ("https:///a", None),
    ] {
        assert_eq!(RepoUrl::new(address).server_name(), expected, "{address:?}");
    }
}

#[test]
fn registry_key_is_server_without_credentials() {
    for (address, expected) in [
        ("oci://bob:hunter22@r.example:5000/charts", "r.example:5000"),
        ("bob:hunter@22@r.example/charts", "r.example"),
        ("oci://registry-1.docker.io/charts", "https://index.docker.io/v1/"),
    ] {
        assert_eq!(RepoUrl::new(address).registry_key(), expected, "{address}");
    }
}

#[test]
fn path_starts_after_server_or_colon() {
    for (address, expected) in [
        ("https://h.example/a", "/a"),
        ("https://h.example", ""),
        ("git@h.example:team/a", "team/a"),
        ("h.example/team", "/team"),
    ] {
        assert_eq!(&address[RepoUrl::new(address).path_start()..], expected, "{address}");
    }
}

#[test]
fn scheme_is_that_of_go() {
    for (text, expected) in [
        ("HTTPS://user:pa%20ss@example.com:8443/x#f", Some("https")),
        ("http://[::1]:80/x", Some("http")),
        ("mailto:x y", Some("mailto")),
        ("a:b", Some("a")),
        ("a.yaml", None),
        ("./a:b", None),
        (":a", None),
        ("1a:b", None),
        ("a_b:c", None),
        ("http://a b/", None),
        ("http://example.com/%zz", None),
        ("http://example.com:x/", None),
        ("http://example.com/a\u{7f}", None),
        ("", None),
    ] {
        assert_eq!(url_scheme(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn scheme_that_is_not_permitted_is_refused() {
    let cases = [
        ("values.yaml", None),
        ("/etc/passwd", None),
        ("https://example.org/v.yaml", None),
        ("HTTPS://example.org/v.yaml", None),
        ("file:///etc/passwd", Some("file")),
        ("S3://bucket/v.yaml", Some("s3")),
    ];
    for (text, expected) in cases {
        assert_eq!(refused_scheme(text, &["Https".to_owned()]).as_deref(), expected, "{text}");
    }
}
