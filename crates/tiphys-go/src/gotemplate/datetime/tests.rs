//! Dates and durations. The expected results were printed by Go 1.26.

use super::{DateTime, duration_string, parse, parse_duration};

#[test]
fn dates_are_read_and_written_by_layouts() {
    let cases = [
        ("2006-01-02", "2024-02-29", "2024-02-29T00:00:00Z"),
        ("Jan _2 06 3:04PM", "feb  3 69 12:30AM", "1969-02-03T00:30:00Z"),
        ("2006-01-02T15:04:05Z07:00", "2024-01-01T00:00:00.5+05:30", "2024-01-01T00:00:00.5+05:30"),
        ("2006 002", "2024 366", "2024-12-31T00:00:00Z"),
    ];
    for (layout, value, expected) in cases {
        let date = parse(layout.as_bytes(), value.as_bytes()).expect("a date");
        assert_eq!(date.rfc3339(), expected, "{layout}");
    }
    let invalid = [
        ("2006-01-02", "2024-02-30", "parsing time \"2024-02-30\": day out of range"),
        (
            "2006-01-02",
            "24-1-1",
            "parsing time \"24-1-1\" as \"2006-01-02\": cannot parse \"24-1-1\" as \"2006\"",
        ),
        ("2006", "2024x", "parsing time \"2024x\": extra text: \"x\""),
    ];
    for (layout, value, expected) in invalid {
        let error = parse(layout.as_bytes(), value.as_bytes()).expect_err("an error");
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(DateTime::zero().to_string(), "0001-01-01 00:00:00 +0000 UTC");
}

#[test]
fn durations_are_read_and_written() {
    let cases = [
        ("1h30m5.5s", "1h30m5.5s"),
        ("-90m", "-1h30m0s"),
        ("1.5h", "1h30m0s"),
        ("100ms", "100ms"),
        ("1us", "1µs"),
        ("0", "0s"),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_duration(text).map(duration_string), Ok(expected.to_owned()), "{text}");
    }
    let unknown = Err("time: unknown unit \"d\" in duration \"1d\"".to_owned());
    assert_eq!(parse_duration("1d"), unknown);
}
