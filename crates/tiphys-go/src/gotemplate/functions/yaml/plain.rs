//! Which strings go-yaml reads as strings without quotes.

use std::sync::LazyLock;

use regex::Regex;

use crate::gotemplate::number::{parse_float, parse_signed, parse_unsigned};

/// Words that are booleans, null, infinity or no number.
const WORDS: [&str; 39] = [
    "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "n", "N", "no", "No", "NO",
    "false", "False", "FALSE", "off", "Off", "OFF", "", "~", "null", "Null", "NULL", ".nan", ".NaN", ".NAN",
    ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
];

/// Returns whether a string is read as a string if it is written without quotes. Numbers with base 60 are quoted for other readers.
pub(super) fn is_plain_string(text: &str) -> bool {
    static FLOAT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$").expect("a valid expression")
    });
    static BASE_60: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$").expect("a valid expression")
    });
    if WORDS.contains(&text) {
        return false;
    }
    match text.as_bytes()[0] {
        b'.' => parse_float(text).is_none(),
        b'+' | b'-' | b'0'..=b'9' => {
            let digits = text.replace('_', "");
            let is_number = parse_signed(&digits).is_some()
                || parse_unsigned(&digits).is_some()
                || (FLOAT.is_match(&digits) && parse_float(&digits).is_some());
            !is_number && !BASE_60.is_match(text) && !is_timestamp(text)
        }
        _ => true,
    }
}

fn is_timestamp(text: &str) -> bool {
    const LAYOUTS: [&str; 4] = [
        "2006-1-2T15:4:5.999999999Z07:00",
        "2006-1-2t15:4:5.999999999Z07:00",
        "2006-1-2 15:4:5.999999999",
        "2006-1-2",
    ];
    let year = text.bytes().take_while(u8::is_ascii_digit).count();
    year == 4
        && text[4..].starts_with('-')
        && LAYOUTS
            .iter()
            .any(|layout| crate::gotemplate::datetime::parse(layout.as_bytes(), text.as_bytes()).is_ok())
}
