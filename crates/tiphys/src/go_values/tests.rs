use std::time::Duration;

use super::duration;

#[test]
fn durations_are_parsed_like_in_go() {
    let nanoseconds = |count| Some(Duration::from_nanos(count));
    let cases = [
        ("90s", nanoseconds(90_000_000_000)),
        ("1h30m", nanoseconds(5_400_000_000_000)),
        ("1.5s", nanoseconds(1_500_000_000)),
        (".5s", nanoseconds(500_000_000)),
        ("1.s", nanoseconds(1_000_000_000)),
        ("+2m", nanoseconds(120_000_000_000)),
        ("1m1m", nanoseconds(120_000_000_000)),
        ("300ms", nanoseconds(300_000_000)),
        ("7us", nanoseconds(7_000)),
        ("7\u{b5}s", nanoseconds(7_000)),
        ("7\u{3bc}s", nanoseconds(7_000)),
        ("9ns", nanoseconds(9)),
        ("0.9ns", nanoseconds(0)),
        ("0.333333333333333333333h", nanoseconds(1_199_999_999_999)),
        ("0", nanoseconds(0)),
        ("+0", nanoseconds(0)),
        ("0s", nanoseconds(0)),
        ("9223372036854775807ns", nanoseconds(i64::MAX.unsigned_abs())),
        ("9223372036854775808ns", None),
        ("99999999999999999999999999999999999999999h", None),
        ("340282366920938463463374607431768211455h", None),
        ("2562048h", None),
        ("", None),
        ("+", None),
        ("90", None),
        ("s", None),
        (".s", None),
        ("-1s", None),
        ("1 s", None),
        ("1d", None),
        ("1s2", None),
        ("1S", None),
        ("٣s", None),
    ];
    for (text, expected) in cases {
        assert_eq!(duration(text), expected, "{text:?}");
    }
}
