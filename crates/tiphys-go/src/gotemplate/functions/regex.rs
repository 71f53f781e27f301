//! Regular expressions of Go, which are those of RE2.

mod syntax;

use regex::bytes::{Regex, RegexBuilder};

use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::value::{List, ListType, Str, Value};
use crate::strconv::quote;

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

/// Steps of a compilation. Expressions are compiled once in an execution.
const COMPILATION_STEPS: usize = 500;

/// Bytes of a compiled expression.
const COMPILED_BYTES_MAX: usize = 2 << 20;

/// Compiles an expression of Go, which is one of RE2. The error is Go's message without `error parsing regexp: `.
pub fn compile_regex(pattern: &str) -> Result<Regex, String> {
    let translated = syntax::translate(pattern)?;
    RegexBuilder::new(&translated).size_limit(COMPILED_BYTES_MAX).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "expression too large".to_owned(),
        _ => format!("invalid or unsupported syntax: `{pattern}`"),
    })
}

/// Compiles the first argument.
fn compiled(call: &mut Call<'_>) -> Result<Regex, Failure> {
    let pattern = call.text(0);
    let key = call.string(0);
    if let Some(regex) = call.context.expressions.get(&key) {
        return Ok(regex.clone());
    }
    call.budget().take(COMPILATION_STEPS.saturating_add(pattern.len()))?;
    let compiled = compile_regex(&pattern).or_else(|message| invalid(call, &pattern, &message))?;
    call.context.expressions.insert(key, compiled.clone());
    Ok(compiled)
}

/// Fails with Go's message. Functions that are not named `must…` panic in Go, with the expression in the message.
fn invalid<T>(call: &Call<'_>, pattern: &str, message: &str) -> Result<T, Failure> {
    if call.name.starts_with("must") || call.name == "regexMatch" {
        return fail(format!("error parsing regexp: {message}"));
    }
    let is_plain = !pattern.contains(|c: char| c == '`' || c == '\u{7f}' || (c < ' ' && c != '\t'));
    let shown = if is_plain { format!("`{pattern}`") } else { quote(pattern) };
    fail(format!("regexp: Compile({shown}): error parsing regexp: {message}"))
}

/// Whether a match is one in Go: an empty one is not within a character.
fn is_match(subject: &[u8], start: usize, end: usize) -> bool {
    let is_continued = subject.get(start).is_some_and(|byte| byte & 0xC0 == 0x80);
    if start != end || !is_continued {
        return true;
    }
    let first = (start.saturating_sub(3)..start).rev().find(|index| subject[*index] & 0xC0 != 0x80);
    first.is_none_or(|first| first + crate::gotemplate::unicode::decode(&subject[first..]).1 <= start)
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
    let ranges = regex.find_iter(subject).filter(|range| is_match(subject, range.start(), range.end()));
    for range in ranges.take(limit) {
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

/// How a replacement is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replacement {
    /// `$1` and `${name}` are groups.
    Template,
    Literal,
}

/// Replaces all matches.
fn replace(call: &mut Call<'_>, kind: Replacement) -> Outcome {
    let (regex, subject, replacement) = (compiled(call)?, subject(call)?, call.string(2));
    let (mut out, mut end) = (Vec::new(), 0);
    for captures in regex.captures_iter(&subject) {
        let found = captures.get(0).filter(|found| is_match(&subject, found.start(), found.end()));
        let Some(found) = found else { continue };
        let length = out.len();
        out.extend_from_slice(&subject[end..found.start()]);
        // A reference to a group is at most the whole match.
        let references = replacement.split(|byte| *byte == b'$').count();
        let longest = replacement.len().saturating_add(references.saturating_mul(found.len()));
        call.budget().check_bytes(out.len().saturating_add(longest))?;
        match kind {
            Replacement::Template => captures.expand(&replacement, &mut out),
            Replacement::Literal => out.extend_from_slice(&replacement),
        }
        end = found.end();
        call.budget().take_bytes(out.len() - length)?;
        call.budget().check_bytes(out.len())?;
    }
    out.extend_from_slice(&subject[end..]);
    Ok(out.into())
}

fn replace_all(call: &mut Call<'_>) -> Outcome {
    replace(call, Replacement::Template)
}

fn replace_all_literal(call: &mut Call<'_>) -> Outcome {
    replace(call, Replacement::Literal)
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
