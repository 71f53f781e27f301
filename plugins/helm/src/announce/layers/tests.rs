use tiphys_helm_values::parse_name;

use super::{Written, below_parent, written};

/// A name, and the line and value that it has.
type Case = (&'static str, Option<(usize, Option<&'static str>)>);

fn at(text: &str, name: &str) -> Option<(usize, Option<String>)> {
    let found = written(text.as_bytes(), &parse_name(name).expect("a name"), 1_000);
    found.map(|Written { line, text }| (line, text))
}

#[test]
fn value_is_found_at_the_line_of_its_key() {
    let text =
        "a: 1\nb:\n  c: text\n  'd.e': 1e3\nlist:\n- x\n- z: [1]\nnothing: ~\na: 2\n---\nb:\n  c: last\n";
    let cases: [Case; 8] = [
        ("a", Some((9, Some("2")))),
        ("b.c", Some((12, Some("last")))),
        (r"b.d\.e", Some((4, Some("1000")))),
        ("list[0]", Some((6, Some("x")))),
        ("list[1].z", Some((7, Some("[1]")))),
        ("list[2]", None),
        ("nothing", Some((8, None))),
        ("a.b", None),
    ];
    for (name, expected) in cases {
        let expected = expected.map(|(line, text)| (line, text.map(str::to_owned)));
        assert_eq!(at(text, name), expected, "{name}");
    }
    assert_eq!(at("a: [", "a"), None);
}

#[test]
fn path_below_an_import_is_relative_to_its_parent() {
    let path = parse_name("a.b.c").expect("a name");
    assert_eq!(below_parent(&path, "."), Some(path.as_slice()));
    assert_eq!(below_parent(&path, "a.b"), Some(&path[2..]));
    assert_eq!(below_parent(&path, "b"), None);
}
