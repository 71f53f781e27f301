//! Archives by their digest, and which of them a chart's version is: `charts/archives` and `charts/names` below the cache's folder.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzEncoder;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tiphys_tree::archive::{self, ArchiveError, ArchiveLimits, Intake, Part};
use tiphys_tree::{Modes, Store, StoreError, Tree, TreeKey, WriteError};

use super::artefact::{Artefact, Contents, Digest, Packing};
use super::limits::ARCHIVE_BYTES_OPTION;
use super::{ChartError, hashed};
use crate::SourceError;
use crate::cache_files::{new_file, private_folder, write_whole};
use crate::options::SourceOptions;

/// Keeps the names of trees of charts apart from those that other parts make.
const SALT: &[u8] = b"tiphys chart 1";

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes of a file of `charts/names`.
const NAME_BYTES_MAX: u64 = 64 * 1024;

pub(super) struct ArchiveCache {
    archives: PathBuf,
    names: PathBuf,
    /// Bytes of an archive.
    archive_bytes_max: u64,
}

/// Why something could not be taken in.
pub(super) enum IntakeError {
    /// The one who gives it failed.
    Read(io::Error),
    /// It has more bytes than it may.
    TooLarge,
    /// It is something else.
    Digest(Digest),
    /// The cache failed.
    Cache(SourceError),
}

impl ArchiveCache {
    pub(super) fn new(options: &SourceOptions) -> Self {
        let dir = options.cache_dir.join("charts");
        Self {
            archives: dir.join("archives"),
            names: dir.join("names"),
            archive_bytes_max: options.chart_limits.archive_bytes_max,
        }
    }

    /// What a chart was at the last look-up, if its archive is still there.
    pub(super) fn known(&self, key: &[&str]) -> Option<Artefact> {
        let mut text = Vec::new();
        File::open(self.name(key)).ok()?.take(NAME_BYTES_MAX).read_to_end(&mut text).ok()?;
        let artefact = Artefact::from_json(&serde_json::from_slice::<Value>(&text).ok()?)?;
        self.has(&artefact.digest).then_some(artefact)
    }

    /// Keeps in mind what a chart is.
    pub(super) fn remember(&self, key: &[&str], artefact: &Artefact) -> Result<(), SourceError> {
        private_folder(&self.names)?;
        write_whole(&self.name(key), &artefact.to_json().to_string())
    }

    pub(super) fn has(&self, digest: &Digest) -> bool {
        self.archive(digest).is_file()
    }

    /// Takes an archive in, whole or not at all.
    pub(super) fn take_in(
        &self,
        from: &mut dyn Read,
        bytes_max: u64,
        expected: Option<&Digest>,
    ) -> Result<Digest, IntakeError> {
        private_folder(&self.archives).map_err(IntakeError::Cache)?;
        let failed = |error| IntakeError::Cache(SourceError::cache("write to", &self.archives)(error));
        let mut file = new_file(&self.archives).map_err(failed)?;
        let (mut hasher, mut left) = (Sha256::new(), bytes_max);
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(IntakeError::Read(error)),
            };
            left = left.checked_sub(u64::try_from(read).unwrap_or(u64::MAX)).ok_or(IntakeError::TooLarge)?;
            hasher.update(&chunk[..read]);
            file.write_all(&chunk[..read]).map_err(failed)?;
        }
        let digest = Digest::of(hasher);
        if expected.is_some_and(|expected| *expected != digest) {
            return Err(IntakeError::Digest(digest));
        }
        file.persist(self.archive(&digest)).map_err(|error| failed(error.error))?;
        Ok(digest)
    }

    /// The tree that an archive holds.
    pub(super) fn tree(&self, store: &Store, artefact: &Artefact, modes: Modes) -> Result<Tree, SourceError> {
        let mut key = blake3::Hasher::new();
        key.update(SALT).update(&[u8::from(modes == Modes::Preserved)]);
        key.update(artefact.to_json().to_string().as_bytes());
        let path = self.archive(&artefact.digest);
        store.get_or_write(TreeKey(*key.finalize().as_bytes()), |writer| {
            let (part, folder) = match &artefact.contents {
                Contents::Folder(name) => (Part::Folder(name), Some(name.as_str())),
                Contents::OnlyFolder => (Part::OnlyFolder, Some("*")),
                Contents::Everything => (Part::Whole, None),
            };
            let mut archive = Checked::open(&path, artefact, self.archive_bytes_max)?;
            let unpacked = archive::unpack(&mut archive, &intake(store, modes), part, writer);
            // What was changed on the disk is told as that, whatever else is wrong with it.
            archive.check(&path, artefact)?;
            let count = unpacked.map_err(|error| broken(artefact, error))?;
            match folder {
                Some(folder) if count == 0 => {
                    let (what, folder) = (path.display().to_string(), folder.to_owned());
                    Err(ChartError::NoFolder { what, folder }.into())
                }
                _ => Ok(()),
            }
        })
    }

    fn archive(&self, digest: &Digest) -> PathBuf {
        self.archives.join(digest.digits())
    }

    fn name(&self, key: &[&str]) -> PathBuf {
        self.names.join(hashed(key.iter().copied()))
    }
}

