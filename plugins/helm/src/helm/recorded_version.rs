//! Recorded versions of helm. Starting helm to read its version takes longer than all of the plugin's own work.
//!
//! Only the version of helm itself is recorded: an ELF file with the name `helm` or `helm…` (`helm3`), links resolved. A shell
//! script or a link to another program (`asdf`, `mise`) may select another helm each time.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiphys_process::removal::remove_tree;
use tiphys_tree::{FileOwner, open_file};

use super::{HelmVersion, VERSION_BYTES_MAX};
use crate::home::{Home, HomeError, forget_versions, versions_in};

/// Magic number of ELF files.
const ELF: [u8; 4] = *b"\x7fELF";

/// Prefix of the name of helm's file.
const NAME: &[u8] = b"helm";

/// Minimum interval between updates of a file's mtime.
const NOTED_AGAIN: Duration = Duration::from_hours(24);

/// The file with the version of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VersionFile(PathBuf);

impl VersionFile {
    /// Returns the file for this program, in the directory for caches if possible; `None` if the program may not be helm itself.
    pub(super) fn of(program: &Path, caches: Option<&Path>, home: &Home) -> Result<Option<Self>, HomeError> {
        let Some(name) = name(program) else { return Ok(None) };
        // In a run of tiphys, the temporary directory is private to the run.
        let cached = caches.and_then(|folder| versions_in(folder).ok());
        Ok(Some(Self(cached.map_or_else(|| home.versions(), Ok)?.join(name))))
    }

    /// Like [`Self::of`], in an existing directory.
    pub(super) fn within(versions: &Path, program: &Path) -> Option<Self> {
        Some(Self(versions.join(name(program)?)))
    }

    /// Returns the recorded version without updating the mtime.
    pub(super) fn peek_version(&self) -> Option<HelmVersion> {
        read(&open_file(&self.0, FileOwner::Program, File::options().read(true)).ok()?)
    }

    /// Returns the recorded version. Invalid content, or a foreign file, counts as missing.
    pub(super) fn version(&self, home: &Home) -> Option<HelmVersion> {
        let file = open_file(&self.0, FileOwner::Program, File::options().read(true).write(true)).ok()?;
        let version = read(&file)?;
        if let (Ok(noted), Some(now)) = (file.metadata().and_then(|found| found.modified()), home.created())
            && now.duration_since(noted).is_ok_and(|age| age > NOTED_AGAIN)
        {
            // Otherwise it expires some day, and helm runs again.
            drop(file.set_modified(now));
        }
        Some(version)
    }

    /// Records a version. Failures are ignored.
    pub(super) fn remember(&self, version: &HelmVersion) {
        let folder = self.0.parent().unwrap_or(Path::new("."));
        let Ok(mut file) = tempfile::NamedTempFile::new_in(folder) else { return };
        if file.write_all(version.text.as_bytes()).is_ok()
            && let Err(refused) = file.persist(&self.0)
        {
            // A rename replaces anything but a directory.
            drop(remove_tree(&self.0));
            drop(refused.file.persist(&self.0));
        }
        forget_versions(folder, fs::metadata(&self.0).and_then(|found| found.modified()).ok());
    }
}

fn read(file: &File) -> Option<HelmVersion> {
    let mut text = String::new();
    let bytes_max = u64::try_from(VERSION_BYTES_MAX).ok()?;
    file.take(bytes_max).read_to_string(&mut text).ok()?;
    HelmVersion::parse(&text)
}

/// Whether a program is helm itself, whose version is recorded.
pub(super) fn is_helm(program: &Path) -> bool {
    name(program).is_some()
}

/// Returns a name that identifies this file.
fn name(program: &Path) -> Option<String> {
    let real = fs::canonicalize(program).ok()?;
    let mut file = open_file(&real, FileOwner::Anybody, File::options().read(true)).ok()?;
    let found = file.metadata().ok()?;
    let mut beginning = [0; ELF.len()];
    file.read_exact(&mut beginning).ok()?;
    let is_helm = real.file_name().is_some_and(|name| name.as_bytes().starts_with(NAME));
    if beginning != ELF || !is_helm {
        return None;
    }
    // The owner of a file can set its mtime, but not its ctime.
    let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
    let numbers = [found.dev(), found.ino(), found.size()].map(u64::to_le_bytes);
    let mut hasher = blake3::Hasher::new();
    for number in numbers.iter().chain(&times.map(i64::to_le_bytes)) {
        hasher.update(number);
    }
    hasher.update(real.as_os_str().as_bytes());
    Some(hasher.finalize().to_hex().to_string())
}
