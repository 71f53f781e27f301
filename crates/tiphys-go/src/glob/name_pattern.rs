//! Go's `filepath.Match`: `*`, `?`, classes and escapes, none of which matches a `/`, except classes.

use crate::gotemplate::unicode::first_char;

/// A valid pattern for a whole name: an API group, a kind, the name of an object. It is case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern(String);

/// A malformed pattern. It does not contain the pattern, because callers know the field that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("syntax error in pattern")]
pub struct MalformedPattern;

impl NamePattern {
    /// Parses the whole pattern, unlike Go, which reads as far as the name requires and so accepts some malformed patterns.
    pub fn new(pattern: &str) -> Result<Self, MalformedPattern> {
        let mut rest = pattern.as_bytes();
        while !rest.is_empty() {
            let chunk = Chunk::first(rest);
            items_match(chunk.items, b"")?;
            rest = chunk.rest;
        }
        Ok(Self(pattern.to_owned()))
    }

    /// Whether the pattern matches the whole name.
    pub fn matches(&self, name: &str) -> bool {
        go_match(self.0.as_bytes(), name.as_bytes()) == Ok(true)
    }

    /// Returns the pattern as written. If it equals a name without special characters, it matches exactly that name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a whole name matches, as Go's `filepath.Match` on Linux reports. The pattern is only read as far as needed, so that some malformed
/// ones give `false`.
pub fn go_match(mut pattern: &[u8], mut name: &[u8]) -> Result<bool, MalformedPattern> {
    'chunks: while !pattern.is_empty() {
        let Chunk { after_star, items, rest } = Chunk::first(pattern);
        pattern = rest;
        if after_star && items.is_empty() {
            return Ok(!name.contains(&b'/'));
        }
        let last = pattern.is_empty();
        if let Some(left) = items_match(items, name)?
            && (left.is_empty() || !last)
        {
            name = left;
            continue;
        }
        if after_star {
            // The star takes one more byte each time, but no slash.
            let reach = name.iter().position(|byte| *byte == b'/').unwrap_or(name.len());
            for start in 1..=reach {
                if let Some(left) = items_match(items, &name[start..])?
                    && (left.is_empty() || !last)
                {
                    name = left;
                    continue 'chunks;
                }
            }
        }
        return Ok(false);
    }
    Ok(name.is_empty())
}

/// A part of a pattern without a star.
struct Chunk<'a> {
    after_star: bool,
    items: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Takes the leading stars and everything up to the next star outside a class.
    fn first(pattern: &'a [u8]) -> Self {
        let stars = pattern.iter().take_while(|byte| **byte == b'*').count();
        let text = &pattern[stars..];
        let mut in_class = false;
        let mut at = 0;
        while at < text.len() {
            match text[at] {
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'*' if !in_class => break,
                _ => {}
            }
            at += 1;
        }
        let (items, rest) = text.split_at(at.min(text.len()));
        Self { after_star: stars > 0, items, rest }
    }
}

/// Returns the rest of a name after a chunk that matches its beginning. After a mismatch the chunk is still read to its end, because a
/// syntax error in it counts.
fn items_match<'a>(mut items: &[u8], name: &'a [u8]) -> Result<Option<&'a [u8]>, MalformedPattern> {
    let mut left = Some(name);
    while let Some((&item, behind)) = items.split_first() {
        left = left.filter(|name| !name.is_empty());
        match item {
            b'[' => {
                let wanted = left.and_then(first_char);
                let (hit, rest) = class_matches(behind, wanted.map(|(c, _)| c))?;
                items = rest;
                left = left.zip(wanted).filter(|_| hit).map(|(name, (_, length))| &name[length..]);
            }
            b'?' => {
                items = behind;
                left = left
                    .filter(|name| name[0] != b'/')
                    .and_then(|name| first_char(name).map(|(_, length)| &name[length..]));
            }
            _ => {
                let (&wanted, rest) = if item == b'\\' {
                    behind.split_first().ok_or(MalformedPattern)?
                } else {
                    (&item, behind)
                };
                items = rest;
                left = left.filter(|name| name[0] == wanted).map(|name| &name[1..]);
            }
        }
    }
    Ok(left)
}

/// Reads a class after its `[`. Returns whether it matches a character, and the rest of the pattern.
fn class_matches(mut class: &[u8], wanted: Option<char>) -> Result<(bool, &[u8]), MalformedPattern> {
    // Go compares with NUL at the end of the name, and ignores the result.
    let wanted = wanted.unwrap_or('\0');
    let negated = class.first() == Some(&b'^');
    if negated {
        class = &class[1..];
    }
    let (mut hit, mut ranges) = (false, 0_usize);
    loop {
        if ranges > 0 && class.first() == Some(&b']') {
            return Ok((hit != negated, &class[1..]));
        }
        let (low, rest) = class_char(class)?;
        let (high, rest) = if rest[0] == b'-' { class_char(&rest[1..])? } else { (low, rest) };
        hit |= low <= wanted && wanted <= high;
        class = rest;
        ranges += 1;
    }
}

/// Reads one character of a class, escaped or not. Another one must follow it.
fn class_char(class: &[u8]) -> Result<(char, &[u8]), MalformedPattern> {
    let text = match class {
        [] | [b'-' | b']', ..] => return Err(MalformedPattern),
        [b'\\', rest @ ..] => rest,
        _ => class,
    };
    let (c, length) = first_char(text).ok_or(MalformedPattern)?;
    let rest = &text[length..];
    let malformed = c == char::REPLACEMENT_CHARACTER && length == 1;
    if malformed || rest.is_empty() { Err(MalformedPattern) } else { Ok((c, rest)) }
}

#[cfg(test)]
mod tests;
