//! The syntax of ranges. Whitespace is that of `\s` in Go's regular expressions: ASCII only.

use crate::versions::version::Tail;

/// Operators; those that start with another operator precede it.
const OPERATORS: [(&str, Operator); 11] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::AtLeast),
    ("=>", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("=<", Operator::AtMost),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Above),
    ("<", Operator::Below),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Above,
    Below,
    AtLeast,
    AtMost,
    Tilde,
    Caret,
}

/// An operator and a version with wildcards, not validated.
#[derive(Debug)]
pub(super) struct RawComparison<'a> {
    pub(super) operator: Operator,
    pub(super) pattern: Pattern<'a>,
}

/// A version with wildcards, such as `v1.2.x-rc.1+build`. Omitted numbers are empty.
#[derive(Debug)]
pub(super) struct Pattern<'a> {
    pub(super) numbers: [&'a str; 3],
    pub(super) pre_release: &'a str,
}

/// Replaces each `A - B` with `>= A, <= B `, regardless of the context.
pub(super) fn without_hyphens(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((low, high, after)) = hyphen(rest) {
            out.push_str(">= ");
            out.push_str(low);
            out.push_str(", <= ");
            out.push_str(high);
            out.push(' ');
            rest = after;
        } else {
            let mut chars = rest.chars();
            out.extend(chars.next());
            rest = chars.as_str();
        }
    }
    out
}

/// Splits an alternative into comparisons, separated by whitespace or commas; `None` if the syntax is invalid.
pub(super) fn comparisons(text: &str) -> Option<Vec<RawComparison<'_>>> {
    let mut parts = Vec::new();
    let mut rest = trim(text);
    loop {
        let (operator, after) = operator(rest);
        let (pattern, after) = pattern(trim(after))?;
        parts.push(RawComparison { operator, pattern });
        let next = trim(after);
        if next.is_empty() {
            return Some(parts);
        }
        rest = match next.strip_prefix(',') {
            Some(next) => trim(next),
            None if next.len() < after.len() => next,
            None => return None,
        };
    }
}

/// Parses `A - B` at the start of a string, with whitespace around the hyphen. Returns both versions and the rest.
fn hyphen(text: &str) -> Option<(&str, &str, &str)> {
    let low = trim(text);
    let (_, after_low) = pattern(low)?;
    let sign = trim(after_low);
    let after_sign = sign.strip_prefix('-')?;
    let high = trim(after_sign);
    let (_, after_high) = pattern(high)?;
    let has_spaces = sign.len() < after_low.len() && high.len() < after_sign.len();
    let taken = |whole: &'_ str, rest: &str| whole.len() - rest.len();
    has_spaces.then(|| (&low[..taken(low, after_low)], &high[..taken(high, after_high)], trim(after_high)))
}

fn operator(text: &str) -> (Operator, &str) {
    let found = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)));
    found.unwrap_or((Operator::Equal, text))
}

fn pattern(text: &str) -> Option<(Pattern<'_>, &str)> {
    let (first, mut rest) = split_number(text.strip_prefix('v').unwrap_or(text))?;
    let mut numbers = [first, "", ""];
    for number in &mut numbers[1..] {
        let Some((next, after)) = rest.strip_prefix('.').and_then(split_number) else { break };
        (*number, rest) = (next, after);
    }
    let tail = Tail::split(rest);
    Some((Pattern { numbers, pre_release: tail.pre_release }, tail.rest))
}

/// Splits off digits or wildcards. As in the library of Helm and Argo CD, `|` is included; such a range is invalid in the end.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !"xX*|".contains(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn trim(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}'])
}
