use std::time::Duration;

use super::parse_timeout;

#[test]
fn timeout_header_is_digits_and_a_unit() {
    let cases = [
        ("90S", Some(Duration::from_secs(90))),
        ("2H", Some(Duration::from_hours(2))),
        ("3M", Some(Duration::from_mins(3))),
        ("59999m", Some(Duration::from_millis(59_999))),
        ("7u", Some(Duration::from_micros(7))),
        ("99999999n", Some(Duration::from_nanos(99_999_999))),
        ("", None),
        ("S", None),
        ("123456789m", None),
        ("-1S", None),
        ("5é", None),
        ("5x", None),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_timeout(text), expected, "{text:?}");
    }
}
