//! Verbs and flags. The expected results were printed by Go 1.26.

use super::printf;
use crate::gotemplate::Limits;
use crate::gotemplate::limits::Budget;
use crate::gotemplate::value::{List, Value};

#[test]
fn verbs_and_flags_write_as_in_go() {
    let list = || Value::List(List::new(vec![Value::Int(1), "a".into(), Value::Nil]));
    let cases: &[(&str, &[Value], &str)] = &[
        (
            "%5d|%-5d|%05d|%+d|% d",
            &[Value::Int(42), Value::Int(42), Value::Int(-42), Value::Int(42), Value::Int(42)],
            "   42|42   |-0042|+42| 42",
        ),
        (
            "%x %X %o %b %c %q %U",
            &[
                Value::Int(255),
                "hi".into(),
                Value::Int(8),
                Value::Int(5),
                Value::Int(65),
                Value::Int(65),
                Value::Int(0x1F600),
            ],
            "ff 6869 10 101 A 'A' U+1F600",
        ),
        (
            "%6.2f|%e|%g|%v|%v",
            &[
                Value::Float(2.71428),
                Value::Float(1234.5),
                Value::Float(1e-7),
                Value::Float(1e6),
                Value::Float(123_456.75),
            ],
            "  2.71|1.234500e+03|1e-07|1e+06|123456.75",
        ),
        (
            "%s %v %q %d",
            &[list(), list(), list(), list()],
            "[%!s(int=1) a <nil>] [1 a <nil>] ['\\x01' \"a\" <nil>] [1 %!d(string=a) <nil>]",
        ),
        ("%#v %T", &[list(), list()], "[]interface {}{1, \"a\", interface {}(nil)} []interface {}"),
        ("%d %d", &[Value::Int(1)], "1 %!d(MISSING)"),
        ("x", &["y".into(), Value::Nil], "x%!(EXTRA string=y, <nil>)"),
        ("%[2]d %[1]d %[3]d", &[Value::Int(1), Value::Int(2)], "2 1 %!d(BADINDEX)"),
        ("%*d|%.*f", &[Value::Int(5), Value::Int(1), Value::Int(2), Value::Float(2.71428)], "    1|2.71"),
        ("%!|%|%z", &[Value::Int(1)], "%!!(int=1)|%!|(MISSING)%!z(MISSING)"),
        ("%t %s", &[Value::Bool(true), Value::Float(8080.0)], "true %!s(float64=8080)"),
    ];
    for (format, values, expected) in cases {
        let written =
            printf(&mut Budget::new(Limits::DEFAULT), format.as_bytes(), values).expect("within the limits");
        assert_eq!(String::from_utf8_lossy(&written), *expected, "{format}");
    }
}
