//! Finds a literal `:authority` among the representations of header fields in a header block (RFC 7541 section 6).

use super::authority::{Coding, make_acceptable};

/// Index of `:authority` in HPACK's static table (RFC 7541 appendix A).
const AUTHORITY_INDEX: usize = 1;
const AUTHORITY: &[u8] = b":authority";
/// The same in HPACK's Huffman code.
const AUTHORITY_CODED: [u8; 8] = [0xb8, 0x3b, 0x53, 0x39, 0xec, 0x32, 0x7d, 0x7f];

/// Makes every literal `:authority` of a complete block acceptable, without changing a length. A malformed field, and everything after it,
/// is not changed.
///
/// An authority whose *name* is a reference to the dynamic table is not found, so it is not changed. Encoders do not write that, because
/// the name is in the static table.
pub(super) fn make_authority_acceptable(block: &mut [u8]) {
    let mut reader = Reader { block, position: 0 };
    while reader.field().is_some() {}
}

/// A cursor in a block.
struct Reader<'a> {
    block: &'a mut [u8],
    position: usize,
}

impl Reader<'_> {
    /// Reads one representation. `None` at the end, or if it is malformed.
    fn field(&mut self) -> Option<()> {
        let first = *self.block.get(self.position)?;
        if first & 0b1000_0000 != 0 {
            self.integer(7)?; // indexed field
        } else if first & 0b1110_0000 == 0b0010_0000 {
            self.integer(5)?; // dynamic table size update
        } else {
            // A literal with incremental indexing, without indexing, or never indexed.
            let name = self.integer(if first & 0b0100_0000 != 0 { 6 } else { 4 })?;
            let is_authority = if name == 0 {
                let (coding, text) = self.string()?;
                match coding {
                    Coding::Plain => text == AUTHORITY,
                    Coding::Huffman => text == AUTHORITY_CODED,
                }
            } else {
                name == AUTHORITY_INDEX
            };
            let (coding, value) = self.string()?;
            if is_authority {
                make_acceptable(value, coding);
            }
        }
        Some(())
    }

    /// Reads an integer that begins in the low bits of the next octet (RFC 7541 section 5.1). `None` if it is too large for a length or an
    /// index.
    fn integer(&mut self, prefix_bits: u32) -> Option<usize> {
        let prefix_max = (1_usize << prefix_bits) - 1;
        let mut value = usize::from(self.octet()?) & prefix_max;
        if value < prefix_max {
            return Some(value);
        }
        for shift in [0, 7, 14, 21] {
            let octet = self.octet()?;
            value += usize::from(octet & 0b0111_1111) << shift;
            if octet & 0b1000_0000 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn string(&mut self) -> Option<(Coding, &mut [u8])> {
        let coding =
            if self.block.get(self.position)? & 0b1000_0000 == 0 { Coding::Plain } else { Coding::Huffman };
        let length = self.integer(7)?;
        let begin = self.position;
        self.position = begin.checked_add(length)?;
        self.block.get_mut(begin..self.position).map(|text| (coding, text))
    }

    fn octet(&mut self) -> Option<u8> {
        let octet = *self.block.get(self.position)?;
        self.position += 1;
        Some(octet)
    }
}

#[cfg(test)]
mod tests;
