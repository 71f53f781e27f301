use super::expand;

#[test]
fn references_are_replaced_by_the_rules_of_os_expand() {
    let cases = [
        ("$A ${A} $AB ${AB}", "1 1 2 2"),
        ("$ABC-${NONE}-", "--"),
        ("$$A $$$A", "$A $1"),
        ("${A", "A"),
        ("${} ${", " "),
        ("$ $. $é a$", "$ $. $é a$"),
        ("$10 $*x", "one0 x"),
        ("${A.B} $A.B", "dot 1.B"),
        ("${A:-d}", ""),
        ("é$A日", "é1日"),
    ];
    let lookup = |name: &str| match name {
        "A" => Some("1"),
        "AB" => Some("2"),
        "1" => Some("one"),
        "A.B" => Some("dot"),
        _ => None,
    };
    for (text, expected) in cases {
        assert_eq!(expand(text, lookup), expected, "{text}");
    }
}
