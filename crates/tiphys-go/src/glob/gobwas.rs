//! Glob patterns in the syntax of Go's `gobwas/glob` 1.0, as in Argo CD: without separators for a project's destinations,
//! `directory.include` and `directory.exclude`, with the separator `/` for a project's repositories.

/// A pattern for relative paths or repository addresses.
///
/// `**` and `*` match any string, and `?` any character; `*` and `?` do not match a separator. `[abc]` matches one of the characters,
/// `[!abc]` any other one, `[a-c]` a range. `{a,b}` matches one of several patterns and may be nested. `\` escapes the next character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    /// The pattern with all braces expanded, so that matching needs no recursion.
    alternatives: Vec<Vec<Token>>,
}

/// How a pattern treats `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slash {
    /// As an ordinary character.
    Ordinary,
    /// As a separator, which `*` and `?` do not match.
    Separator,
}

/// Maximum number of alternatives after braces are expanded.
const ALTERNATIVES_MAX: usize = 1_000;

/// Separator of path segments.
const SEPARATOR: char = '/';

/// Maximum length of a pattern in bytes; it also limits the nesting of braces.
const PATTERN_BYTES_MAX: usize = 1_024;

/// An invalid pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// `[` without `]`, or an empty or malformed character class.
    #[error("pattern {pattern:?}: malformed character class")]
    Class {
        /// The pattern.
        pattern: String,
    },
    /// `{` without `}`.
    #[error("pattern {pattern:?}: `{{` is not closed")]
    Brace {
        /// The pattern.
        pattern: String,
    },
    /// `\` at the end.
    #[error("pattern {pattern:?}: the backslash at the end escapes no character")]
    Escape {
        /// The pattern.
        pattern: String,
    },
    /// The pattern is too long.
    #[error("a pattern of {bytes} bytes is longer than the {PATTERN_BYTES_MAX} that are allowed")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// The braces expand to too many alternatives.
    #[error("pattern {pattern:?}: its braces make more than {ALTERNATIVES_MAX} alternatives")]
    TooMany {
        /// The pattern.
        pattern: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Literal(char),
    AnyText,
    /// Any string without a separator.
    AnySegment,
    AnyCharacter,
    /// Any character except a separator.
    AnyExceptSeparator,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    /// Parses a pattern.
    pub fn new(pattern: &str, slash: Slash) -> Result<Self, GlobError> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(GlobError::TooLong { bytes: pattern.len() });
        }
        let characters: Vec<char> = pattern.chars().collect();
        let mut parser = Parser { pattern, characters: &characters, index: 0, slash };
        Ok(Self { alternatives: parser.alternatives(Inside::Nothing)? })
    }

    /// Whether the pattern matches the whole string.
    pub fn matches(&self, text: &str) -> bool {
        let characters: Vec<char> = text.chars().collect();
        self.alternatives.iter().any(|tokens| matches(tokens, &characters))
    }

    /// Returns a string that the pattern matches; `None` for a class that excludes every letter of the alphabet.
    pub fn example(&self) -> Option<String> {
        let tokens = self.alternatives.first()?;
        tokens.iter().map(Token::example).collect()
    }
}

/// Matches by tracking all positions in the pattern that the text so far can reach. The cost is at most one step per token and character.
fn matches(tokens: &[Token], text: &[char]) -> bool {
    let mut reached = vec![false; tokens.len() + 1];
    reached[0] = true;
    skip_empty(tokens, &mut reached);
    for &character in text {
        let mut next = vec![false; tokens.len() + 1];
        for (position, token) in tokens.iter().enumerate().filter(|(position, _)| reached[*position]) {
            if token.takes(character) {
                next[if token.repeats() { position } else { position + 1 }] = true;
            }
        }
        reached = next;
        skip_empty(tokens, &mut reached);
    }
    reached.last().copied().unwrap_or_default()
}

/// Skips tokens that may match no characters.
fn skip_empty(tokens: &[Token], reached: &mut [bool]) {
    for (position, token) in tokens.iter().enumerate() {
        if reached[position] && token.repeats() {
            reached[position + 1] = true;
        }
    }
}

impl Token {
    /// Whether it matches any number of characters.
    fn repeats(&self) -> bool {
        matches!(self, Self::AnyText | Self::AnySegment)
    }

