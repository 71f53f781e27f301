//! Replaces an `:authority` that the `http` crate rejects by one of the same length that it accepts.
//!
//! Two lengths must stay: that of the string, which HPACK's tables count, and that of its coded form, which is part of the frame. So each
//! octet that may be rejected is replaced by one with a code of the same length in HPACK's Huffman table (RFC 7541 appendix B).

use tonic::codegen::http::uri::Authority;

/// The coding of a string in a header block (RFC 7541 section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// Unencoded octets.
    Plain,
    /// HPACK's Huffman code.
    Huffman,
}

/// The octets that grpc-go does not escape in an authority and that `http` may reject, with their replacements.
const SUBSTITUTES: [(u8, u8); 5] = [(b'%', b'-'), (b':', b'x'), (b'@', b'~'), (b'[', b'~'), (b']', b'~')];

/// Makes a rejected value acceptable. A value that stays rejected is not changed, so the reader answers it.
pub(super) fn make_acceptable(value: &mut [u8], coding: Coding) {
    match coding {
        Coding::Plain => {
            if let Some(replaced) = replacement(value) {
                value.copy_from_slice(&replaced);
            }
        }
        Coding::Huffman => make_coded_acceptable(value),
    }
}

fn make_coded_acceptable(value: &mut [u8]) {
    let Some(symbols) = decode(value) else { return };
    let text: Vec<u8> = symbols.iter().map(|symbol| symbol.octet).collect();
    let Some(replaced) = replacement(&text) else { return };
    for (symbol, octet) in symbols.iter().zip(replaced) {
        if symbol.octet != octet
            && let Some((code, bits)) = code_of(octet)
        {
            write_bits(value, symbol.position, code, bits);
        }
    }
}

/// Returns the replacement of a value, `None` if it is accepted as it is or would still be rejected.
fn replacement(text: &[u8]) -> Option<Vec<u8>> {
    if Authority::try_from(text).is_ok() {
        return None;
    }
    let replaced: Vec<u8> = text.iter().map(|&octet| substitute(octet)).collect();
    Authority::try_from(replaced.as_slice()).is_ok().then_some(replaced)
}

fn substitute(octet: u8) -> u8 {
    SUBSTITUTES.iter().find(|(refused, _)| *refused == octet).map_or(octet, |&(_, instead)| instead)
}

/// The octets with codes of up to 13 bits, by number of bits. They include all octets that grpc-go writes to an authority. The code is
/// canonical: the codes of one length are consecutive in the order of the octets.
const OCTETS_BY_BITS: [(u32, &[u8]); 8] = [
    (5, b"012aceiost"),
    (6, b" %-./3456789=A_bdfghlmnpru"),
    (7, b":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz"),
    (8, b"&*,;XZ"),
    (10, b"!\"()?"),
    (11, b"'+|"),
    (12, b"#>"),
    (13, b"\0$@[]~"),
];

/// Returns, for each length, the code of the first octet and the octets.
fn rows() -> impl Iterator<Item = (u32, u32, &'static [u8])> {
    let (mut next, mut bits_before) = (0_u32, 0);
    OCTETS_BY_BITS.iter().map(move |&(bits, octets)| {
        let first = next << (bits - bits_before);
        next = first + u32::try_from(octets.len()).unwrap_or(u32::MAX);
        bits_before = bits;
        (bits, first, octets)
    })
}

/// Returns the code of an octet and its length in bits.
pub(super) fn code_of(octet: u8) -> Option<(u32, u32)> {
    rows().find_map(|(bits, first, octets)| {
        let index = octets.iter().position(|&candidate| candidate == octet)?;
        Some((first + u32::try_from(index).ok()?, bits))
    })
}

fn octet_of(code: u32, bits: u32) -> Option<u8> {
    let (_, first, octets) = rows().find(|&(row_bits, ..)| row_bits == bits)?;
    octets.get(usize::try_from(code.checked_sub(first)?).ok()?).copied()
}

/// A decoded octet.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    octet: u8,
    /// Position of its code in bits.
    position: usize,
}

/// Length of the longest code of [`OCTETS_BY_BITS`].
const CODE_BITS_MAX: u32 = 13;

/// At the end less than an octet of ones is allowed (RFC 7541 section 5.2).
const PADDING_BITS_MAX: u32 = 7;

/// Decodes a string. `None` if a code is longer or the string is malformed.
fn decode(coded: &[u8]) -> Option<Vec<Symbol>> {
    let mut symbols = Vec::with_capacity(coded.len() * 8 / 5);
    let (mut code, mut bits) = (0_u32, 0_u32);
    for at in 0..coded.len() * 8 {
        code = code << 1 | u32::from(coded[at / 8] >> (7 - at % 8) & 1);
        bits += 1;
        if let Some(octet) = octet_of(code, bits) {
            symbols.push(Symbol { octet, position: at + 1 - bits as usize });
            (code, bits) = (0, 0);
        } else if bits == CODE_BITS_MAX {
            return None;
        }
    }
    let is_padding = bits <= PADDING_BITS_MAX && code + 1 == 1 << bits;
    is_padding.then_some(symbols)
}

fn write_bits(coded: &mut [u8], at: usize, code: u32, bits: u32) {
    for bit in 0..bits {
        let index = at + bit as usize;
        let mask = 0x80 >> (index % 8);
        if code >> (bits - 1 - bit) & 1 == 1 {
            coded[index / 8] |= mask;
        } else {
            coded[index / 8] &= !mask;
        }
    }
}

#[cfg(test)]
mod tests;
