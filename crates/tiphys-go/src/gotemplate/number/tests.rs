//! Numbers. The expected results were printed by Go 1.26.

use super::{Form, format, general, parse_float, parse_signed, to_integer};

#[test]
fn floats_are_written_as_in_go() {
    let cases = [
        (999_999.0, "999999"),
        (1e6, "1e+06"),
        (1_234_567.0, "1.234567e+06"),
        (100_000.5, "100000.5"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-0.0, "-0"),
        (1e21, "1e+21"),
        (5e-324, "5e-324"),
        (f64::INFINITY, "+Inf"),
        (f64::NAN, "NaN"),
    ];
    for (number, expected) in cases {
        assert_eq!(general(number), expected);
    }
    assert_eq!(format(1234.5678, Form::General, Some(3)), "1.23e+03");
    assert_eq!(format(100.0, Form::General, Some(6)), "100");
    assert_eq!(format(0.15625, Form::Hexadecimal, None), "0x1.4p-03");
    assert_eq!(format(0.0, Form::Hexadecimal, None), "0x0p+00");
    assert_eq!(format(1.0, Form::Binary, None), "4503599627370496p-52");
}

#[test]
fn numbers_are_read_as_in_go() {
    let integers = [
        ("0x1F", Some(31)),
        ("0o17", Some(15)),
        ("017", Some(15)),
        ("0b11", Some(3)),
        ("1_000", Some(1000)),
        ("1__0", None),
        ("-9223372036854775808", Some(i64::MIN)),
        ("9223372036854775808", None),
        ("08", None),
        ("", None),
    ];
    for (text, expected) in integers {
        assert_eq!(parse_signed(text), expected, "{text}");
    }
    let floats = [
        ("1_0.5", Some(10.5)),
        ("_1", None),
        ("1e400", None),
        ("0x1p-2", Some(0.25)),
        ("inf", Some(f64::INFINITY)),
    ];
    for (text, expected) in floats {
        assert_eq!(parse_float(text), expected, "{text}");
    }
    assert_eq!((to_integer(-3.9), to_integer(1e300), to_integer(f64::NAN)), (-3, i64::MIN, i64::MIN));
}
