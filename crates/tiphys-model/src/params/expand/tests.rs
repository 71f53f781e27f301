use super::{Piece, expand, pieces};

#[test]
fn references_are_replaced_as_in_os_expand() {
    let cases = [
        ("$A ${A} $AB ${AB}", "1 1 2 2"),
        ("$ABC-${NONE}-", "--"),
        ("$$A $$$A", "$A $1"),
        ("${A", "A"),
        ("${} ${", " "),
        ("$ $. $é a$", "$ $. $é a$"),
        ("$(A) {$A,b}", "$(A) {1,b}"),
        ("$", "$"),
        ("", ""),
        ("$10 $*x $-x ${*}x ${1}0", "one0 x x x one0"),
        ("${A.B} $A.B", "dot 1.B"),
        ("${A:-d}", ""),
        ("${é}x ${A B} $a", "x  "),
        ("$$$$", "$$"),
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

#[test]
fn many_unclosed_braces_are_removed() {
    assert_eq!(expand(&"${".repeat(1 << 19), |_| Some("x")), "");
    assert_eq!(expand(&format!("{}a}}b", "${".repeat(1 << 19)), |_| Some("x")), "xb");
}

#[test]
fn pieces_have_references_as_written() {
    let variable = |name, written| Piece::Variable { name, written };
    let cases: [(&str, &[Piece<'_>]); 5] = [
        ("", &[]),
        ("a$A.b${B}", &[Piece::Text("a"), variable("A", "$A"), Piece::Text(".b"), variable("B", "${B}")]),
        ("$$A", &[Piece::Text("$"), Piece::Text("A")]),
        ("${}x$", &[Piece::Text("x"), Piece::Text("$")]),
        ("$1$.", &[variable("1", "$1"), Piece::Text("$"), Piece::Text(".")]),
    ];
    for (text, expected) in cases {
        assert_eq!(pieces(text).collect::<Vec<_>>(), expected, "{text}");
    }
}
