//! The few messages of the plugin protocol, as bytes (`crates/tiphys-cmp/proto/plugin.proto`).

/// Bytes in front of a gRPC message: a flag for compression, and the length.
const PREFIX_BYTES: usize = 5;

/// Field numbers of `AppStreamRequest`.
const METADATA: u8 = 1;
const FILE: u8 = 2;

/// Wire type of texts, bytes and messages.
const DELIMITED: u8 = 2;

/// What precedes an upload.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metadata<'a> {
    pub(crate) app_path: &'a str,
    pub(crate) checksum: &'a str,
    pub(crate) size: u64,
    pub(crate) env: &'a [(&'a str, &'a str)],
}

impl Metadata<'_> {
    /// A whole gRPC message of it.
    pub(super) fn message(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        delimited(&mut fields, 1, b"bench");
        delimited(&mut fields, 2, self.app_path.as_bytes());
        delimited(&mut fields, 3, self.checksum.as_bytes());
        fields.push(4 << 3);
        varint(&mut fields, self.size);
        for (name, value) in self.env {
            let mut entry = Vec::new();
            delimited(&mut entry, 1, name.as_bytes());
            delimited(&mut entry, 2, value.as_bytes());
            delimited(&mut fields, 5, &entry);
        }
        request(METADATA, &fields)
    }
}

/// A whole gRPC message with a piece of the archive.
pub(super) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(bytes.len() + 4);
    delimited(&mut file, 1, bytes);
    request(FILE, &file)
}

/// The empty message, which asks for the plugin's configuration.
pub(super) fn empty() -> Vec<u8> {
    vec![0; PREFIX_BYTES]
}

/// The content of the one message that an answer consists of; none if it is not whole.
pub(super) fn content(answer: &[u8]) -> Option<&[u8]> {
    let (prefix, content) = answer.split_at_checked(PREFIX_BYTES)?;
    let length = u32::from_be_bytes(prefix[1..].try_into().ok()?);
    (usize::try_from(length) == Ok(content.len())).then_some(content)
}

fn request(field: u8, content: &[u8]) -> Vec<u8> {
    let mut message = vec![0; PREFIX_BYTES];
    delimited(&mut message, field, content);
    let length = u32::try_from(message.len() - PREFIX_BYTES).unwrap_or(u32::MAX);
    message[1..PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
    message
}

fn delimited(to: &mut Vec<u8>, field: u8, content: &[u8]) {
    to.push(field << 3 | DELIMITED);
    varint(to, content.len() as u64);
    to.extend_from_slice(content);
}

fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        to.push(low_bits(value) | 0x80);
        value >>= 7;
    }
    to.push(low_bits(value));
}

fn low_bits(value: u64) -> u8 {
    value.to_le_bytes()[0] & 0x7f
}

#[cfg(test)]
mod tests;