    fn example(&self) -> Option<char> {
        match self {
            Self::Literal(literal) => Some(*literal),
            Self::Class { negated: false, ranges } => ranges.first().map(|(low, _)| *low),
            _ => ('a'..='z').find(|&character| self.takes(character)),
        }
    }

    fn takes(&self, character: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == character,
            Self::AnyText | Self::AnyCharacter => true,
            Self::AnySegment | Self::AnyExceptSeparator => character != SEPARATOR,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != *negated
            }
        }
    }
}

/// The parser's context: a comma and a closing brace are special inside braces only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Braces,
}

struct Parser<'a> {
    pattern: &'a str,
    characters: &'a [char],
    index: usize,
    slash: Slash,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let character = self.characters.get(self.index).copied();
        self.index += 1;
        character
    }

    /// Parses up to the end or the closing brace.
    fn alternatives(&mut self, inside: Inside) -> Result<Vec<Vec<Token>>, GlobError> {
        let mut done = Vec::new();
        let mut current = vec![Vec::new()];
        loop {
            let Some(character) = self.next() else {
                if inside == Inside::Braces {
                    return Err(GlobError::Brace { pattern: self.pattern.to_owned() });
                }
                done.append(&mut current);
                return Ok(done);
            };
            let token = match character {
                ',' if inside == Inside::Braces => {
                    done.append(&mut current);
                    current = vec![Vec::new()];
                    continue;
                }
                '}' if inside == Inside::Braces => {
                    done.append(&mut current);
                    return Ok(done);
                }
                '{' => {
                    let inner = self.alternatives(Inside::Braces)?;
                    current = self.product(&current, &inner)?;
                    continue;
                }
                '*' => self.any_text(),
                '?' if self.slash == Slash::Separator => Token::AnyExceptSeparator,
                '?' => Token::AnyCharacter,
                '[' => self.class()?,
                '\\' => {
                    let escaped = self.next();
                    Token::Literal(
                        escaped.ok_or_else(|| GlobError::Escape { pattern: self.pattern.to_owned() })?,
                    )
                }
                other => Token::Literal(other),
            };
            for tokens in &mut current {
                tokens.push(token.clone());
            }
        }
    }

    /// Parses after one `*`; several in a row match separators, too.
    fn any_text(&mut self) -> Token {
        let stars = self.characters[self.index..].iter().take_while(|character| **character == '*').count();
        self.index += stars;
        if stars == 0 && self.slash == Slash::Separator { Token::AnySegment } else { Token::AnyText }
    }

    fn product(&self, before: &[Vec<Token>], inner: &[Vec<Token>]) -> Result<Vec<Vec<Token>>, GlobError> {
        if before.len() * inner.len() > ALTERNATIVES_MAX {
            return Err(GlobError::TooMany { pattern: self.pattern.to_owned() });
        }
        let joined = |tokens: &Vec<Token>| {
            inner.iter().map(|more| [tokens.as_slice(), more].concat()).collect::<Vec<_>>()
        };
        Ok(before.iter().flat_map(joined).collect())
    }

    /// Parses after `[`: one range, or characters of which `\` escapes the next one.
    fn class(&mut self) -> Result<Token, GlobError> {
        let malformed = || GlobError::Class { pattern: self.pattern.to_owned() };
        let rest = &self.characters[self.index.min(self.characters.len())..];
        let (negated, inner) = match rest.split_first() {
            Some(('!', more)) => (true, more),
            _ => (false, rest),
        };
        let (ranges, rest) = match *inner {
            [low, '-', high, ']', ref rest @ ..] if low <= high => (vec![(low, high)], rest),
            [_, '-', ..] => return Err(malformed()),
            _ => {
                let mut ranges = Vec::new();
                let mut characters = inner.iter();
                loop {
                    match characters.next().ok_or_else(malformed)? {
                        ']' => break,
                        '\\' => ranges.extend(characters.next().map(|&escaped| (escaped, escaped))),
                        &other => ranges.push((other, other)),
                    }
                }
                (ranges, characters.as_slice())
            }
        };
        if ranges.is_empty() {
            return Err(malformed());
        }
        self.index = self.characters.len() - rest.len();
        Ok(Token::Class { negated, ranges })
    }
}

#[cfg(test)]
mod tests;
