//! Base64 as Go's standard encoding decodes it: line breaks are ignored, padding is required.

/// Decodes base64; `None` if it is invalid.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    if !symbols.len().is_multiple_of(4) {
        return None;
    }
    let unpadded = match symbols.as_slice() {
        [rest @ .., b'=', b'='] | [rest @ .., b'='] => rest,
        all => all,
    };
    let mut bytes = Vec::with_capacity(unpadded.len() / 4 * 3 + 2);
    for group in unpadded.chunks(4) {
        let mut bits = 0_u32;
        for symbol in group {
            bits = bits << 6 | value(*symbol)?;
        }
        // A group of n symbols encodes n - 1 bytes. The remaining bits are ignored.
        let filled = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(filled.to_be_bytes().get(1..group.len())?);
    }
    Some(bytes)
}

fn value(symbol: u8) -> Option<u32> {
    let value = match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}
