use super::{source_permitted, unmatched_source_repos};
use crate::resources::AppProject;

/// Replaces the normalization of URLs.
fn lower_case(url: &str) -> String {
    url.to_lowercase()
}

fn permitted(patterns: &[&str], urls: &[&str]) -> bool {
    let patterns: Vec<String> = patterns.iter().map(|one| (*one).to_owned()).collect();
    source_permitted(&patterns, urls, &lower_case)
}

#[test]
fn patterns_permit_and_deny_as_in_argo_cd() {
    let cases: &[(&[&str], &str, bool)] = &[
        (&["*"], "https://a.example.com/x", true),
        (&[], "https://a.example.com/x", false),
        (&["https://a.example.com/*"], "https://a.example.com/x", true),
        (&["https://a.example.com/*"], "https://a.example.com/x/y", false),
        (&["https://a.example.com/**"], "https://a.example.com/x/y", true),
        (&["https://A.example.com/x"], "https://a.example.com/X", true),
        (&["https://{a,b}.example.com/[x-z]?"], "https://b.example.com/y1", true),
        (&["https://{a,b}.example.com/[!x-z]"], "https://b.example.com/y", false),
        (&["https://a.example.com/x"], "https://a.example.com/xy", false),
        (&["!https://A.example.com/*"], "https://a.example.com/x", false),
        (&["!https://a.example.com/*"], "https://b.example.com/x", true),
        (&["*", "!https://a.example.com/*"], "https://a.example.com/x", false),
        (&["!**"], "https://a.example.com/x", false),
        (&["!https://a[.example.com"], "https://b.example.com/x", true),
        (&["https://{a.example.com/x"], "https://{a.example.com/x", false),
        (&[r"https://\*.example.com/x"], "https://a.example.com/x", false),
    ];
    for (patterns, url, expected) in cases {
        assert_eq!(permitted(patterns, &[url]), *expected, "{patterns:?} {url}");
    }
}

#[test]
fn one_matching_spelling_permits_or_denies() {
    let spellings = ["r.example.com:5000/charts", "oci://r.example.com:5000/charts"];
    let cases: &[(&[&str], bool)] = &[
        (&["r.example.com:5000/*"], true),
        (&["oci://r.example.com:5000/charts"], true),
        (&["oci://other.example.com/*"], false),
        (&["*", "!oci://r.example.com:5000/*"], false),
        (&["*", "!r.example.com:5000/*"], false),
        // `!` alone would permit the other spelling, which the pattern does not match.
        (&["!r.example.com:5000/*"], false),
        (&["!oci://r.example.com:5000/*"], false),
        (&["!oci://other.example.com/*"], true),
    ];
    for (patterns, expected) in cases {
        assert_eq!(permitted(patterns, &spellings), *expected, "{patterns:?}");
        assert_eq!(permitted(patterns, &[spellings[1], spellings[0]]), *expected, "{patterns:?}");
    }
}

#[test]
fn oversized_pattern_permits_nothing_and_denies_everything() {
    let url = "https://a.example.com/x";
    for oversized in ["{a,b}".repeat(12), "a".repeat(2_000)] {
        assert!(!permitted(&[&oversized], &[&"a".repeat(12)]));
        assert!(!permitted(&["*", &format!("!{oversized}")], &[url]));
        assert!(!permitted(&[&format!("!{oversized}"), "*"], &[url]));
    }
    assert!(permitted(&[&"{a,b}".repeat(3)], &["aaa"]));
}

