//! Rules and paths; the real helm loads the same files.

use super::{IgnoreError, IgnoreRules};
use crate::assert_as_helm;

/// The files of a chart.
const FILES: [&str; 8] = [
    ".helmignore",
    "Chart.yaml",
    "README.md",
    "docs/README.md",
    "docs/deep/a.txt",
    "templates/.hidden.yaml",
    "templates/a.yaml",
    "templates/sub/.b.yaml",
];

/// Returns the content of `.helmignore` with the files that are loaded.
fn cases() -> Vec<(&'static str, Vec<&'static str>)> {
    let all_but = |ignored: &[&str]| FILES.into_iter().filter(|file| !ignored.contains(file)).collect();
    let hidden = "templates/.hidden.yaml";
    let docs = ["docs/README.md", "docs/deep/a.txt", hidden];
    vec![
        ("", all_but(&[hidden])),
        ("# comment\n\n   \r\n", all_but(&[hidden])),
        ("\u{feff}README.md", all_but(&["README.md", "docs/README.md", hidden])),
        ("  README.md \r\n", all_but(&["README.md", "docs/README.md", hidden])),
        ("/README.md", all_but(&["README.md", hidden])),
        ("docs/README.md", all_but(&["docs/README.md", hidden])),
        ("docs", all_but(&docs)),
        ("docs/", all_but(&docs)),
        ("/docs/", all_but(&docs)),
        ("README.md/", all_but(&[hidden])),
        ("deep/", all_but(&["docs/deep/a.txt", hidden])),
        ("docs/*", all_but(&docs)),
        ("d*/d*", all_but(&["docs/deep/a.txt", hidden])),
        ("*.txt", all_but(&["docs/deep/a.txt", hidden])),
        ("[A-R]*", all_but(&["Chart.yaml", "README.md", "docs/README.md", hidden])),
        // Everything that does not match is ignored, directories included.
        ("!*.md", vec!["README.md"]),
        ("!docs/", vec![]),
        ("!*.yaml\nChart.yaml", vec![]),
        ("/", all_but(&[hidden])),
        ("!", vec![]),
    ]
}

#[test]
fn rules_ignore_files_as_in_helm() {
    for (text, expected) in cases() {
        let rules = IgnoreRules::parse(text.as_bytes(), 10).unwrap();
        let loaded: Vec<&str> = FILES.into_iter().filter(|file| !rules.ignores(file)).collect();
        assert_eq!(loaded, expected, "{text:?}");
    }
}

#[test]
fn real_helm_ignores_the_same_files() {
    for (text, _) in cases() {
        let files = FILES.map(|path| match path {
            ".helmignore" => (path, text.as_bytes()),
            "Chart.yaml" => (path, &b"name: c\nversion: 1.0.0\n"[..]),
            path => (path, &[][..]),
        });
        assert_as_helm(&files);
    }
}

#[test]
fn invalid_rules_are_rejected() {
    for (text, expected) in [
        ("a\n**/b", "double-star (**) syntax is not supported"),
        ("# **", ""),
        ("a[", "syntax error in pattern"),
        ("a\nb\nc", ".helmignore has more than 2 rules; remove some"),
        ("a\n\n# b\nc", ""),
    ] {
        let error = IgnoreRules::parse(text.as_bytes(), 2).err();
        assert_eq!(error.as_ref().map(IgnoreError::to_string).unwrap_or_default(), expected, "{text:?}");
    }
}

#[test]
fn rules_that_are_not_utf8_match_bytes() {
    let rules = IgnoreRules::parse(b" a?\xff \n\xff*", 10).unwrap();
    assert!(!rules.ignores("ab"));
}
