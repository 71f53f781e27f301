//! Which repositories a project permits: the patterns of its `sourceRepos`, as Argo CD reads them.
//!
//! A pattern is gobwas' with `/` as separator: `*` and `?` stay within a segment, `**` does not, `[a-c]`, `[!a]` and `{a,b}` are known, `\` takes
//! the next character literally. `!` in front forbids what the pattern matches, whatever others say, and permits everything else. A pattern
//! that cannot be read matches nothing.

/// Alternatives that the braces of one pattern may be multiplied out to.
const ALTERNATIVES_MAX: usize = 1_000;

/// Longest pattern in bytes; it bounds how deep braces nest.
const PATTERN_BYTES_MAX: usize = 1_024;

/// Whether patterns permit a repository that can be written in several ways.
pub(crate) fn is_permitted(repository: &[String], patterns: &[String]) -> bool {
    let repository: Vec<String> = repository.iter().map(|form| normalized(form)).collect();
    let matches = |pattern: &str| {
        let pattern = normalized(pattern);
        repository.iter().any(|form| glob(&pattern, form))
    };
    let mut permitted = false;
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            None => permitted |= pattern == "*" || matches(pattern),
            Some(forbidden) if matches(forbidden) => return false,
            Some(_) => permitted = true,
        }
    }
    permitted
}

/// An address as Argo CD compares it.
fn normalized(url: &str) -> String {
    let url = url.trim().to_lowercase();
    url.strip_suffix(".git").unwrap_or(&url).to_owned()
}

/// Whether a text matches a pattern. One that cannot be read matches nothing.
fn glob(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    alternatives(pattern)
        .is_some_and(|all| all.iter().filter_map(|one| tokens(one)).any(|tokens| matches(&tokens, &text)))
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Literal(char),
    One,
    Segment,
    Any,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Token {
    fn takes(&self, char: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == char,
            Self::One | Self::Segment => char != '/',
            Self::Any => true,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (low..=high).contains(&&char)) != *negated
            }
        }
    }

    fn repeats(&self) -> bool {
        matches!(self, Self::Segment | Self::Any)
    }
}

/// Follows all ways through the pattern at once, so that no pattern takes long.
fn matches(tokens: &[Token], text: &[char]) -> bool {
    let mut states = vec![false; tokens.len() + 1];
    states[0] = true;
    skip_repeats(tokens, &mut states);
    for char in text {
        let mut next = vec![false; states.len()];
        for (index, token) in tokens.iter().enumerate() {
            if states[index] && token.takes(*char) {
                next[if token.repeats() { index } else { index + 1 }] = true;
            }
        }
        skip_repeats(tokens, &mut next);
        states = next;
    }
    states.last().copied().unwrap_or(false)
}

fn skip_repeats(tokens: &[Token], states: &mut [bool]) {
    for (index, token) in tokens.iter().enumerate() {
        if states[index] && token.repeats() {
            states[index + 1] = true;
        }
    }
}

/// The pattern's tokens, once its braces are multiplied out.
fn tokens(pattern: &str) -> Option<Vec<Token>> {
    let mut chars = pattern.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(char) = chars.next() {
        tokens.push(match char {
            '\\' => Token::Literal(chars.next()?),
            '?' => Token::One,
            '*' if chars.next_if_eq(&'*').is_some() => Token::Any,
            '*' => Token::Segment,
            '[' => {
                let negated = chars.next_if_eq(&'!').is_some();
                let mut ranges = Vec::new();
                loop {
                    let low = match chars.next()? {
                        ']' => break,
                        '\\' => chars.next()?,
                        low => low,
                    };
                    let high = if chars.next_if_eq(&'-').is_some() { chars.next()? } else { low };
                    ranges.push((low, high));
                }
                if ranges.is_empty() {
                    return None;
                }
                Token::Class { negated, ranges }
            }
            literal => Token::Literal(literal),
        });
    }
    Some(tokens)
}

/// The pattern with its braces multiplied out; `None` if they do not pair, or make too many.
fn alternatives(pattern: &str) -> Option<Vec<String>> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return None;
    }
    let mut done = Vec::new();
    let mut waiting = vec![pattern.to_owned()];
    while let Some(pattern) = waiting.pop() {
        if done.len() + waiting.len() >= ALTERNATIVES_MAX {
            return None;
        }
        match first_braces(&pattern) {
            Braces::None => done.push(pattern),
            Braces::Unpaired => return None,
            Braces::Pair { from, parts, to } => {
                waiting.extend(parts.iter().map(|part| [&pattern[..from], part, &pattern[to..]].concat()));
            }
        }
    }
    Some(done)
}

/// The first braces of a pattern.
enum Braces {
    /// There are none.
    None,
    /// One has no other.
    Unpaired,
    /// A pair.
    Pair {
        /// Where it begins.
        from: usize,
        /// What stands between its commas.
        parts: Vec<String>,
        /// Where the pattern goes on.
        to: usize,
    },
}

/// Looks for the first pair of braces.
fn first_braces(pattern: &str) -> Braces {
    let (mut depth, mut from, mut part) = (0_usize, 0, 0);
    let mut parts = Vec::new();
    let mut escaped = false;
    for (at, char) in pattern.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match char {
            '\\' => escaped = true,
            '{' => {
                depth += 1;
                if depth == 1 {
                    (from, part) = (at, at + 1);
                }
            }
            ',' if depth == 1 => {
                parts.push(pattern[part..at].to_owned());
                part = at + 1;
            }
            '}' if depth == 1 => {
                parts.push(pattern[part..at].to_owned());
                return Braces::Pair { from, parts, to: at + 1 };
            }
            '}' if depth == 0 => return Braces::Unpaired,
            '}' => depth -= 1,
            _ => {}
        }
    }
    if depth == 0 { Braces::None } else { Braces::Unpaired }
}

#[cfg(test)]
mod tests;
