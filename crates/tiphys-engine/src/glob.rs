//! Patterns of `directory.include` and `directory.exclude`: gobwas' language, as Argo CD uses it there, without separators.

/// A pattern that can be matched against relative paths.
///
/// `*` and `**` are any text, `/` included; `?` is one character; `[abc]` is one of these or, with `!` first, none of them;
/// `[a-c]` is a range; `{a,b}` is one of several patterns, which may be nested; `\` takes the next character literally.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    /// Braces are multiplied out, so that matching has no nesting.
    alternatives: Vec<Vec<Token>>,
}

/// Alternatives that the braces of one pattern may be multiplied out to.
const ALTERNATIVES_MAX: usize = 1_000;

/// Longest pattern, in bytes; it bounds how deep braces nest.
const PATTERN_BYTES_MAX: usize = 1_024;

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// `[` without `]`, an empty or a malformed class.
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
    /// Too long.
    #[error("a pattern of {bytes} bytes is longer than the {PATTERN_BYTES_MAX} that are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Too many alternatives.
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
    AnyCharacter,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Glob {
    /// Reads a pattern.
    pub fn new(pattern: &str) -> Result<Self, GlobError> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(GlobError::TooLong { bytes: pattern.len() });
        }
        let characters: Vec<char> = pattern.chars().collect();
        let mut parser = Parser { pattern, characters: &characters, index: 0 };
        Ok(Self { alternatives: parser.alternatives(Inside::Nothing)? })
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        let characters: Vec<char> = text.chars().collect();
        self.alternatives.iter().any(|tokens| matches(tokens, &characters))
    }
}

/// Matching with one point to return to: behind the last `*`.
fn matches(tokens: &[Token], text: &[char]) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() || token < tokens.len() {
        match (tokens.get(token), text.get(at)) {
            (Some(Token::AnyText), _) => {
                retry = Some((token, at));
                token += 1;
            }
            (Some(one), Some(&character)) if one.takes(character) => {
                token += 1;
                at += 1;
            }
            _ => match retry {
                Some((star, from)) if from < text.len() => {
                    retry = Some((star, from + 1));
                    token = star + 1;
                    at = from + 1;
                }
                _ => return false,
            },
        }
    }
    true
}

impl Token {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == character,
            Self::AnyText => false,
            Self::AnyCharacter => true,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != *negated
            }
        }
    }
}

/// Where the parser is: a comma and a closing brace mean something inside braces only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Braces,
}

struct Parser<'a> {
    pattern: &'a str,
    characters: &'a [char],
    index: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let character = self.characters.get(self.index).copied();
        self.index += 1;
        character
    }

    /// Everything up to the end, or to the closing brace.
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
                    current = self.multiplied(&current, &inner)?;
                    continue;
                }
                '*' => Token::AnyText,
                '?' => Token::AnyCharacter,
                '[' => self.class()?,
                '\\' => Token::Literal(self.next().unwrap_or('\\')),
                other => Token::Literal(other),
            };
            for tokens in &mut current {
                tokens.push(token.clone());
            }
        }
    }

    fn multiplied(&self, before: &[Vec<Token>], inner: &[Vec<Token>]) -> Result<Vec<Vec<Token>>, GlobError> {
        if before.len() * inner.len() > ALTERNATIVES_MAX {
            return Err(GlobError::TooMany { pattern: self.pattern.to_owned() });
        }
        let joined = |tokens: &Vec<Token>| {
            inner.iter().map(|more| [tokens.as_slice(), more].concat()).collect::<Vec<_>>()
        };
        Ok(before.iter().flat_map(joined).collect())
    }

    fn class(&mut self) -> Result<Token, GlobError> {
        let malformed = || GlobError::Class { pattern: self.pattern.to_owned() };
        let rest = &self.characters[self.index.min(self.characters.len())..];
        let length = rest.iter().position(|&character| character == ']').ok_or_else(malformed)?;
        let inner = &rest[..length];
        let (negated, inner) = match inner.split_first() {
            Some(('!', more)) => (true, more),
            _ => (false, inner),
        };
        let ranges = match *inner {
            [low, '-', high] if low <= high => vec![(low, high)],
            [] | [_, '-', ..] => return Err(malformed()),
            _ => inner.iter().map(|&character| (character, character)).collect(),
        };
        self.index += length + 1;
        Ok(Token::Class { negated, ranges })
    }
}

#[cfg(test)]
mod tests;
