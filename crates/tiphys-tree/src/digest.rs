//! Computes the name of a tree from its content.

use std::fmt;

use crate::Modes;

/// Changes with the meaning of the hashed data.
const DOMAIN: &str = "tiphys tree by content, version 1";

/// Separates the names of archives' trees from others.
const ARCHIVE_DOMAIN: &str = "tiphys tree of an archive, version 1";

/// Bytes hashed at once. Large pieces are hashed faster.
const HASHED_BYTES: usize = 32 * 1024;

/// Name of a tree: a digest of everything that affects its content, including [`Modes`](crate::Modes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeKey(pub [u8; 32]);

impl TreeKey {
    /// Returns the name of the tree of an archive with this SHA-256.
    pub fn of_archive(checksum: [u8; 32], modes: Modes) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(ARCHIVE_DOMAIN);
        hasher.update(&checksum).update(&[u8::from(modes == Modes::Preserved)]);
        Self(*hasher.finalize().as_bytes())
    }
}

impl fmt::Display for TreeKey {
    /// 64 lower-case hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// One entry of a tree, as hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Path below the root.
    pub(crate) path: Box<[u8]>,
    pub(crate) kind: RecordKind,
}

/// The kind of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecordKind {
    Directory,
    File { digest: [u8; 32] },
    Executable { digest: [u8; 32] },
    Link { target: Box<[u8]> },
}

impl RecordKind {
    /// A file with or without executable bits.
    pub(crate) fn file(executable: bool, digest: blake3::Hash) -> Self {
        let digest = *digest.as_bytes();
        if executable { Self::Executable { digest } } else { Self::File { digest } }
    }
}

/// Returns the name of a tree of these entries in any order. Every part is preceded by its length, so different trees give different bytes.
pub(crate) fn key(salt: &[u8], records: &mut [Record]) -> TreeKey {
    records.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
    let mut text = Vec::with_capacity(2 * HASHED_BYTES);
    let mut part = |tag: u8, bytes: &[u8]| {
        text.push(tag);
        text.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        text.extend_from_slice(bytes);
        if text.len() >= HASHED_BYTES {
            hasher.update(&text);
            text.clear();
        }
    };
    part(b's', salt);
    for Record { path, kind } in records {
        part(b'p', path);
        match kind {
            RecordKind::Directory => part(b'd', b""),
            RecordKind::File { digest } => part(b'f', digest),
            RecordKind::Executable { digest } => part(b'x', digest),
            RecordKind::Link { target } => part(b'l', target),
        }
    }
    hasher.update(&text);
    TreeKey(*hasher.finalize().as_bytes())
}
