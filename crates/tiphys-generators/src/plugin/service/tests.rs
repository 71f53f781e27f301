use std::time::Duration;

use super::timeout;

#[test]
fn request_timeout_is_read_as_go_does() {
    let day = Duration::from_hours(24);
    for (text, expected) in [
        ("5", Ok(Duration::from_secs(5))),
        ("+5", Ok(Duration::from_secs(5))),
        ("007", Ok(Duration::from_secs(7))),
        ("0", Ok(Duration::ZERO)),
        ("-1", Ok(day)),
        ("9223372036854775807", Ok(day)),
        ("", Err("invalid syntax")),
        ("+", Err("invalid syntax")),
        (" 5", Err("invalid syntax")),
        ("5s", Err("invalid syntax")),
        ("1_0", Err("invalid syntax")),
        ("9223372036854775808", Err("value out of range")),
    ] {
        let expected = expected.map_err(|problem| {
            format!("error set requestTimeout : strconv.Atoi: parsing {text:?}: {problem}")
        });
        assert_eq!(timeout(text), expected);
    }
}
