//! Encodings and checksums.

use std::fmt::Write as _;

use sha1::Digest as _;

use super::{Call, Function, Outcome, Type};
use crate::gotemplate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("b64enc", &[Type::String], |call| Ok(BASE64.encode(&call.string(0)).into())),
    Function::new("b64dec", &[Type::String], |call| decode(call, &BASE64)),
    Function::new("b32enc", &[Type::String], |call| Ok(BASE32.encode(&call.string(0)).into())),
    Function::new("b32dec", &[Type::String], |call| decode(call, &BASE32)),
    Function::new("sha1sum", &[Type::String], |call| {
        let string = call.string(0);
        Ok(hexadecimal(&sha1::Sha1::digest(&*string)))
    }),
    Function::new("sha256sum", &[Type::String], |call| {
        let string = call.string(0);
        Ok(hexadecimal(&sha2::Sha256::digest(&*string)))
    }),
    Function::new("sha512sum", &[Type::String], |call| {
        let string = call.string(0);
        Ok(hexadecimal(&sha2::Sha512::digest(&*string)))
    }),
    Function::new("adler32sum", &[Type::String], |call| Ok(adler32(&call.string(0)).to_string().into())),
];

fn hexadecimal(digest: &[u8]) -> Value {
    let mut out = String::new();
    for byte in digest {
        write!(out, "{byte:02x}").expect("writing to a string");
    }
    out.into()
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut a, mut b) = (1, 0);
    for byte in bytes {
        a = (a + u32::from(*byte)) % MODULUS;
        b = (b + a) % MODULUS;
    }
    b << 16 | a
}

/// An encoding with padding.
struct Encoding {
    name: &'static str,
    alphabet: &'static [u8],
    bits: u32,
    /// Characters of a group.
    group: usize,
}

const BASE64: Encoding = Encoding {
    name: "base64",
    alphabet: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    bits: 6,
    group: 4,
};

const BASE32: Encoding =
    Encoding { name: "base32", alphabet: b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", bits: 5, group: 8 };

/// Decodes a string. Sprig returns the message of an error as the result.
fn decode(call: &mut Call<'_>, encoding: &Encoding) -> Outcome {
    Ok(match encoding.decode(&call.string(0)) {
        Ok(bytes) => bytes.into(),
        Err(offset) => format!("illegal {} data at input byte {offset}", encoding.name).into(),
    })
}

impl Encoding {
    fn encode(&self, bytes: &[u8]) -> String {
        let mut out = String::new();
        let (mut buffer, mut count) = (0_u32, 0);
        let digit = |value: u32| char::from(self.alphabet[value as usize & (self.alphabet.len() - 1)]);
        for byte in bytes {
            buffer = buffer << 8 | u32::from(*byte);
            count += 8;
            while count >= self.bits {
                count -= self.bits;
                out.push(digit(buffer >> count));
            }
            buffer &= (1 << count) - 1;
        }
        if count > 0 {
            out.push(digit(buffer << (self.bits - count)));
        }
        while !out.len().is_multiple_of(self.group) {
            out.push('=');
        }
        out
    }

    /// Decodes; the error is the offset of the first wrong byte, as in Go. Line breaks are ignored.
    fn decode(&self, input: &[u8]) -> Result<Vec<u8>, usize> {
        let mut out = Vec::new();
        let mut rest =
            input.iter().copied().enumerate().filter(|(_, byte)| !matches!(byte, b'\r' | b'\n')).peekable();
        while rest.peek().is_some() {
            let (mut buffer, mut digits, mut last) = (0_u64, 0_usize, 0_usize);
            while digits < self.group {
                let Some((offset, byte)) = rest.next() else {
                    // The input ends within a group.
                    return Err((last + 1).saturating_sub(digits));
                };
                last = offset;
                if byte == b'=' {
                    return self.padding(&mut rest, (offset, digits), input.len(), buffer, out);
                }
                let value = self.alphabet.iter().position(|known| *known == byte).ok_or(offset)?;
                buffer = buffer << self.bits | value as u64;
                digits += 1;
            }
            self.push(&mut out, buffer, digits);
        }
        Ok(out)
    }

    /// Appends the whole bytes of the digits of a group.
    fn push(&self, out: &mut Vec<u8>, buffer: u64, digits: usize) {
        let bits = digits * self.bits as usize;
        let bytes = bits / 8;
        let shifted = buffer >> (bits % 8);
        out.extend_from_slice(&shifted.to_be_bytes()[8 - bytes..]);
    }

    /// Checks the padding after some digits, and that nothing follows.
    fn padding(
        &self,
        rest: &mut impl Iterator<Item = (usize, u8)>,
        (offset, digits): (usize, usize),
        length: usize,
        buffer: u64,
        mut out: Vec<u8>,
    ) -> Result<Vec<u8>, usize> {
        let is_possible = match self.group {
            4 => digits >= 2,
            _ => matches!(digits, 2 | 4 | 5 | 7),
        };
        if !is_possible {
            return Err(offset);
        }
        for _ in digits + 1..self.group {
            match rest.next() {
                Some((_, b'=')) => {}
                Some((offset, _)) => return Err(offset),
                None => return Err(length),
            }
        }
        if let Some((offset, _)) = rest.next() {
            return Err(offset);
        }
        self.push(&mut out, buffer, digits);
        Ok(out)
    }
}

/// Encodes bytes in base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}
