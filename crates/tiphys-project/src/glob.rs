//! Patterns in gobwas' language, as Argo CD uses it: for `directory.include` and `directory.exclude` without separators, for the
//! repositories of a project with `/` as one.

/// A pattern that can be matched against relative paths, or against addresses.
///
/// `**` is any text; so is `*`, and `?` is one character, both without `/` where that is a separator; `[abc]` is one of these or, with `!` first, none of them;
/// `[a-c]` is a range; `{a,b}` is one of several patterns, which may be nested; `\` takes the next character literally.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    /// Braces are multiplied out, so that matching has no nesting.
    alternatives: Vec<Vec<Token>>,
}

/// What a `/` is in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slash {
    /// A character as any other.
    Ordinary,
    /// The end of what `*` and `?` stand for.
    Separator,
}

/// Alternatives that the braces of one pattern may be multiplied out to.
const ALTERNATIVES_MAX: usize = 1_000;

/// What divides an address into parts.
const SEPARATOR: char = '/';

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
    /// Any text without a separator.
    AnyPart,
    AnyCharacter,
    /// Any character but a separator.
    AnyOfPart,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    /// Reads a pattern.
    pub fn new(pattern: &str, slash: Slash) -> Result<Self, GlobError> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(GlobError::TooLong { bytes: pattern.len() });
        }
        let characters: Vec<char> = pattern.chars().collect();
        let mut parser = Parser { pattern, characters: &characters, index: 0, slash };
        Ok(Self { alternatives: parser.alternatives(Inside::Nothing)? })
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        let characters: Vec<char> = text.chars().collect();
        self.alternatives.iter().any(|tokens| matches(tokens, &characters))
    }
}

/// Matching by all places of the pattern that the text so far can have led to, so that no pattern takes more than a step for each of its
/// tokens and each character.
fn matches(tokens: &[Token], text: &[char]) -> bool {
    let mut reached = vec![false; tokens.len() + 1];
    reached[0] = true;
    pass_empty(tokens, &mut reached);
    for &character in text {
        let mut next = vec![false; tokens.len() + 1];
        for (place, token) in tokens.iter().enumerate().filter(|(place, _)| reached[*place]) {
            if token.takes(character) {
                next[if token.repeats() { place } else { place + 1 }] = true;
            }
        }
        reached = next;
        pass_empty(tokens, &mut reached);
    }
    reached.last().copied().unwrap_or_default()
}

/// What can stand for no character may be left out.
fn pass_empty(tokens: &[Token], reached: &mut [bool]) {
    for (place, token) in tokens.iter().enumerate() {
        if reached[place] && token.repeats() {
            reached[place + 1] = true;
        }
    }
}

impl Token {
    /// Whether it stands for any number of characters.
    fn repeats(&self) -> bool {
        matches!(self, Self::AnyText | Self::AnyPart)
    }

    fn takes(&self, character: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == character,
            Self::AnyText | Self::AnyCharacter => true,
            Self::AnyPart | Self::AnyOfPart => character != SEPARATOR,
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
    slash: Slash,
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
                '*' => self.any_text(),
                '?' if self.slash == Slash::Separator => Token::AnyOfPart,
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

    /// Behind one `*`: more of them make it any text.
    fn any_text(&mut self) -> Token {
        let stars = self.characters[self.index..].iter().take_while(|character| **character == '*').count();
        self.index += stars;
        if stars == 0 && self.slash == Slash::Separator { Token::AnyPart } else { Token::AnyText }
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