#[test]
fn denial_covers_equivalent_urls_but_permission_does_not() {
    const SECRET: &str = "https://git.example.com/team/secret";
    const SSH: &str = "git@git.example.com:team/secret.git";
    let same: &[(&str, &[&str])] = &[
        (
            SECRET,
            &[
                "HTTPS://GIT.example.com/team/secret.git",
                "https://git.example.com:443/team/secret",
                "https://git.example.com:/team/secret",
                "https://git.example.com:0443/team/secret",
                "https://bob@git.example.com/team/secret",
                "https://bob:p@ss@git.example.com/team/secret",
                "https://git.example.com./team/secret",
                "https://git.example.com/team//secret/",
                "https://git.example.com/./team/secret.git/",
                "https://git.example.com/other/../team/secret",
                "https://git.example.com/team/%73ecret",
                "https://git.example.com/team%2Fsecret",
                "https://git.example.com/%2e%2e/team/secret",
                "https://git.example.com/team/secret?x=%zz",
                "https://git.example.com/team/secret#x",
                "https://git.example.com/team/secret/.git",
                "https://git.example.com/team/secret.git/.git/",
                "https://git.ex%61mple.com/team/secret",
                "https://git.%45xample.com/team/secret",
                "https:///git.example.com/team/secret",
                " https://git.example.com/team/secret ",
            ],
        ),
        (
            SSH,
            &[
                "ssh://git@git.example.com/team/secret",
                "ssh://git@git.example.com:22/team/secret.git",
                "ssh://git.example.com/team/secret",
                "git+ssh://bob@git.example.com/team/secret",
                "git@git.example.com:/team/secret",
                "bob@GIT.example.com:team/secret/",
                "git.example.com:team/secret",
                "git.example.com:team/secret/.git",
                "ssh://git%40git.example.com/team/secret",
                "ssh://git:a?b@git.example.com/team/secret",
                "ssh://git@git.example.com%3A22%2Fteam/secret",
                "ssh://git@git.example.com:+22/team/secret",
                "ssh://git@git.example.com/x?/../team/secret",
            ],
        ),
        ("ssh://git@git.example.com:22/team/secret", &[SSH, "ssh+git://git.example.com/team/secret"]),
        ("http://git.example.com:80/team/secret/", &["http://git.example.com/team/secret"]),
        ("https://*.example.com:443/team/*", &[SECRET, "https://x@git.example.com./team/secret"]),
        ("https://git.example.com/team/secre?", &[SECRET, "https://git.example.com:443/team/secret"]),
        ("oci://r.example.com/charts", &["oci://r.example.com:443/charts", "oci://bob@r.example.com/charts"]),
        (
            "r.example.com/charts",
            &["r.example.com/charts/", "r.example.com/./charts", "oci://r.example.com/charts"],
        ),
        ("oci://r.example.com/charts", &["r.example.com/charts", "bob:p@r.example.com:443/charts"]),
        ("oci://r.example.com:5000/charts", &["r.example.com:5000/charts", "r.example.com:05000/charts"]),
        (
            "r.example.com:5000/charts",
            &["oci://r.example.com:05000/charts", "oci://r.example.com.:5000/charts"],
        ),
        ("https://git.example.com:8443/x", &["https://git.example.com:08443/x"]),
        ("http://127.0.0.1/x", &["http://[::ffff:127.0.0.1]/x", "http://[::ffff:7f00:1]:80/x"]),
        (r"http://\[::1\]/x", &["http://[0:0:0:0:0:0:0:1]/x"]),
        ("file:///srv/secret", &["file://srv/secret.git", "file:///srv/%73ecret"]),
    ];
    for (pattern, urls) in same {
        let denial = format!("!{pattern}");
        for url in *urls {
            assert!(!permitted(&["*", &denial], &[url]), "{denial} {url}");
        }
    }
    for (pattern, url) in [
        (SECRET, "https://git.example.com/team/secret2"),
        (SECRET, "https://git.example.com:8443/team/secret"),
        (SECRET, "https://git.example.com:1443/team/secret"),
        (SECRET, "https://git.example.com.evil.org/team/secret"),
        (SECRET, "http://git.example.com/team/secret"),
        (SECRET, SSH),
        (SSH, "ssh://git@git.example.com:2222/team/secret"),
        ("https://git.example.com/team/*", "https://git.example.com/team/a/b"),
        (SSH, "git.example.com:team/other"),
        (SECRET, "git@github.com:team/secret.git"),
        (SECRET, "http://10.0.0.1:8080/x"),
        (SECRET, "http://[fd00::1]:8080/x"),
        (SECRET, "my_host:5000/charts"),
        (SECRET, "[fd00::1]:5000/charts"),
        (SECRET, "file:///srv/charts"),
        ("oci://r.example.com/charts", "r.example.com:5000/charts"),
        ("", SECRET),
        ("*", SECRET),
    ] {
        assert!(permitted(&["*", &format!("!{pattern}")], &[url]), "!{pattern} {url}");
    }
    for url in ["https://git.example.com:443/team/secret", "https://bob@git.example.com/team/secret"] {
        assert!(!permitted(&[SECRET], &[url]), "{url}");
    }
}

