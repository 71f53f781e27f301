//! Decoding of bytes: UTF-8 and UTF-16 with byte-order marks, and Go's replacement of invalid UTF-8.

use std::borrow::Cow;

/// Decoded text, up to the first invalid byte.
pub(crate) struct Decoded<'a> {
    /// The valid text, without a byte-order mark.
    pub(crate) text: Cow<'a, str>,
    /// The error after the text, if the input is invalid.
    pub(crate) broken: Option<&'static str>,
}

const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";
const UTF16_LE_BOM: &[u8] = b"\xff\xfe";
const UTF16_BE_BOM: &[u8] = b"\xfe\xff";

/// Decodes UTF-8, or UTF-16 with a byte-order mark, as YAML requires.
pub(crate) fn decode(bytes: &[u8]) -> Decoded<'_> {
    if let Some(rest) = bytes.strip_prefix(UTF16_LE_BOM) {
        return decode_utf16(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(UTF16_BE_BOM) {
        return decode_utf16(rest, u16::from_be_bytes);
    }
    let bytes = without_bom(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded { text: Cow::Borrowed(text), broken: None },
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            Decoded { text: String::from_utf8_lossy(valid), broken: Some("invalid UTF-8") }
        }
    }
}

/// Returns the text of a file as Argo CD reads it: UTF-8, or UTF-16 with a byte-order mark, without the mark. Invalid bytes become U+FFFD.
pub fn file_text(bytes: &[u8]) -> Cow<'_, str> {
    if !is_utf16(bytes) {
        return go_lossy(without_bom(bytes));
    }
    let Decoded { text, broken } = decode(bytes);
    match broken {
        None => text,
        Some(_) => Cow::Owned(text.into_owned() + "\u{fffd}"),
    }
}

/// Returns the bytes after a UTF-8 byte-order mark, or all of them.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes)
}

/// Returns whether the bytes begin with a byte-order mark of UTF-16.
pub(crate) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(UTF16_LE_BOM) || bytes.starts_with(UTF16_BE_BOM)
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Decoded<'static> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len() / 2);
    for decoded in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match decoded {
            Ok(character) => text.push(character),
            Err(_) => return Decoded { text: Cow::Owned(text), broken: Some("invalid UTF-16") },
        }
    }
    let broken = (!rest.is_empty()).then_some("incomplete UTF-16 character");
    Decoded { text: Cow::Owned(text), broken }
}

/// Decodes UTF-8 and replaces each invalid byte by U+FFFD, as Go does. The standard library's lossy conversion replaces a whole truncated
/// character once.
pub(crate) fn go_lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}
