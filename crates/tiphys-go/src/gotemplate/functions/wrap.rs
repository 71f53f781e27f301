//! Shortening and wrapping of text: `abbrev`, `wrap`.

use super::strings::find;
use super::{Call, Function, Outcome, Type};
use crate::gotemplate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("abbrev", &[Type::Int, Type::String], |call| {
        let (width, string) = (call.integer(0), call.string(1));
        if width < 4 {
            return Ok(Value::String(string));
        }
        Ok(abbreviated(&string, 0, width).into())
    }),
    Function::new("abbrevboth", &[Type::Int, Type::Int, Type::String], |call| {
        let (left, right, string) = (call.integer(0), call.integer(1), call.string(2));
        if right < 4 || (left > 0 && right < 7) {
            return Ok(Value::String(string));
        }
        Ok(abbreviated(&string, left, right).into())
    }),
    Function::new("wrap", &[Type::Int, Type::String], |call| wrap(call, 1, b"\n", LongWords::Kept)),
    Function::new("wrapWith", &[Type::Int, Type::String, Type::String], |call| {
        let separator = call.string(1);
        let separator: &[u8] = if separator.is_empty() { b"\n" } else { &separator };
        wrap(call, 2, separator, LongWords::Broken)
    }),
];

/// Shortens a string to a width of 4 bytes or more, beginning near an offset.
fn abbreviated(string: &[u8], offset: i64, width: i64) -> Vec<u8> {
    let length = i64::try_from(string.len()).unwrap_or(i64::MAX);
    if string.is_empty() || length <= width {
        return string.to_vec();
    }
    let index = |position: i64| usize::try_from(position).unwrap_or(0);
    let mut offset = offset.min(length);
    if length - offset < width - 3 {
        offset = length - (width - 3);
    }
    if offset <= 4 {
        return [&string[..index(width - 3)], b"..."].concat();
    }
    if width < 7 {
        return Vec::new();
    }
    let rest = if offset + width - 3 < length {
        abbreviated(&string[index(offset)..], 0, width - 3)
    } else {
        string[index(length - (width - 3))..].to_vec()
    };
    [b"...", &rest[..]].concat()
}

/// Handling of words that are longer than a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LongWords {
    Kept,
    Broken,
}

/// Wraps a line at blanks.
fn wrap(call: &mut Call<'_>, argument: usize, separator: &[u8], long_words: LongWords) -> Outcome {
    let string = call.string(argument);
    let width = usize::try_from(call.integer(0)).unwrap_or(0).max(1);
    let (mut out, mut rest) = (Vec::new(), &string[..]);
    while rest.len() > width {
        if let Some(after) = rest.strip_prefix(b" ") {
            rest = after;
            continue;
        }
        let last_blank = rest[..=width].iter().rposition(|byte| *byte == b' ');
        let (line, after) = match (last_blank, long_words) {
            (Some(blank), _) => (&rest[..blank], &rest[blank + 1..]),
            (None, LongWords::Broken) => rest.split_at(width),
            (None, LongWords::Kept) => match find(&rest[width..], b" ") {
                Some(blank) => (&rest[..width + blank], &rest[width + blank + 1..]),
                None => break,
            },
        };
        out.extend_from_slice(line);
        out.extend_from_slice(separator);
        call.budget().take_bytes(line.len() + separator.len())?;
        call.budget().check_bytes(out.len())?;
        rest = after;
    }
    out.extend_from_slice(rest);
    Ok(out.into())
}
