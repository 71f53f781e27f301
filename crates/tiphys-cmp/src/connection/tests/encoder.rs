//! An HPACK encoder with a dynamic table, whose caller chooses each representation, and the frames that carry its blocks.

use std::collections::VecDeque;

use tiphys_testkit::http2::write as frame;

use super::huffman;
use crate::connection::authority::code_of;

/// Name and value.
pub(super) type Field = (Vec<u8>, Vec<u8>);

/// The fields of the static table that the tests need, with their places (RFC 7541 appendix A).
const STATIC: [(usize, &[u8], &[u8]); 5] = [
    (1, b":authority", b""),
    (3, b":method", b"POST"),
    (4, b":path", b"/"),
    (6, b":scheme", b"http"),
    (31, b"content-type", b""),
];
const STATIC_LENGTH: usize = 61;

/// How a block is written.
#[derive(Clone, Debug)]
pub(super) struct Writing {
    /// Puts literals into the dynamic table, and refers to what is there.
    pub(super) index: bool,
    /// Codes texts, if all of their octets have short codes.
    pub(super) coded: bool,
    /// Refers to names, where there is one.
    pub(super) named: bool,
    /// Begins with a new size of the dynamic table.
    pub(super) table_bytes: Option<usize>,
    /// Which of the literals that are not put into the table.
    pub(super) literal: u8,
}

/// A client's state between two blocks.
#[derive(Debug)]
pub(super) struct Encoder {
    table: VecDeque<Field>,
    table_bytes_max: usize,
}

impl Default for Encoder {
    fn default() -> Self {
        Self { table: VecDeque::new(), table_bytes_max: 4096 }
    }
}

impl Encoder {
    /// A header block.
    pub(super) fn block(&mut self, fields: &[Field], writing: &Writing) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(bytes) = writing.table_bytes {
            self.table_bytes_max = bytes;
            self.evict();
            integer(&mut out, 0b0010_0000, 5, bytes);
        }
        for field in fields {
            self.field(&mut out, field, writing);
        }
        out
    }

    fn field(&mut self, out: &mut Vec<u8>, field: &Field, writing: &Writing) {
        let (name, value) = field;
        let known = STATIC.iter().find(|(_, n, v)| n == name && v == value).map(|(index, ..)| *index);
        let dynamic =
            self.table.iter().position(|entry| entry == field).map(|index| STATIC_LENGTH + 1 + index);
        if let (true, Some(index)) = (writing.index, known.or(dynamic)) {
            integer(out, 0b1000_0000, 7, index);
            return;
        }
        let known = STATIC.iter().find(|(_, n, _)| n == name).map(|(index, ..)| *index);
        let dynamic = self.table.iter().position(|(n, _)| n == name).map(|index| STATIC_LENGTH + 1 + index);
        let name_index = known.or(dynamic).filter(|_| writing.named).unwrap_or_default();
        if writing.index {
            integer(out, 0b0100_0000, 6, name_index);
        } else {
            integer(out, (writing.literal & 1) << 4, 4, name_index);
        }
        if name_index == 0 {
            string(out, name, writing.coded);
        }
        string(out, value, writing.coded);
        if writing.index {
            self.table.push_front(field.clone());
            self.evict();
        }
    }

    fn evict(&mut self) {
        while self.table.iter().map(|(name, value)| name.len() + value.len() + 32).sum::<usize>()
            > self.table_bytes_max
        {
            self.table.pop_back();
        }
    }
}

fn integer(out: &mut Vec<u8>, pattern: u8, prefix_bits: u32, value: usize) {
    let prefix_max = (1_usize << prefix_bits) - 1;
    let octet = |value: usize| u8::try_from(value).expect("an octet");
    if value < prefix_max {
        out.push(pattern | octet(value));
        return;
    }
    out.push(pattern | octet(prefix_max));
    let mut rest = value - prefix_max;
    while rest > 127 {
        out.push(octet(rest & 127) | 128);
        rest >>= 7;
    }
    out.push(octet(rest));
}

fn string(out: &mut Vec<u8>, text: &[u8], coded: bool) {
    if coded && text.iter().all(|&octet| code_of(octet).is_some()) {
        let coded = huffman(text);
        integer(out, 0b1000_0000, 7, coded.len());
        out.extend(coded);
    } else {
        integer(out, 0, 7, text.len());
        out.extend(text);
    }
}

/// How a block is cut into frames.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    /// Bytes of all fragments but the last.
    pub(super) fragments: Vec<usize>,
    /// Bytes of padding in the first frame.
    pub(super) padding: Option<u8>,
    /// The first frame has a priority.
    pub(super) priority: bool,
}

impl Cut {
    /// The frames of a block.
    pub(super) fn frames(&self, stream: u32, block: &[u8]) -> Vec<u8> {
        let mut rest = block;
        let mut fragments: Vec<&[u8]> = Vec::new();
        for length in &self.fragments {
            let (fragment, others) = rest.split_at((*length).min(rest.len()));
            fragments.push(fragment);
            rest = others;
        }
        fragments.push(rest);
        let last = fragments.len() - 1;
        let mut out = Vec::new();
        for (index, fragment) in fragments.into_iter().enumerate() {
            let end_headers = if index == last { 0x4 } else { 0 };
            if index > 0 {
                out.extend(frame(0x9, end_headers, stream, fragment));
                continue;
            }
            let (mut flags, mut payload) = (end_headers, Vec::new());
            if let Some(padding) = self.padding {
                flags |= 0x8;
                payload.push(padding);
            }
            if self.priority {
                flags |= 0x20;
                payload.extend(b"\0\0\0\0\x10");
            }
            payload.extend(fragment);
            payload.extend(vec![b'%'; usize::from(self.padding.unwrap_or_default())]);
            out.extend(frame(0x1, flags, stream, &payload));
        }
        out
    }
}
