//! Strings: parts, quotes, indentation.

use std::collections::HashSet;

use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::limits::{Budget, LimitError};
use crate::gotemplate::unicode::{characters, is_space};
use crate::gotemplate::value::{List, Map, Str, Value};
use crate::strconv::quote;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("trim", &[Type::String], |call| Ok(trimmed(&call.string(0), is_space).into())),
    Function::new("trimall", &[Type::String, Type::String], trim_all),
    Function::new("trimAll", &[Type::String, Type::String], trim_all),
    Function::new("trimSuffix", &[Type::String, Type::String], |call| {
        let (suffix, string) = (call.string(0), call.string(1));
        Ok(string.strip_suffix(&*suffix).unwrap_or(&string).into())
    }),
    Function::new("trimPrefix", &[Type::String, Type::String], |call| {
        let (prefix, string) = (call.string(0), call.string(1));
        Ok(string.strip_prefix(&*prefix).unwrap_or(&string).into())
    }),
    Function::new("trunc", &[Type::Int, Type::String], truncate),
    Function::new("substr", &[Type::Int, Type::Int, Type::String], substring),
    Function::new("repeat", &[Type::Int, Type::String], repeat),
    Function::new("nospace", &[Type::String], no_space),
    Function::new("initials", &[Type::String], initials),
    Function::new("contains", &[Type::String, Type::String], |call| {
        Ok(Value::Bool(find(&call.string(1), &call.string(0)).is_some()))
    }),
    Function::new("hasPrefix", &[Type::String, Type::String], |call| {
        Ok(Value::Bool(call.string(1).starts_with(&call.string(0))))
    }),
    Function::new("hasSuffix", &[Type::String, Type::String], |call| {
        Ok(Value::Bool(call.string(1).ends_with(&call.string(0))))
    }),
    Function::new("quote", &[], |call| each(call, |string| quote(string).into_bytes())).and(Type::Any),
    Function::new("squote", &[], |call| each(call, |string| [b"'", string, b"'"].concat())).and(Type::Any),
    Function::new("cat", &[], cat).and(Type::Any),
    Function::new("indent", &[Type::Int, Type::String], |call| Ok(indented(call)?.into())),
    Function::new("nindent", &[Type::Int, Type::String], |call| {
        let mut out = vec![b'\n'];
        out.append(&mut indented(call)?);
        Ok(out.into())
    }),
    Function::new("replace", &[Type::String, Type::String, Type::String], replace),
    Function::new("plural", &[Type::String, Type::String, Type::Int], |call| {
        Ok(Value::String(call.string(usize::from(call.integer(2) != 1))))
    }),
    Function::new("toString", &[Type::Any], |call| {
        let value = call.value(0);
        Ok(Value::String(call.written(&value)?))
    }),
    Function::new("split", &[Type::String, Type::String], |call| Ok(numbered(&parts(call, 1, -1)?))),
    Function::new("splitn", &[Type::String, Type::Int, Type::String], |call| {
        let limit = call.integer(1);
        Ok(numbered(&parts(call, 2, limit)?))
    }),
    Function::new("splitList", &[Type::String, Type::String], |call| {
        Ok(Value::List(List::strings(parts(call, 1, -1)?)))
    }),
];

/// Returns the position of a part.
pub(super) fn find(string: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(string, part)
}

/// Removes characters from both ends.
pub(super) fn trimmed(string: &[u8], is_trimmed: impl Fn(char) -> bool) -> &[u8] {
    let mut kept = characters(string).filter(|(_, c, _)| !is_trimmed(*c));
    let Some((start, _, length)) = kept.next() else { return &[] };
    let end = kept.last().map_or(start + length, |(position, _, length)| position + length);
    &string[start..end]
}

fn trim_all(call: &mut Call<'_>) -> Outcome {
    let removed: HashSet<char> = call.text(0).chars().collect();
    Ok(trimmed(&call.string(1), |c| removed.contains(&c)).into())
}

fn truncate(call: &mut Call<'_>) -> Outcome {
    let (length, string) = (call.integer(0), call.string(1));
    let bytes = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
    Ok(match length {
        ..0 if bytes < string.len() => string[string.len() - bytes..].into(),
        0.. if bytes < string.len() => string[..bytes].into(),
        _ => Value::String(string),
    })
}

fn substring(call: &mut Call<'_>) -> Outcome {
    let (start, end, string) = (call.integer(0), call.integer(1), call.string(2));
    let length = string.len();
    let end = match usize::try_from(end) {
        Ok(end) if start < 0 || end <= length => Some(end),
        // A negative end reaches to the end, but not with a negative start.
        Err(_) if start < 0 => return fail(format!("runtime error: slice bounds out of range [:{end}]")),
        _ => None,
    };
    let start = usize::try_from(start).unwrap_or(0);
    match end {
        Some(end) if end > length => {
            fail(format!("runtime error: slice bounds out of range [:{end}] with length {length}"))
        }
        Some(end) if start > end => fail(format!("runtime error: slice bounds out of range [{start}:{end}]")),
        None if start > length => {
            fail(format!("runtime error: slice bounds out of range [{start}:{length}]"))
        }
        end => Ok(string[start..end.unwrap_or(length)].into()),
    }
}

