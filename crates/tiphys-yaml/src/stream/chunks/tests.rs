use super::*;

#[track_caller]
fn check(cases: &[(&str, &[(&str, usize)])]) {
    for (text, expected) in cases {
        let chunks = split(text, Position::START);
        let found: Vec<(&str, usize)> =
            chunks.iter().map(|chunk| (&*chunk.text, chunk.position.line)).collect();
        assert_eq!(found, *expected, "{text:?}");
    }
}

#[test]
fn lines_that_begin_with_three_dashes_separate() {
    check(&[
        ("", &[]),
        ("a", &[("a\n", 1)]),
        ("a\n---\nb\n", &[("a\n", 1), ("b\n", 3)]),
        ("a\n--- # comment\nb", &[("a\n", 1), ("b\n", 3)]),
        ("a\n---# comment\nb", &[("a\n", 1), ("b\n", 3)]),
        ("a\n---\u{b}\nb", &[("a\n", 1), ("b\n", 3)]),
        ("a\r\n---\r\nb", &[("a\r\n", 1), ("b\n", 3)]),
        ("a\n ---\nb", &[("a\n ---\nb\n", 1)]),
        ("a\n----\nb", &[("a\n----\nb\n", 1)]),
    ]);
}

#[test]
fn a_separator_before_any_text_is_kept() {
    check(&[("---\na", &[("---\na\n", 1)]), ("---\n---\na", &[("---\n", 1), ("a\n", 3)])]);
}

#[test]
fn content_after_a_separator_begins_a_document() {
    check(&[("a\n--- {b: 1}\n--- |\n c\n", &[("a\n", 1), ("--- {b: 1}\n", 2), ("--- |\n c\n", 3)])]);
}

#[test]
fn directives_go_with_the_document_that_follows() {
    check(&[
        ("%YAML 1.2\n---\na", &[("%YAML 1.2\n---\na\n", 1)]),
        ("a\n...\n%YAML 1.2\n# c\n---\nb", &[("a\n...\n", 1), ("%YAML 1.2\n# c\n---\nb\n", 3)]),
        ("a\n...\n%YAML 1.2\n", &[("a\n...\n", 1)]),
        ("a: |\n%x\n---\nb", &[("a: |\n%x\n", 1), ("b\n", 4)]),
    ]);
}

#[test]
fn end_markers_alone_are_no_document() {
    check(&[("...\n", &[]), ("# c\n...\n---\na", &[("a\n", 4)])]);
}
