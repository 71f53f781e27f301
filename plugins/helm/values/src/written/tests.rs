//! Commas are escaped as in Argo CD's own tests; values as Helm interprets them.

use super::{assignment_text, escape_text, held_value};
use crate::{Flag, Value};

#[test]
fn commas_are_escaped_as_argo_cd_does() {
    let cases = [
        ("not, clean", r"not\, clean"),
        (r"a\,b,c", r"a\,b\,c"),
        ("{a,b,c}", "{a,b,c}"),
        (r",,,,,\,", r"\,\,\,\,\,\,"),
        (r"\,\\,,", r"\,\\,\,"),
        ("{a,b", r"{a\,b"),
        (r"a\b=c.d[0] 'q'", r"a\b=c.d[0] 'q'"),
        ("", ""),
    ];
    for (value, expected) in cases {
        assert_eq!(assignment_text("n,a", value), format!("n,a={expected}"));
    }
}

#[test]
fn written_values_are_interpreted_as_helm_does() {
    let text = |text: &str| Some(Value::Text(text.to_owned()));
    let one = |item: Value| Some(Value::List(vec![item]));
    let x = || Value::Text("x".to_owned());
    let cases = [
        (r"a\b", text("ab"), text("ab")),
        (r"a\\b", text(r"a\b"), text(r"a\b")),
        ("{x}", one(x()), one(x())),
        (r"\{x}", text("{x}"), text("{x}")),
        ("{1}", one(Value::Integer(1)), one(Value::Text("1".to_owned()))),
        ("a,b", text("a,b"), text("a,b")),
        ("5", Some(Value::Integer(5)), text("5")),
        ("2.5", text("2.5"), text("2.5")),
        ("9223372036854775808", text("9223372036854775808"), text("9223372036854775808")),
        ("True", Some(Value::Bool(true)), text("True")),
        ("null", Some(Value::Null), text("null")),
        ("", text(""), text("")),
        ("{a", None, None),
        (r"a\\,b", None, None),
        (r"a\\,b=1", None, None),
    ];
    for (written, set, set_string) in cases {
        assert_eq!(held_value(Flag::Set, written), set, "{written}");
        assert_eq!(held_value(Flag::SetString, written), set_string, "{written}");
    }
}

#[test]
fn strings_are_written_with_the_fewest_backslashes() {
    let cases = [
        ("a,b=c.d[0]", "a,b=c.d[0]"),
        (r"a\b", r"a\\b"),
        (r"a\,b", r"a\\\,b"),
        ("{x}", r"\{x}"),
        ("{", r"\{"),
        ("a{x}", "a{x}"),
        ("", ""),
    ];
    for (text, written) in cases {
        assert_eq!(escape_text(text), written);
        assert_eq!(held_value(Flag::SetString, written), Some(Value::Text(text.to_owned())));
    }
}
