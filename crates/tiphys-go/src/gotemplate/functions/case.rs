//! Letter case, and names in several cases.

use super::{Function, Type};
use crate::gotemplate::unicode::{
    ERROR, characters, decode, is_alphanumeric, is_digit, is_letter, is_lower, is_number, is_punctuation,
    is_space, is_title, is_upper, map, to_lower, to_title, to_upper,
};
use crate::gotemplate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("upper", &[Type::String], |call| Ok(map(&call.string(0), to_upper).into())),
    Function::new("lower", &[Type::String], |call| Ok(map(&call.string(0), to_lower).into())),
    Function::new("title", &[Type::String], |call| Ok(title(&call.string(0)).into())),
    Function::new("untitle", &[Type::String], |call| Ok(untitle(&call.string(0)).into())),
    Function::new("swapcase", &[Type::String], |call| Ok(swap_case(&call.string(0)).into())),
    Function::new("snakecase", &[Type::String], |call| Ok(Value::from(delimited(&call.string(0), '_')))),
    Function::new("kebabcase", &[Type::String], |call| Ok(Value::from(delimited(&call.string(0), '-')))),
    Function::new("camelcase", &[Type::String], |call| Ok(Value::from(pascal_case(&call.string(0))))),
];

/// Begins each word with a capital letter, as `strings.Title`.
fn title(string: &[u8]) -> Vec<u8> {
    let mut last = ' ';
    map(string, |c| {
        let is_separator = if last.is_ascii() {
            !is_alphanumeric(last)
        } else {
            !(is_letter(last) || is_digit(last)) && is_space(last)
        };
        last = c;
        if is_separator { to_title(c) } else { c }
    })
}

/// Begins each word with a lower-case letter.
fn untitle(string: &[u8]) -> Vec<u8> {
    let mut is_start = true;
    map(string, |c| {
        if is_space(c) {
            is_start = true;
            c
        } else if std::mem::take(&mut is_start) {
            to_lower(c)
        } else {
            c
        }
    })
}

fn swap_case(string: &[u8]) -> Vec<u8> {
    let mut is_start = true;
    map(string, |c| {
        if is_upper(c) || is_title(c) {
            is_start = false;
            to_lower(c)
        } else if is_lower(c) {
            if std::mem::take(&mut is_start) { to_title(c) } else { to_upper(c) }
        } else {
            is_start = is_space(c);
            c
        }
    })
}

fn is_connector(c: char) -> bool {
    matches!(c, '-' | '_') || is_space(c)
}

/// Writes a name in Pascal case, as `xstrings.ToPascalCase`.
fn pascal_case(string: &[u8]) -> String {
    let mut out = String::new();
    let mut rest = characters(string).map(|(_, c, _)| c);
    let mut current = None;
    for c in rest.by_ref() {
        if is_connector(c) {
            out.push(c);
        } else {
            current = Some(c);
            break;
        }
    }
    let Some(first) = current else {
        // As in Go, the last one of connectors alone is written twice.
        out.extend(out.chars().next_back());
        return out;
    };
    let mut is_upper_word = is_upper(first);
    let mut current = to_upper(first);
    for c in rest {
        let last = std::mem::replace(&mut current, c);
        if is_connector(current) && is_connector(last) {
            out.push(last);
            continue;
        }
        if is_connector(last) {
            is_upper_word = is_upper(current);
            current = to_upper(current);
            continue;
        }
        if is_upper_word {
            if is_upper(current) {
                current = to_lower(current);
            } else {
                is_upper_word = false;
            }
        }
        out.push(last);
    }
    out.push(current);
    out
}

/// A word of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Invalid,
    Number,
    UpperCase,
    Alphabet,
    Connector,
    Punctuation,
    Other,
}

/// Letters other than Chinese characters.
fn is_alphabet(c: char) -> bool {
    is_letter(c) && !matches!(u32::from(c), 0x3400..=0x4D85 | 0x4E00..=0x9FCC | 0x20000..=0x2B81D)
}

/// Decodes the next valid character, skipping invalid bytes; `last` if there is none.
fn next_valid(string: &[u8], last: char) -> (char, usize) {
    let mut size = 0;
    loop {
        let (c, length) = decode(&string[size..]);
        if length == 0 {
            return (last, size);
        }
        size += length;
        if c != ERROR {
            return (c, size);
        }
    }
}

