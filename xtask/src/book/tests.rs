//! Tests of parsed pages, links and unlisted pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::html::read;
use super::pages::{broken_links, unlisted};

#[test]
fn links_and_anchors_are_found_in_tags_only() {
    let cases: [(&str, &[&str], &[&str]); 9] = [
        (r#"<a href="x.html">y</a><img src="z.png">"#, &["x.html", "z.png"], &[]),
        (r##"<h2 id="a-b"><a class="header" href="#a-b">A b</a></h2>"##, &["#a-b"], &["a-b"]),
        (r#"<p>href="no" id="no" a < b href="no"</p>"#, &[], &[]),
        (r#"<script>let a = '<a href="no">';</script><a href="yes">"#, &["yes"], &[]),
        (r#"<script src="s.js"></script>"#, &["s.js"], &[]),
        (r#"<!-- <a href="no"> --><a href='yes'>"#, &["yes"], &[]),
        (r#"<a href="a?b=1&amp;c=2" title="x > y" id=plain>"#, &["a?b=1&c=2"], &["plain"]),
        (r#"<input disabled id="i"/><br/><a = href="x">"#, &["x"], &["i"]),
        (r#"<a href="never ends"#, &["never ends"], &[]),
    ];
    for (html, targets, anchors) in cases {
        let page = read(html);
        assert_eq!(page.targets, targets, "{html}");
        assert_eq!(page.anchors.iter().collect::<Vec<_>>(), anchors, "{html}");
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

#[test]
fn link_is_valid_if_page_and_heading_are_in_the_book() {
    let book = tempfile::tempdir().unwrap();
    write(book.path(), "reference/files.html", "");
    write(book.path(), "picture.png", "");
    let cases = [
        ("#a", None),
        ("#b", Some("but there is no such heading")),
        ("#", None),
        ("files.html#a", None),
        ("files.html?x#a", None),
        ("../reference/files.html", None),
        ("../picture.png", None),
        ("../picture.png#a", Some("but there is no such heading")),
        ("other.html", Some("which is not in the book")),
        ("../reference", Some("which is not in the book")),
        ("../../ARCHITECTURE.md", Some("which leads out of the book")),
        ("/files.html", Some("which only a server at the root of a host has")),
        ("https://example.com/#x", None),
        ("mailto:a@example.com", None),
        ("//example.com", None),
    ];
    for (target, problem) in cases {
        let pages = BTreeMap::from([
            ("picture.png".to_owned(), read("")),
            ("reference/files.html".to_owned(), read(&format!(r#"<h2 id="a"><a href="{target}">"#))),
        ]);
        let expected: Vec<String> = problem
            .iter()
            .map(|problem| format!("reference/files.html: links {target}, {problem}"))
            .collect();
        assert_eq!(broken_links(book.path(), &pages), expected, "{target}");
    }
}

#[test]
fn unlisted_page_is_a_problem() {
    let docs = tempfile::tempdir().unwrap();
    write(docs.path(), "SUMMARY.md", "# Summary\n\n- [A](a.md)\n  - [B](./reference/b.md)\n- [Draft]()\n");
    write(docs.path(), "a.md", "");
    write(docs.path(), "reference/b.md", "");
    write(docs.path(), "book.toml", "");
    assert_eq!(unlisted(docs.path()).unwrap(), [""; 0]);
    write(docs.path(), "reference/c.md", "");
    let problems = unlisted(docs.path()).unwrap();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].ends_with("SUMMARY.md: reference/c.md is not in the book; add a line for it"),
        "{problems:?}"
    );
}