/// An archive that is read as gzip, and of which is known in the end whether it is what its name says.
struct Checked {
    packed: Box<dyn Read>,
    hash: std::rc::Rc<std::cell::RefCell<Sha256>>,
}

/// Hashes what is read.
struct Hashing<R> {
    inner: R,
    hash: std::rc::Rc<std::cell::RefCell<Sha256>>,
}

impl Checked {
    fn open(path: &Path, artefact: &Artefact, bytes_max: u64) -> Result<Self, SourceError> {
        let failed = |error| SourceError::cache("read", path)(error);
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > bytes_max {
            return Err(ChartError::TooLarge {
                what: "the cached archive".to_owned(),
                repository: path.display().to_string(),
                max: bytes_max,
                option: ARCHIVE_BYTES_OPTION,
            }
            .into());
        }
        let hash = std::rc::Rc::default();
        let hashing = Hashing { inner: file, hash: std::rc::Rc::clone(&hash) };
        let packed: Box<dyn Read> = match artefact.packing {
            Packing::TarGzip => Box::new(hashing),
            Packing::Tar => Box::new(GzEncoder::new(hashing, Compression::none())),
        };
        Ok(Self { packed, hash })
    }

    /// Refuses an archive that was changed on the disk, and removes it, so that the next command fetches it again.
    fn check(mut self, path: &Path, artefact: &Artefact) -> Result<(), SourceError> {
        // Whoever unpacks stops at what is no archive.
        io::copy(&mut self.packed, &mut io::sink()).map_err(SourceError::cache("read", path))?;
        let found = Digest::of(self.hash.borrow().clone());
        if found == artefact.digest {
            return Ok(());
        }
        fs::remove_file(path).map_err(SourceError::cache("remove", path))?;
        Err(ChartError::Digest {
            what: "the cached archive".to_owned(),
            repository: path.display().to_string(),
            found: found.to_string(),
            expected: artefact.digest.to_string(),
        }
        .into())
    }
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.packed.read(buffer)
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hash.borrow_mut().update(&buffer[..read]);
        Ok(read)
    }
}

fn intake(store: &Store, modes: Modes) -> Intake<'static> {
    let limits = store.limits();
    let limits = ArchiveLimits {
        // The archive was measured when it was opened.
        packed_bytes_max: u64::MAX,
        entries_max: limits.entries_max,
        bytes_max: limits.bytes_max,
    };
    Intake { modes, limits, stop: &|| false }
}

fn broken(artefact: &Artefact, error: ArchiveError) -> SourceError {
    let is_chart = artefact.contents != Contents::Everything;
    match error {
        ArchiveError::Write(WriteError::LinkOutside { file })
        | ArchiveError::Store(StoreError::Write(WriteError::LinkOutside { file })) => {
            ChartError::LinkOutside { what: if is_chart { "chart" } else { "oci image" }, file }.into()
        }
        ArchiveError::Store(error) => error.into(),
        source => {
            let what = if is_chart { "the chart's archive" } else { "the artefact's archive" };
            ChartError::Archive { what: what.to_owned(), source }.into()
        }
    }
}
