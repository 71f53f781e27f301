//! Regular expressions of Go, which are those of RE2.

mod syntax;

use regex::bytes::{NoExpand, Regex};

use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::value::{List, ListType, Str, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("regexMatch", &[Type::String, Type::String], |call| match compiled(call) {
        Ok(regex) => Ok(Value::Bool(regex.is_match(&subject(call)?))),
        Err(Failure::Message(_)) => Ok(Value::Bool(false)),
        Err(limit) => Err(limit),
    }),
    Function::new("mustRegexMatch", &[Type::String, Type::String], |call| {
        Ok(Value::Bool(compiled(call)?.is_match(&subject(call)?)))
    }),
    Function::new("regexFind", &[Type::String, Type::String], find),
    Function::new("mustRegexFind", &[Type::String, Type::String], find),
    Function::new("regexFindAll", &[Type::String, Type::String, Type::Int], find_all),
    Function::new("mustRegexFindAll", &[Type::String, Type::String, Type::Int], find_all),
    Function::new("regexReplaceAll", &REPLACE, replace_all),
    Function::new("mustRegexReplaceAll", &REPLACE, replace_all),
    Function::new("regexReplaceAllLiteral", &REPLACE, replace_all_literal),
    Function::new("mustRegexReplaceAllLiteral", &REPLACE, replace_all_literal),
    Function::new("regexSplit", &[Type::String, Type::String, Type::Int], split),
    Function::new("mustRegexSplit", &[Type::String, Type::String, Type::Int], split),
    Function::new("regexQuoteMeta", &[Type::String], |call| {
        let mut out = Vec::new();
        for byte in call.string(0).iter() {
            if br"\.+*?()|[]{}^$".contains(byte) {
                out.push(b'\\');
            }
            out.push(*byte);
        }
        Ok(out.into())
    }),
];

const REPLACE: [Type; 3] = [Type::String, Type::String, Type::String];

/// Compiles the first argument.
fn compiled(call: &mut Call<'_>) -> Result<Regex, Failure> {
    let pattern = call.text(0);
    call.budget().take_bytes(pattern.len().saturating_mul(16))?;
    let translated = match syntax::translate(&pattern) {
        Ok(translated) => translated,
        Err(message) => return fail(format!("error parsing regexp: {message}")),
    };
    Regex::new(&translated).or_else(|error| match error {
        regex::Error::CompiledTooBig(_) => fail("error parsing regexp: expression too large"),
        _ => fail(format!("error parsing regexp: invalid or unsupported syntax: `{pattern}`")),
    })
}

/// Returns the second argument.
fn subject(call: &mut Call<'_>) -> Result<Str, Failure> {
    let subject = call.string(1);
    call.budget().take_bytes(subject.len())?;
    Ok(subject)
}

fn find(call: &mut Call<'_>) -> Outcome {
    let (regex, subject) = (compiled(call)?, subject(call)?);
    Ok(regex.find(&subject).map_or(&b""[..], |found| found.as_bytes()).into())
}

/// Returns the ranges of all matches, of `limit` ones at most if it is not negative.
fn matches(
    call: &mut Call<'_>,
    regex: &Regex,
    subject: &[u8],
    limit: i64,
) -> Result<Vec<(usize, usize)>, Failure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut found = Vec::new();
    for range in regex.find_iter(subject).take(limit) {
        call.budget().take(1)?;
        found.push((range.start(), range.end()));
    }
    Ok(found)
}

fn find_all(call: &mut Call<'_>) -> Outcome {
    let (regex, subject, limit) = (compiled(call)?, subject(call)?, call.integer(2));
    let found = matches(call, &regex, &subject, limit)?;
    if found.is_empty() {
        return Ok(Value::List(List::nil(ListType::Strings)));
    }
    Ok(Value::List(List::strings(found.into_iter().map(|(start, end)| &subject[start..end]))))
}

/// Checks the length of the result of a replacement.
fn check_result(
    call: &mut Call<'_>,
    regex: &Regex,
    subject: &[u8],
    replacement: &[u8],
) -> Result<(), Failure> {
    let count = matches(call, regex, subject, -1)?.len();
    // A reference to a group is at most the whole string.
    let references = replacement.split(|byte| *byte == b'$').count() - 1;
    let longest = replacement.len().saturating_add(references.saturating_mul(subject.len() / count.max(1)));
    call.budget().take_bytes(subject.len().saturating_add(longest.saturating_mul(count)))?;
    Ok(())
}

fn replace_all(call: &mut Call<'_>) -> Outcome {
    let (regex, subject, replacement) = (compiled(call)?, subject(call)?, call.string(2));
    check_result(call, &regex, &subject, &replacement)?;
    Ok(regex.replace_all(&subject, &*replacement).into_owned().into())
}

fn replace_all_literal(call: &mut Call<'_>) -> Outcome {
    let (regex, subject, replacement) = (compiled(call)?, subject(call)?, call.string(2));
    check_result(call, &regex, &subject, &replacement)?;
    Ok(regex.replace_all(&subject, NoExpand(&replacement)).into_owned().into())
}

/// Splits a string as `Regexp.Split`: into `limit` parts at most if it is not negative.
fn split(call: &mut Call<'_>) -> Outcome {
    let (regex, subject, limit) = (compiled(call)?, subject(call)?, call.integer(2));
    if limit == 0 {
        return Ok(Value::List(List::nil(ListType::Strings)));
    }
    if !call.string(0).is_empty() && subject.is_empty() {
        return Ok(Value::List(List::strings([""])));
    }
    let (mut parts, mut start, mut end): (Vec<&[u8]>, usize, usize) = (Vec::new(), 0, 0);
    for (match_start, match_end) in matches(call, &regex, &subject, limit)? {
        if i64::try_from(parts.len()) == Ok(limit - 1) {
            break;
        }
        end = match_start;
        if match_end != 0 {
            parts.push(&subject[start..end]);
        }
        start = match_end;
    }
    if end != subject.len() {
        parts.push(&subject[start..]);
    }
    Ok(Value::List(List::strings(parts)))
}
