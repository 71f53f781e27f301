//! Archives as Argo CD's repository server packs them (`spec/cmp.md` 7.2): USTAR within gzip of level 6, made in memory.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::bench::content::{FILES_PER_APPLICATION, Words, application_name, file_of};

const LEVEL: u32 = 6;

/// Tar archives consist of blocks of this size.
const BLOCK_BYTES: usize = 512;

/// Bytes of `.git/index` for each file of the checkout: times, ids, the name.
const INDEX_ENTRY_BYTES: usize = 92;

/// What is in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Contents {
    pub(crate) files: usize,
    /// Trees with different seeds have no file in common.
    pub(crate) seed: u64,
    /// Modification time of each entry, in seconds since 1970.
    pub(crate) modified: u64,
    pub(crate) index: Index,
}

/// Whether the archive has git's index, which git writes anew at each checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Index {
    Absent,
    /// As the checkout with this number wrote it.
    Checkout(u64),
}

/// A packed tree.
#[derive(Clone, Debug)]
pub(crate) struct Archive {
    pub(crate) bytes: Vec<u8>,
    /// Lower-case hex SHA-256 of the bytes.
    pub(crate) checksum: String,
}

impl Archive {
    /// These bytes as an archive, whatever they are.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let checksum = Sha256::digest(&bytes).iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").ok();
            text
        });
        Self { bytes, checksum }
    }
}

impl Contents {
    /// Packs the tree.
    pub(crate) fn pack(self) -> io::Result<Archive> {
        let mut out = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
        let mut words = Words::new(self.seed);
        self.entry(&mut out, ".", None)?;
        if let Index::Checkout(number) = self.index {
            let mut content = Vec::new();
            let mut words = Words::new(number);
            while content.len() < self.files * INDEX_ENTRY_BYTES {
                content.extend(words.number().to_be_bytes());
            }
            self.entry(&mut out, ".git", None)?;
            self.entry(&mut out, ".git/index", Some(&content))?;
        }
        self.entry(&mut out, "apps", None)?;
        for number in 0..self.files {
            let application = application_name(number / FILES_PER_APPLICATION);
            let index = number % FILES_PER_APPLICATION;
            if index == 0 {
                self.entry(&mut out, &format!("apps/{application}"), None)?;
            }
            let content = file_of(&application, index, &mut words);
            let name = format!("apps/{application}/file-{index:02}.yaml");
            self.entry(&mut out, &name, Some(content.as_bytes()))?;
        }
        out.write_all(&[0; 2 * BLOCK_BYTES])?;
        Ok(Archive::of(out.finish()?))
    }

    /// Writes a file with its content, or a folder.
    fn entry(&self, out: &mut impl io::Write, name: &str, content: Option<&[u8]>) -> io::Result<()> {
        let mut header = [0; BLOCK_BYTES];
        let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
        put(0, name);
        put(100, if content.is_some() { "0000644" } else { "0000755" });
        put(108, "0001747");
        put(116, "0001747");
        put(124, &format!("{:011o}", content.map_or(0, <[u8]>::len)));
        put(136, &format!("{:011o}", self.modified));
        put(156, if content.is_some() { "0" } else { "5" });
        put(257, "ustar\x0000");
        put(265, "argocd");
        put(297, "argocd");
        // The sum is over the header with blanks in the sum's own place.
        put(148, "        ");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.write_all(&header)?;
        let content = content.unwrap_or_default();
        out.write_all(content)?;
        let padding = content.len().next_multiple_of(BLOCK_BYTES) - content.len();
        out.write_all(&[0; BLOCK_BYTES][..padding])
    }
}

#[cfg(test)]
mod tests;
