use super::{NameError, PathItem, escape_name, parse_name};
use crate::{INDEX_MAX, LEVELS_MAX, LIMITS};

fn key(text: &str) -> PathItem {
    PathItem::Key(text.to_owned())
}

fn keys(count: usize) -> Vec<PathItem> {
    vec![key("a"); count]
}

fn indexes(count: usize) -> Vec<PathItem> {
    [key("a")].into_iter().chain(vec![PathItem::Index(0); count]).collect()
}

#[test]
fn special_characters_of_a_name_are_escaped() {
    let cases = [
        (vec![key("a")], "a"),
        (vec![key("a"), key("b c"), PathItem::Index(0), PathItem::Index(12), key("d")], "a.b c[0][12].d"),
        (vec![key("prometheus.io/scrape")], r"prometheus\.io/scrape"),
        (vec![key(r"a\b=c,d[0]{e}")], r"a\\b\=c\,d\[0]{e}"),
    ];
    for (path, name) in cases {
        assert_eq!(escape_name(&path).as_deref(), Some(name));
        assert_eq!(parse_name(name), Ok(path));
    }
}

#[test]
fn unreachable_path_has_no_name() {
    let unreachable = [
        vec![],
        vec![PathItem::Index(0)],
        vec![key("")],
        vec![key("a"), key("")],
        vec![key("a"), PathItem::Index(INDEX_MAX + 1)],
        keys(LEVELS_MAX + 2),
        indexes(LIMITS.indexes_max + 1),
    ];
    for path in unreachable {
        assert_eq!(escape_name(&path), None, "{path:?}");
    }
    for path in
        [keys(LEVELS_MAX + 1), indexes(LIMITS.indexes_max), vec![key("a"), PathItem::Index(INDEX_MAX)]]
    {
        assert!(escape_name(&path).is_some(), "{path:?}");
    }
}

#[test]
fn invalid_name_is_rejected() {
    let name = |text: &str| text.to_owned();
    let index = |text: &str| NameError::Index { name: name(text) };
    let empty = |text: &str| NameError::EmptyKey { name: name(text) };
    let cases = [
        ("", empty("")),
        (".a", empty(".a")),
        ("a.", empty("a.")),
        ("a..b", empty("a..b")),
        ("[0]", empty("[0]")),
        ("a=b", NameError::Ends { name: name("a=b"), sign: '=' }),
        ("a[0],b", NameError::Ends { name: name("a[0],b"), sign: ',' }),
        ("a[", index("a[")),
        ("a[x]", index("a[x]")),
        ("a[-1]", index("a[-1]")),
        ("a[65537]", index("a[65537]")),
        ("a[0]b", index("a[0]b")),
    ];
    for (text, error) in cases {
        assert_eq!(parse_name(text), Err(error), "{text}");
    }
    let long = vec!["a"; LEVELS_MAX + 2].join(".");
    assert_eq!(parse_name(&long), Err(NameError::Levels { name: long.clone() }));
    let deep = format!("a{}", "[0]".repeat(LIMITS.indexes_max + 1));
    assert_eq!(parse_name(&deep), Err(NameError::Levels { name: deep.clone() }));
}