#[test]
fn ambiguous_host_is_denied_if_project_denies_anything() {
    for url in [
        "http://\u{ff4c}ocalhost/x",
        "http://127\u{3002}0\u{3002}0\u{3002}1/x",
        "http://%EF%BD%8Cocalhost/x",
        "http://2130706433/x",
        "http://0x7f000001/x",
        "http://0177.0.0.1/x",
        "http://127.1/x",
        "http://127.0.0.0x1./x",
        "http://[fe80::1%25eth0]/x",
        "http://git.example.com: 80/x",
        "ssh://git@2130706433/x",
        "git@2130706433:x",
        "oci://\u{ff4c}ocalhost/x",
        "\u{ff4c}ocalhost/x",
        "https:///x",
    ] {
        assert!(!permitted(&["*", "!https://other.example.com/x"], &[url]), "{url}");
        assert!(permitted(&["*"], &[url]), "{url}");
    }
}

#[test]
fn pattern_that_matches_no_repository_is_found() {
    let encoded = |normalized: &str| Some(format!("Argo CD compares it as {normalized:?}; "));
    let rejected = || Some("Argo CD rejects it as a URL; ".to_owned());
    for (pattern, expected) in [
        ("*", None),
        ("**", None),
        ("https://git.example.com/team-?/[a-z]*", None),
        ("https://*.example.com/**.git", None),
        ("https://dev.azure.com/org/My%20Project/_git/*", None),
        ("git@git.example.com:team/*", None),
        ("!ssh://git@git.example.com/*/secret", None),
        ("https://git.example.com/{a,b}/*", encoded("https://git.example.com/%7Ba,b%7D/%2A")),
        ("!https://git.example.com/{a,b}", encoded("https://git.example.com/%7Ba,b%7D")),
        ("git@git.example.com:{a,b}/x", encoded("git@git.example.com/%7Ba,b%7D/x")),
        (
            "https://dev.azure.com/org/My Project/_git/*",
            encoded("https://dev.azure.com/org/my%20project/_git/%2A"),
        ),
        ("https://git.example.com/[^a]x", encoded("https://git.example.com/%5B%5Ea%5Dx")),
        ("https://git.example.com/\\{a", encoded("https://git.example.com/%5C%7Ba")),
        ("https://*@git.example.com/x", encoded("https://%2A@git.example.com/x")),
        ("{http,https}://git.example.com/*", rejected()),
        ("*://git.example.com/*", rejected()),
        ("!https://git.{a,b}.example.com/*", rejected()),
        ("https://git.example.com:*/x", rejected()),
        ("https://git.example.com/%zz", rejected()),
        ("", rejected()),
    ] {
        let mut project = AppProject::shipped_default();
        project.spec.source_repos = vec!["*".to_owned(), pattern.to_owned()];
        let found = unmatched_source_repos(&project);
        let expected = expected.map(|reason| {
            let field = "project 'default': spec.sourceRepos[1]";
            let denies_nothing = if pattern.starts_with('!') {
                ", so it denies nothing and permits everything else"
            } else {
                ""
            };
            format!("{field}: pattern {pattern:?} matches no repository{denies_nothing}: {reason}")
        });
        match (&found[..], expected) {
            ([], None) => {}
            ([error], Some(expected)) => assert!(error.to_string().starts_with(&expected), "{error}"),
            (_, expected) => panic!("{pattern}: {found:?} instead of {expected:?}"),
        }
    }
}
