//! Archives as Argo CD's repo-server packs them: USTAR in gzip of level 6.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};
use tiphys_testkit::dice::Dice;

const LEVEL: u32 = 6;
const FILES_PER_FOLDER: usize = 20;
/// 10,000 files have 25.5 MB.
const FILE_BYTES: usize = 2_550;

const WORDS: [&str; 8] =
    ["container", "replicas", "service", "selector", "template", "annotation", "metadata", "namespace"];

/// The content of an archive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contents {
    files: usize,
    /// Trees with different seeds have no file in common.
    seed: u64,
    /// Modification time of each entry, in seconds since 1970.
    modified: u64,
}

/// An archive in a file.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) file: PathBuf,
    /// SHA-256 in lower-case hex.
    pub(crate) checksum: String,
}

impl Upload {
    /// Packs a tree into a file of a directory.
    pub(crate) fn write(folder: &Path, contents: Contents) -> Self {
        let Contents { files, seed, modified } = contents;
        let (file, bytes) = (folder.join(format!("{files}-{seed}-{modified}.tgz")), contents.pack());
        fs::create_dir_all(folder).expect("a directory");
        fs::write(&file, &bytes).expect("the archive can be written");
        let checksum = Sha256::digest(&bytes).iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("written");
            text
        });
        Self { file, checksum }
    }
}

impl Contents {
    /// A tree with this many files.
    pub(crate) fn of(files: usize) -> Self {
        Self { files, seed: 0, modified: 1_700_000_000 }
    }

    /// Other files.
    pub(crate) fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same files of another checkout.
    pub(crate) fn later(self, seconds: u64) -> Self {
        Self { modified: self.modified + seconds, ..self }
    }

    fn pack(self) -> Vec<u8> {
        let mut out = Builder::new(GzEncoder::new(Vec::new(), Compression::new(LEVEL)));
        let mut dice = Dice::new(self.seed + 1);
        self.entry(&mut out, ".", None);
        for number in 0..self.files {
            let folder = format!("app-{:04}", number / FILES_PER_FOLDER);
            if number.is_multiple_of(FILES_PER_FOLDER) {
                self.entry(&mut out, &folder, None);
            }
            let mut text =
                format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {folder}-{number}\ndata:\n");
            for key in 0.. {
                if text.len() >= FILE_BYTES - 40 {
                    break;
                }
                let (one, two, three) = (dice.one(&WORDS), dice.one(&WORDS), dice.below(1 << 24));
                writeln!(text, "  key-{key:03}: {one}-{two}-{three:06x}").expect("written");
            }
            self.entry(&mut out, &format!("{folder}/file-{number:05}.yaml"), Some(text.as_bytes()));
        }
        out.into_inner().and_then(GzEncoder::finish).expect("an archive")
    }

    /// Adds a file with its content, or a directory.
    fn entry(self, out: &mut Builder<impl Write>, name: &str, content: Option<&[u8]>) {
        let mut header = Header::new_ustar();
        header.set_entry_type(if content.is_some() { EntryType::Regular } else { EntryType::Directory });
        header.set_mode(if content.is_some() { 0o644 } else { 0o755 });
        header.set_uid(999);
        header.set_gid(999);
        header.set_username("argocd").expect("a short name");
        header.set_groupname("argocd").expect("a short name");
        header.set_mtime(self.modified);
        header.set_size(content.map_or(0, <[u8]>::len) as u64);
        // `set_path` would drop the root's name.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        out.append(&header, content.unwrap_or_default()).expect("an entry");
    }
}
