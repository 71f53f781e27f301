//! Unpacks the archive of a chart to a tree.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::Compression;
use flate2::read::GzEncoder;
use sha2::{Digest as _, Sha256};
use tiphys_model::limits::Limit;
use tiphys_tree::archive::{self, ArchiveError, ArchiveLimits, Intake, Part};
use tiphys_tree::{FileOwner, Modes, Store, StoreError, Tree, TreeKey, WriteError, open_file};

use super::ChartError;
use super::artefact::{Artefact, Contents, Digest, Packing};
use crate::SourceError;

/// Separates the keys of these trees from those of others.
const SALT: &[u8] = b"tiphys chart 1";

/// An archive on disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed<'a> {
    pub(super) path: &'a Path,
    pub(super) artefact: &'a Artefact,
    pub(super) owner: Owner,
}

/// The owner of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The cache. A changed archive is removed, so that the next command downloads it again.
    Cache,
    /// The user. It is never removed.
    User,
}

impl Packed<'_> {
    /// Returns the tree of the archive.
    pub(super) fn tree(&self, store: &Store, bytes_max: u64, modes: Modes) -> Result<Tree, SourceError> {
        let artefact = self.artefact;
        let mut key = blake3::Hasher::new();
        key.update(SALT).update(&[u8::from(modes == Modes::Preserved)]);
        key.update(artefact.to_json().to_string().as_bytes());
        store.get_or_write(TreeKey(*key.finalize().as_bytes()), |writer| {
            let (part, folder) = match &artefact.contents {
                Contents::Folder(name) => (Part::Folder(name), Some(format!("folder {name:?}"))),
                Contents::OnlyFolder => (Part::OnlyFolder, Some("folder".to_owned())),
                Contents::Everything => (Part::Whole, None),
            };
            let mut archive = self.open(bytes_max)?;
            let unpacked = archive::unpack(&mut archive, &intake(store, modes), part, writer);
            // A wrong digest is reported before an unpacking error, because it explains it.
            self.check(archive)?;
            let count = unpacked.map_err(|error| broken(artefact, error))?;
            match folder {
                Some(folder) if count == 0 => {
                    Err(ChartError::NoFolder { what: self.path.display().to_string(), folder }.into())
                }
                _ => Ok(()),
            }
        })
    }

    fn open(&self, bytes_max: u64) -> Result<Checked, SourceError> {
        let failed = |error| self.failed("read", error);
        let file = open(self.path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > bytes_max {
            return Err(ChartError::TooLarge {
                what: self.owner.what().to_owned(),
                repository: self.path.display().to_string(),
                max: bytes_max,
                unit: "bytes",
                limit: Limit::CHART_BYTES_MAX,
            }
            .into());
        }
        let hash = Rc::default();
        let hashing = Hashing { inner: file, hash: Rc::clone(&hash) };
        let packed: Box<dyn Read> = match self.artefact.packing {
            Packing::TarGzip => Box::new(hashing),
            Packing::Tar => Box::new(GzEncoder::new(hashing, Compression::none())),
        };
        Ok(Checked { packed, hash })
    }

    /// Fails if the archive does not have the expected digest.
    fn check(&self, mut archive: Checked) -> Result<(), SourceError> {
        // Unpacking an invalid archive does not read it to its end.
        io::copy(&mut archive.packed, &mut io::sink()).map_err(|error| self.failed("read", error))?;
        let found = Digest::of(archive.hash.borrow().clone());
        if found == self.artefact.digest {
            return Ok(());
        }
        if self.owner == Owner::Cache {
            fs::remove_file(self.path).map_err(|error| self.failed("remove", error))?;
        }
        Err(ChartError::Digest {
            what: self.owner.what().to_owned(),
            repository: self.path.display().to_string(),
            found: found.to_string(),
            expected: self.artefact.digest.to_string(),
        }
        .into())
    }

    fn failed(&self, action: &'static str, source: io::Error) -> SourceError {
        match self.owner {
            Owner::Cache => SourceError::cache(action, self.path)(source),
            Owner::User => SourceError::Read { path: self.path.to_path_buf(), source },
        }
    }
}

impl Owner {
    /// Returns the name of the archive in errors.
    fn what(self) -> &'static str {
        match self {
            Self::Cache => "the cached archive",
            Self::User => "the archive",
        }
    }
}

/// Returns the digest of a file; `None` if it has more than `bytes_max` bytes.
pub(super) fn digest_of(path: &Path, bytes_max: u64) -> io::Result<Option<Digest>> {
    let hash = Rc::default();
    let mut file = Hashing { inner: open(path)?, hash: Rc::clone(&hash) }.take(bytes_max.saturating_add(1));
    let bytes = io::copy(&mut file, &mut io::sink())?;
    let digest = Digest::of(hash.borrow().clone());
    Ok((bytes <= bytes_max).then_some(digest))
}

/// Opens an archive. Does not block if the path is a pipe.
fn open(path: &Path) -> io::Result<File> {
    Ok(open_file(path, FileOwner::Anybody, File::options().read(true))?)
}

/// An archive that is read as gzip, and the digest of the bytes that were read.
struct Checked {
    packed: Box<dyn Read>,
    hash: Rc<RefCell<Sha256>>,
}

/// Hashes what is read.
struct Hashing<R> {
    inner: R,
    hash: Rc<RefCell<Sha256>>,
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
        // Checked when the archive was opened.
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