/// Extends a word while its characters match. Returns its length, and the character and the length of the one after it.
fn extend(string: &[u8], mut end: usize, first: char, is_part: impl Fn(char) -> bool) -> usize {
    let mut last = first;
    while end < string.len() {
        let (c, size) = next_valid(&string[end..], last);
        if !is_part(c) {
            break;
        }
        last = c;
        end += size;
    }
    end
}

/// Splits off the first word.
fn next_word(string: &[u8]) -> (Word, &[u8], &[u8]) {
    if string.is_empty() {
        return (Word::Invalid, string, string);
    }
    let (c, size) = next_valid(string, ERROR);
    if c == ERROR {
        return (Word::Invalid, &string[..size], &string[size..]);
    }
    let is_small = |c: char| is_alphabet(c) && !is_upper(c);
    let (word, end) = if is_connector(c) {
        (Word::Connector, extend(string, size, c, is_connector))
    } else if is_punctuation(c) {
        (Word::Punctuation, extend(string, size, c, is_punctuation))
    } else if is_upper(c) {
        (Word::UpperCase, upper_word(string, size, c))
    } else if is_alphabet(c) {
        (Word::Alphabet, extend(string, size, c, is_small))
    } else if is_number(c) {
        (Word::Number, extend(string, size, c, is_number))
    } else {
        let is_other = |c: char| !(is_connector(c) || is_alphabet(c) || is_number(c) || is_punctuation(c));
        (Word::Other, extend(string, size, c, is_other))
    };
    (word, &string[..end], &string[end..])
}

/// Returns the end of a word that begins with a capital letter: `Name`, `HTTP`, or `HTTP` of `HTTPServer`.
fn upper_word(string: &[u8], size: usize, first: char) -> usize {
    if size == string.len() {
        return size;
    }
    let (c, length) = next_valid(&string[size..], first);
    if !is_upper(c) {
        let is_small = |c: char| is_alphabet(c) && !is_upper(c);
        return if is_alphabet(c) { extend(string, size + length, c, is_small) } else { size };
    }
    let (mut last, mut last_length, mut end) = (c, length, size + length);
    while end < string.len() {
        let (c, length) = next_valid(&string[end..], last);
        last = c;
        if !is_upper(c) {
            break;
        }
        last_length = length;
        end += length;
    }
    if end < string.len() && is_alphabet(last) { end - last_length } else { end }
}

/// Appends a word in lower case; words that are not capital letters are as they are.
fn push_lower(out: &mut String, word: Word, text: &[u8], connector: char) {
    if !matches!(word, Word::UpperCase | Word::Connector) {
        out.push_str(&String::from_utf8_lossy(text));
        return;
    }
    for (_, c, _) in characters(text) {
        out.push(if is_connector(c) {
            connector
        } else if is_upper(c) {
            to_lower(c)
        } else {
            c
        });
    }
}

/// Writes a name in lower case with connectors, as `xstrings.ToSnakeCase`.
fn delimited(string: &[u8], connector: char) -> String {
    let mut out = String::new();
    let (mut word, mut text, mut rest) = next_word(string);
    while !rest.is_empty() {
        if word != Word::Connector {
            push_lower(&mut out, word, text, connector);
        }
        let (previous, previous_text) = (word, text);
        (word, text, rest) = next_word(rest);
        match previous {
            Word::Number => {
                while matches!(word, Word::Alphabet | Word::Number) {
                    push_lower(&mut out, word, text, connector);
                    (word, text, rest) = next_word(rest);
                }
                if !matches!(word, Word::Invalid | Word::Punctuation | Word::Connector) {
                    out.push(connector);
                }
            }
            Word::Connector => push_lower(&mut out, previous, previous_text, connector),
            Word::Punctuation => {}
            _ if word != Word::Number => {
                if !matches!(word, Word::Connector | Word::Punctuation) {
                    out.push(connector);
                }
            }
            _ if rest.is_empty() => {}
            _ => {
                let number = text;
                (word, text, rest) = next_word(rest);
                if word != Word::Alphabet {
                    push_lower(&mut out, Word::Number, number, connector);
                    if !matches!(word, Word::Connector | Word::Punctuation) {
                        out.push(connector);
                    }
                    continue;
                }
                out.push(connector);
                push_lower(&mut out, Word::Number, number, connector);
                while matches!(word, Word::Alphabet | Word::Number) {
                    push_lower(&mut out, word, text, connector);
                    (word, text, rest) = next_word(rest);
                }
                if !matches!(word, Word::Invalid | Word::Connector | Word::Punctuation) {
                    out.push(connector);
                }
            }
        }
    }
    push_lower(&mut out, word, text, connector);
    out
}
