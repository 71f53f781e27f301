use super::level_ends;

#[test]
fn levels_end_at_dots_and_brackets_without_backslash() {
    let cases: [(&str, &[usize]); 6] = [
        ("image", &[]),
        ("image.tag", &[5]),
        (r"a.b\.c.d", &[1, 6]),
        (r"a\\.b", &[3]),
        ("list[0].x", &[4, 7]),
        ("a=b", &[]),
    ];
    for (name, expected) in cases {
        assert_eq!(level_ends(name).collect::<Vec<_>>(), expected, "{name}");
    }
}
