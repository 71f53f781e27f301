//! Resolution of plain and tagged YAML scalars by the rules of go-yaml v2, which Kubernetes uses, and the conversion of keys to strings by
//! `sigs.k8s.io/yaml`.

use crate::json::with_even_tie;
use crate::text::go_lossy;
use crate::{Data, Float};

pub(crate) mod base64;
mod timestamp;

const TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// The tag of merge keys.
pub(crate) const MERGE_TAG: &str = "tag:yaml.org,2002:merge";

/// The tag of base64.
pub(crate) const BINARY_TAG: &str = "tag:yaml.org,2002:binary";

/// The value of a scalar without a tag.
enum Resolved {
    Data(Data, Kind),
    Text(Kind),
}

/// The types that go-yaml distinguishes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    Int,
    Float,
    Timestamp,
    Text,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Timestamp => "timestamp",
            Self::Text => "str",
        }
    }
}

/// Resolves a scalar. `tag` is the resolved tag, if present. `plain` is whether the scalar may be anything but a string: it is unquoted, or
/// tagged `!`. The error describes the problem of the tag.
pub(crate) fn read_scalar(tag: Option<&str>, plain: bool, text: String) -> Result<Data, String> {
    let Some(tag) = tag else {
        return Ok(if plain { untagged(text) } else { Data::String(text) });
    };
    let wanted = match tag.strip_prefix(TAG_PREFIX) {
        Some("null") => Kind::Null,
        Some("bool") => Kind::Bool,
        Some("int") => Kind::Int,
        Some("float") => Kind::Float,
        Some("timestamp") => Kind::Timestamp,
        Some("binary") => {
            let bytes = base64::decode(text.as_bytes()).ok_or("!!binary value is not base64")?;
            return Ok(Data::String(go_lossy(&bytes).into_owned()));
        }
        _ => return Ok(Data::String(text)),
    };
    let found = match resolve(&text) {
        Resolved::Text(Kind::Timestamp) if wanted != Kind::Timestamp => Resolved::Text(Kind::Text),
        found => found,
    };
    match found {
        Resolved::Data(data, kind) if kind == wanted => Ok(data),
        #[expect(
            clippy::cast_precision_loss,
            reason = "the float nearest to the integer is what is asked for"
        )]
        Resolved::Data(Data::Integer(integer), _) if wanted == Kind::Float => {
            Ok(Data::Float((integer as f64).into()))
        }
        Resolved::Text(Kind::Timestamp) => Ok(Data::String(text)),
        Resolved::Data(_, kind) | Resolved::Text(kind) => {
            Err(format!("cannot read !!{} `{}` as a !!{}", kind.name(), shortened(&text), wanted.name()))
        }
    }
}

/// How scalars without quotes and tags are resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unquoted {
    /// By the rules of YAML 1.1.
    #[default]
    Typed,
    /// As strings, unchanged. Only `null`, `~` and the empty scalar are null.
    Texts,
}

/// Resolves a scalar as [`Unquoted::Texts`].
pub(crate) fn unquoted_text(text: String) -> Data {
    if matches!(text.as_str(), "" | "~" | "null") { Data::Null } else { Data::String(text) }
}

/// Returns whether an unquoted scalar with this content is a string.
pub(crate) fn is_text_when_plain(text: &str) -> bool {
    matches!(resolve(text), Resolved::Text(_))
}

fn untagged(text: String) -> Data {
    match resolve(&text) {
        Resolved::Data(data, _) => data,
        // Dates stay strings, because go-yaml returns times only to callers that decode into a time.
        Resolved::Text(_) => Data::String(text),
    }
}

fn shortened(text: &str) -> String {
    const SHOWN_CHARS: usize = 40;
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn resolve(text: &str) -> Resolved {
    let as_text = Resolved::Text(Kind::Text);
    let Some(first) = text.as_bytes().first() else {
        return Resolved::Data(Data::Null, Kind::Null);
    };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => {
            word(text).unwrap_or(as_text)
        }
        b'.' => word(text)
            .or_else(|| float(text).map(|value| Resolved::Data(Data::Float(value.into()), Kind::Float)))
            .unwrap_or(as_text),
        b'+' | b'-' | b'0'..=b'9' => {
            if timestamp::is_timestamp(text) {
                return Resolved::Text(Kind::Timestamp);
            }
            word(text).or_else(|| number(text)).unwrap_or(as_text)
        }
        _ => as_text,
    }
}

fn word(text: &str) -> Option<Resolved> {
    let data = match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Data::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Data::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Data::Null,
        ".nan" | ".NaN" | ".NAN" => Data::Float(f64::NAN.into()),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Data::Float(f64::INFINITY.into()),
        "-.inf" | "-.Inf" | "-.INF" => Data::Float(f64::NEG_INFINITY.into()),
        _ => return None,
    };
    let kind = match data {
        Data::Null => Kind::Null,
        Data::Bool(_) => Kind::Bool,
        _ => Kind::Float,
    };
    Some(Resolved::Data(data, kind))
}