fn repeat(call: &mut Call<'_>) -> Outcome {
    let (count, string) = (call.integer(0), call.string(1));
    let Ok(count) = usize::try_from(count) else { return fail("strings: negative Repeat count") };
    call.budget().take_bytes(string.len().saturating_mul(count))?;
    Ok(string.repeat(count).into())
}

/// Removes white space. Go's library treats each byte as a character of Latin 1 here.
fn no_space(call: &mut Call<'_>) -> Outcome {
    let string = call.string(0);
    let kept: String = string.iter().map(|byte| char::from(*byte)).filter(|c| !is_space(*c)).collect();
    if kept.chars().count() == string.len() {
        return Ok(Value::String(string));
    }
    Ok(kept.into())
}

/// Returns the first byte of each word. Go's library treats each byte as a character of Latin 1 here.
fn initials(call: &mut Call<'_>) -> Outcome {
    let string = call.string(0);
    let mut is_after_space = true;
    let mut out = String::new();
    for c in string.iter().map(|byte| char::from(*byte)) {
        if is_space(c) {
            is_after_space = true;
        } else if std::mem::take(&mut is_after_space) {
            out.push(c);
        }
    }
    Ok(out.into())
}

/// Formats each argument but nil, and joins them with blanks.
fn each(call: &mut Call<'_>, format: impl Fn(&[u8]) -> Vec<u8>) -> Outcome {
    let mut parts = Vec::new();
    for value in call.values(0) {
        if !matches!(value, Value::Nil) {
            let string = call.written(&value)?;
            parts.push(format(&string));
        }
    }
    Ok(parts.join(&b' ').into())
}

fn cat(call: &mut Call<'_>) -> Outcome {
    each(call, <[u8]>::to_vec)
}

fn indented(call: &mut Call<'_>) -> Result<Vec<u8>, Failure> {
    let (spaces, string) = (call.integer(0), call.string(1));
    let Ok(spaces) = usize::try_from(spaces) else { return fail("strings: negative Repeat count") };
    let lines = string.split(|byte| *byte == b'\n').count();
    call.budget().take_bytes(spaces.saturating_mul(lines).saturating_add(string.len()))?;
    let indentation = b" ".repeat(spaces);
    let lines: Vec<&[u8]> = string.split(|byte| *byte == b'\n').collect();
    let mut out = indentation.clone();
    out.extend(lines.join(&[b"\n", &*indentation].concat()[..]));
    Ok(out)
}

fn replace(call: &mut Call<'_>) -> Outcome {
    let (old, new, string) = (call.string(0), call.string(1), call.string(2));
    Ok(replaced(call.budget(), &string, &old, &new)?.into())
}

/// Returns a string with all occurrences of `old` replaced.
pub(crate) fn replaced(
    budget: &mut Budget,
    string: &[u8],
    old: &[u8],
    new: &[u8],
) -> Result<Vec<u8>, LimitError> {
    let starts: Vec<usize> = if old.is_empty() {
        characters(string).map(|(position, ..)| position).chain([string.len()]).collect()
    } else {
        memchr::memmem::find_iter(string, old).collect()
    };
    budget.take_bytes(string.len().saturating_add(new.len().saturating_mul(starts.len())))?;
    let (mut out, mut end) = (Vec::new(), 0);
    for start in starts {
        out.extend_from_slice(&string[end..start]);
        out.extend_from_slice(new);
        end = start + old.len();
    }
    out.extend_from_slice(&string[end..]);
    Ok(out)
}

/// Splits an argument by the first one.
fn parts(call: &mut Call<'_>, index: usize, limit: i64) -> Result<Vec<Str>, Failure> {
    let (separator, string) = (call.string(0), call.string(index));
    let count = if separator.is_empty() {
        string.len()
    } else {
        memchr::memmem::find_iter(&string, &*separator).count()
    };
    call.budget().take(usize::try_from(limit).unwrap_or(usize::MAX).min(count))?;
    Ok(split(&string, &separator, limit))
}

/// Splits a string as `strings.SplitN`: into `limit` parts at most, all if it is negative. An empty separator splits characters.
fn split(string: &[u8], separator: &[u8], limit: i64) -> Vec<Str> {
    let limit = match limit {
        0 => return Vec::new(),
        limit => usize::try_from(limit).unwrap_or(usize::MAX),
    };
    let (mut parts, mut rest) = (Vec::new(), string);
    while parts.len() + 1 < limit {
        let end = if separator.is_empty() {
            let length = crate::gotemplate::unicode::decode(rest).1;
            (length < rest.len()).then_some(length)
        } else {
            find(rest, separator)
        };
        let Some(end) = end else { break };
        parts.push(rest[..end].into());
        rest = &rest[end + separator.len()..];
    }
    if !(separator.is_empty() && string.is_empty()) {
        parts.push(rest.into());
    }
    parts
}

/// Returns the map `_0`, `_1`, …
fn numbered(parts: &[Str]) -> Value {
    let entries = parts.iter().enumerate();
    Value::Map(Map::of_strings(entries.map(|(index, part)| (format!("_{index}").into(), part.clone()))))
}
