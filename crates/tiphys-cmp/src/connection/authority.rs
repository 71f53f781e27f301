//! An `:authority` that the `http` crate takes, in the place and with the length of one that it refuses.
//!
//! Both lengths stay: that of the text, because HPACK's tables count it, and that of its coded form, because a frame says how long it is. So
//! each octet that may be the reason for a refusal gives way to one whose code in HPACK's Huffman table (RFC 7541 appendix B) is as long.

use tonic::codegen::http::uri::Authority;

/// How the octets of a string are written in a header block (RFC 7541 section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// As they are.
    Plain,
    /// By HPACK's Huffman table.
    Huffman,
}

/// Of the octets that grpc-go leaves in an authority (`spec/cmp.md` 1.2) those over which `http` may stumble, and what takes their place.
const SUBSTITUTES: [(u8, u8); 5] = [(b'%', b'-'), (b':', b'x'), (b'@', b'~'), (b'[', b'~'), (b']', b'~')];

/// Makes the value acceptable if it is not. One that cannot be made so, by these means, stays: then the connection's reader answers.
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
            write_bits(value, symbol.at, code, bits);
        }
    }
}

/// What a text is to become; nothing if it is good as it is, or would not be good then either.
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

/// The octets whose codes have up to 13 bits, by that number: all that grpc-go writes into an authority are among them. The code is
/// canonical, that is, the codes of one length are consecutive numbers in the order of the octets.
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

/// The octets of each length with that length and the code of the first.
fn rows() -> impl Iterator<Item = (u32, u32, &'static [u8])> {
    let (mut next, mut bits_before) = (0_u32, 0);
    OCTETS_BY_BITS.iter().map(move |&(bits, octets)| {
        let first = next << (bits - bits_before);
        next = first + u32::try_from(octets.len()).unwrap_or(u32::MAX);
        bits_before = bits;
        (bits, first, octets)
    })
}

/// The code of an octet and its length in bits.
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

/// One octet of a coded string.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    octet: u8,
    /// Where its code begins, in bits.
    at: usize,
}

/// Longest code of [`OCTETS_BY_BITS`].
const CODE_BITS_MAX: u32 = 13;

/// At the end less than an octet may be left, all ones (RFC 7541 section 5.2).
const PADDING_BITS_MAX: u32 = 7;

/// The octets of a coded string; nothing if one of them has a longer code, or if the string is not well-formed.
fn decode(coded: &[u8]) -> Option<Vec<Symbol>> {
    let mut symbols = Vec::with_capacity(coded.len() * 8 / 5);
    let (mut code, mut bits) = (0_u32, 0_u32);
    for at in 0..coded.len() * 8 {
        code = code << 1 | u32::from(coded[at / 8] >> (7 - at % 8) & 1);
        bits += 1;
        if let Some(octet) = octet_of(code, bits) {
            symbols.push(Symbol { octet, at: at + 1 - bits as usize });
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
        let place = at + bit as usize;
        let mask = 0x80 >> (place % 8);
        if code >> (bits - 1 - bit) & 1 == 1 {
            coded[place / 8] |= mask;
        } else {
            coded[place / 8] &= !mask;
        }
    }
}

#[cfg(test)]
mod tests;
