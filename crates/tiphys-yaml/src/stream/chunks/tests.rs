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
fn separator_lines_split_the_stream() {
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
fn leading_separator_is_part_of_the_chunk() {
    check(&[("---\na", &[("---\na\n", 1)]), ("---\n---\na", &[("---\n", 1), ("a\n", 3)])]);
}

#[test]
fn separator_line_may_contain_the_document() {
    check(&[("a\n--- {b: 1}\n--- |\n c\n", &[("a\n", 1), ("--- {b: 1}\n", 2), ("--- |\n c\n", 3)])]);
}

#[test]
fn directives_belong_to_the_next_document() {
    check(&[
        ("%YAML 1.2\n---\na", &[("%YAML 1.2\n---\na\n", 1)]),
        ("a\n...\n%YAML 1.2\n# c\n---\nb", &[("a\n...\n", 1), ("%YAML 1.2\n# c\n---\nb\n", 3)]),
        ("a\n...\n%YAML 1.2\n", &[("a\n...\n", 1)]),
        ("a: |\n%x\n---\nb", &[("a: |\n%x\n", 1), ("b\n", 4)]),
    ]);
}

#[test]
fn end_markers_alone_are_not_a_document() {
    check(&[("...\n", &[]), ("# c\n...\n---\na", &[("a\n", 4)])]);
}
