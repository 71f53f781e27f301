//! Go's decoding of UTF-8.

/// Returns the first character as Go decodes it, and its length in bytes: U+FFFD and one byte if the bytes are invalid.
pub fn first_char(bytes: &[u8]) -> Option<(char, usize)> {
    let lead = *bytes.first()?;
    if lead < 0x80 {
        return Some((char::from(lead), 1));
    }
    let longest = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(longest) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&longest[..error.valid_up_to()]).unwrap_or_default(),
    };
    Some(valid.chars().next().map_or((char::REPLACEMENT_CHARACTER, 1), |c| (c, c.len_utf8())))
}

/// Returns the characters of a string as in Go's `range`.
pub fn chars(mut bytes: &[u8]) -> impl Iterator<Item = char> {
    std::iter::from_fn(move || {
        let (first, length) = first_char(bytes)?;
        bytes = &bytes[length..];
        Some(first)
    })
}