fn number(text: &str) -> Option<Resolved> {
    let plain: std::borrow::Cow<'_, str> =
        if text.contains('_') { text.replace('_', "").into() } else { text.into() };
    if let Some(data) = integer(&plain) {
        return Some(Resolved::Data(data, Kind::Int));
    }
    if is_yaml_float(&plain)
        && let Some(value) = float(&plain)
    {
        return Some(Resolved::Data(Data::Float(Float::written(value, text)), Kind::Float));
    }
    // A sign after the prefix: go-yaml strips `0b` itself if Go's own rule for prefixes fails.
    let data = if let Some(digits) = plain.strip_prefix("0b") {
        signed(digits, 2)
    } else if let Some(digits) = plain.strip_prefix("-0b") {
        signed(&format!("-{digits}"), 2)
    } else {
        None
    };
    data.map(|data| Resolved::Data(data, Kind::Int))
}

/// Parses an integer by Go's rule for base 0: `0x`, `0o`, `0b` in either case, and a leading zero for octal.
fn integer(text: &str) -> Option<Data> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => ("", text.get(1..)?),
        b'-' => ("-", text.get(1..)?),
        _ => ("", text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', _, ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', _, ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let data = if sign.is_empty() { signed(digits, radix) } else { signed(&format!("-{digits}"), radix) }?;
    // Go's `ParseUint` accepts no sign, not even `+`.
    (!matches!(data, Data::Unsigned(_)) || !text.starts_with('+')).then_some(data)
}

fn signed(digits: &str, radix: u32) -> Option<Data> {
    if let Ok(value) = i64::from_str_radix(digits, radix) {
        return Some(Data::Integer(value));
    }
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().map(Data::Unsigned)
}

/// Returns whether the string matches `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
pub(crate) fn is_yaml_float(text: &str) -> bool {
    fn digits(text: &str) -> &str {
        text.trim_start_matches(|character: char| character.is_ascii_digit())
    }
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let whole = digits(text);
    let has_whole = whole.len() < text.len();
    let rest = match whole.strip_prefix('.') {
        Some(fraction) => {
            let rest = digits(fraction);
            if !has_whole && rest.len() == fraction.len() {
                return false;
            }
            rest
        }
        None if has_whole => whole,
        None => return false,
    };
    match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent).is_empty()
        }
        None => rest.is_empty(),
    }
}

/// Parses a decimal float as Go's `strconv.ParseFloat`: underscores only between digits, and not outside of the range.
fn float(text: &str) -> Option<f64> {
    let plain: std::borrow::Cow<'_, str> = if text.contains('_') {
        let bytes = text.as_bytes();
        let between_digits = bytes.iter().enumerate().all(|(at, byte)| {
            let digit_at = |index: Option<usize>| {
                index.and_then(|index| bytes.get(index)).is_some_and(u8::is_ascii_digit)
            };
            *byte != b'_' || (digit_at(at.checked_sub(1)) && digit_at(Some(at + 1)))
        });
        if !between_digits {
            return None;
        }
        text.replace('_', "").into()
    } else {
        text.into()
    };
    if !is_yaml_float(&plain) {
        return None;
    }
    plain.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Converts a key to a string as `sigs.k8s.io/yaml` does. The error describes why the value cannot be a key.
pub(crate) fn key_text(data: Data) -> Result<String, &'static str> {
    match data {
        Data::String(text) => Ok(text),
        Data::Bool(value) => Ok(value.to_string()),
        Data::Integer(value) => Ok(value.to_string()),
        Data::Float(value) => Ok(float_key(value.value())),
        Data::Null => Err("null cannot be a key"),
        Data::Unsigned(_) => Err("an integer above 9223372036854775807 cannot be a key; quote it"),
        Data::Sequence(_) => Err("a list cannot be a key"),
        Data::Mapping(_) => Err("an object cannot be a key (is this a template that was not rendered?)"),
    }
}

/// Formats a float like Go's `strconv.FormatFloat(value, 'g', -1, 32)`, with YAML's words for infinity and NaN.
fn float_key(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "the rule formats keys with 32 bits")]
    let narrow = value as f32;
    if narrow.is_nan() {
        return ".nan".to_owned();
    }
    if narrow.is_infinite() {
        return if narrow > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let reads_back = |text: &str| text.parse() == Ok(narrow);
    let scientific = with_even_tie(f64::from(narrow), format!("{narrow:e}"), reads_back);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // Go's shortest `%g` switches to an exponent at these limits.
    if (-4..6).contains(&exponent) {
        with_even_tie(f64::from(narrow), narrow.to_string(), reads_back)
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.abs())
    }
}
