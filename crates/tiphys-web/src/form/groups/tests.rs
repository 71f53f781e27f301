use super::first_part;

#[test]
fn first_part_ends_at_a_dot_or_bracket() {
    let cases = [
        ("image.tag", Some("image")),
        ("hosts[0]", Some("hosts")),
        ("replicas", None),
        (r"example\.com.x", Some(r"example\.com")),
        (".x", None),
    ];
    for (name, part) in cases {
        assert_eq!(first_part(name), part, "{name}");
    }
}
