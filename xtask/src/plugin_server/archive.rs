//! Archives as Argo CD's repo-server packs them: USTAR in gzip of level 6.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use crate::bench::content::{FILES_PER_APPLICATION, Words, application_name, numbered_file};
use crate::{Failure, files};

/// Compression level of gzip.
const LEVEL: u32 = 6;

/// Bytes of `.git/index` for each file of the checkout.
const INDEX_ENTRY_BYTES: usize = 92;

/// The content of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Contents {
    pub(crate) files: usize,
    /// Trees with different seeds have no file in common.
    pub(crate) seed: u64,
    /// Modification time of each entry, in seconds since 1970.
    pub(crate) modified: u64,
    /// Seed of `.git/index`, which git writes anew at each checkout; none without this file.
    pub(crate) index: Option<u64>,
}

/// An archive in a file.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub(crate) file: PathBuf,
    /// Lower-case hex SHA-256 of the file, unless a call has to send another one.
    pub(crate) checksum: String,
}

impl Upload {
    /// Writes these bytes to `file`.
    pub(crate) fn write(file: PathBuf, bytes: &[u8]) -> Result<Self, Failure> {
        files::write(&file, bytes)?;
        let checksum = Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").ok();
            text
        });
        Ok(Self { file, checksum })
    }
}

impl Contents {
    /// A tree with these many files and without `.git/index`.
    pub(crate) fn of(files: usize) -> Self {
        Self { files, seed: 0, modified: 1_700_000_000, index: None }
    }

    /// Packs the tree into a file of `folder`.
    pub(crate) fn upload(self, folder: &Path) -> Result<Upload, Failure> {
        let Self { files, seed, modified, index } = self;
        let file = folder.join(format!("{files}-{seed}-{modified}-{index:?}.tgz"));
        Upload::write(file, &self.pack().map_err(|error| Failure::new(format!("packing: {error}")))?)
    }

    /// Packs the tree.
    pub(crate) fn pack(self) -> io::Result<Vec<u8>> {
        let mut out = Builder::new(GzEncoder::new(Vec::new(), Compression::new(LEVEL)));
        let mut words = Words::new(self.seed);
        self.entry(&mut out, ".", None)?;
        if let Some(seed) = self.index {
            let mut words = Words::new(seed);
            let numbers = std::iter::repeat_with(|| words.number().to_be_bytes());
            let content = numbers.flatten().take(self.files * INDEX_ENTRY_BYTES).collect::<Vec<_>>();
            self.entry(&mut out, ".git", None)?;
            self.entry(&mut out, ".git/index", Some(&content))?;
        }
        self.entry(&mut out, "apps", None)?;
        for number in 0..self.files {
            if number.is_multiple_of(FILES_PER_APPLICATION) {
                let application = application_name(number / FILES_PER_APPLICATION);
                self.entry(&mut out, &format!("apps/{application}"), None)?;
            }
            let (path, content) = numbered_file(number, &mut words);
            self.entry(&mut out, &path, Some(content.as_bytes()))?;
        }
        out.into_inner()?.finish()
    }

    /// Adds a file with its content, or a directory.
    fn entry(self, out: &mut Builder<impl io::Write>, name: &str, content: Option<&[u8]>) -> io::Result<()> {
        let mut header = Header::new_ustar();
        header.set_entry_type(if content.is_some() { EntryType::Regular } else { EntryType::Directory });
        header.set_mode(if content.is_some() { 0o644 } else { 0o755 });
        header.set_uid(999);
        header.set_gid(999);
        header.set_username("argocd")?;
        header.set_groupname("argocd")?;
        header.set_mtime(self.modified);
        header.set_size(content.map_or(0, <[u8]>::len) as u64);
        // `set_path` would drop the root's name.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        out.append(&header, content.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
