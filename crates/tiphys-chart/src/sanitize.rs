//! Helm's cleaning of strings in metadata.

use tiphys_go::strconv::quote_char;

/// Replaces white space with spaces and removes unprintable characters.
pub(crate) fn sanitized(text: &str) -> String {
    let blank = |character: char| if character.is_whitespace() { ' ' } else { character };
    text.chars().map(blank).filter(|character| is_printable(*character)).collect()
}

/// Whether Go's `unicode.IsPrint` accepts a character: those are the ones that Go quotes without an escape.
fn is_printable(character: char) -> bool {
    match character {
        ' '..='~' => true,
        _ => quote_char(character).contains(character),
    }
}
