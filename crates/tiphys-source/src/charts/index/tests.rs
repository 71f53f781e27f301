use super::{Index, select};

#[test]
fn an_index_is_read_as_texts_and_what_is_no_version_left_out() {
    let text = b"entries:\n  web:\n  - {version: 1.10, urls: [a.tgz, b.tgz]}\n  - null\n  - {urls: [c.tgz]}\n  none: null\n";
    let index = Index::read(text).expect("it is one");
    let versions = index.versions("web").expect("it is there");
    let found: Vec<_> = versions.iter().map(|entry| (entry.version.as_str(), entry.url.as_str())).collect();
    assert_eq!(found, [("1.10", "a.tgz")]);
    assert!(index.versions("none").is_none() && index.versions("other").is_none());
}

#[test]
fn the_very_version_comes_before_the_newest_that_it_stands_for() {
    let text = b"entries: {web: [{version: 1.2.9}, {version: '1.2'}, {version: 2.0.0}, {version: v3.1.0}]}";
    let index = Index::read(text).expect("it is one");
    let versions = index.versions("web").expect("it is there");
    for (wanted, expected) in [
        ("1.2", Some("1.2")),
        ("1.2.9", Some("1.2.9")),
        ("2", Some("2.0.0")),
        ("3.1.0", Some("v3.1.0")),
        ("4.0.0", None),
        ("nonsense", None),
    ] {
        let found = select(versions, wanted).map(|entry| entry.version.as_str());
        assert_eq!(found, expected, "{wanted}");
    }
}
