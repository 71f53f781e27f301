//! Archives of trees. Each tree is packed once, however often it is sent.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use moka::sync::Cache;
use sha2::{Digest, Sha256};
use tiphys_tree::{Tree, TreeKey, archive};

/// A tree as a gzipped tar archive in an unnamed file.
#[derive(Debug)]
pub(crate) struct Archive {
    /// The bytes.
    pub(crate) file: File,
    /// Lower-case hex SHA-256 of the bytes.
    pub(crate) checksum: String,
    /// Number of bytes.
    pub(crate) size: u64,
}

/// Maximum size of the cached archives, in bytes. The least recently used ones are dropped.
const CACHED_BYTES_MAX: u64 = 4 << 30;

/// Bytes per unit of the cache's weights, which have 32 bits.
const WEIGHT_UNIT: u64 = 1 << 10;

/// The archives of one process. They are removed when this is dropped.
#[derive(Debug)]
pub struct Archives {
    dir: PathBuf,
    packed: Cache<TreeKey, Arc<Archive>>,
}

impl Archives {
    /// Creates archives in files in `dir`, which must exist.
    pub fn new(dir: PathBuf) -> Self {
        let weigh = |_: &TreeKey, archive: &Arc<Archive>| {
            u32::try_from(archive.size / WEIGHT_UNIT + 1).unwrap_or(u32::MAX)
        };
        let packed = Cache::builder().weigher(weigh).max_capacity(CACHED_BYTES_MAX / WEIGHT_UNIT).build();
        Self { dir, packed }
    }

    /// Returns the archive of a tree. Blocks while it is packed; one of several concurrent callers packs it. An error is not cached.
    pub(crate) fn archive(&self, tree: &Tree) -> Result<Arc<Archive>, String> {
        self.packed
            .try_get_with(tree.key(), || self.pack(tree).map(Arc::new))
            .map_err(|error| format!("error compressing repo files: {error}"))
    }

    fn pack(&self, tree: &Tree) -> Result<Archive, archive::ArchiveError> {
        let file = tempfile::tempfile_in(&self.dir)?;
        let mut out =
            Hashing { inner: BufWriter::with_capacity(256 * 1024, file), hash: Sha256::new(), size: 0 };
        archive::pack(tree.root(), &mut out)?;
        out.flush()?;
        let file = out.inner.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Archive { file, checksum: hex(&out.hash.finalize()), size: out.size })
    }
}

/// A writer that counts and hashes the written bytes.
struct Hashing<W> {
    inner: W,
    hash: Sha256,
    size: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
