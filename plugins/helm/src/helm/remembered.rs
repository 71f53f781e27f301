//! Versions of programs that were asked before, so that each is asked once: to start helm for that alone takes longer than all that the
//! plugin does itself.
//!
//! Only what is certain to be helm itself is remembered: a machine program (ELF) whose file, links followed, is called `helm` and something
//! (`helm3`, `helm-4.3`). What a shell script is, or a link to a program of another name (`asdf`, `mise`), may be decided by another file
//! each time.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiphys_removal::remove_tree;
use tiphys_tree::{FileOwner, open_file};

use super::{HelmVersion, VERSION_BYTES_MAX};
use crate::home::{Home, HomeError, forget_versions, versions_in};

/// How a machine program begins.
const ELF: [u8; 4] = *b"\x7fELF";

/// How the file of helm itself is called, without a version.
const NAME: &[u8] = b"helm";

/// A use is noted if the last one was noted longer ago.
const NOTED_AGAIN: Duration = Duration::from_hours(24);

/// Where the version of one program is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place(PathBuf);

impl Place {
    /// The place of this very file, below the folder for caches if that can be used; none if it is not certain to be helm itself.
    pub(super) fn of(program: &Path, caches: Option<&Path>, home: &Home) -> Result<Option<Self>, HomeError> {
        let Some(name) = name(program) else { return Ok(None) };
        // Under tiphys the folder for temporary files is the run's own.
        let cached = caches.and_then(|folder| versions_in(folder).ok());
        Ok(Some(Self(cached.map_or_else(|| home.versions(), Ok)?.join(name))))
    }

    /// The same in a folder for versions that is there.
    pub(super) fn within(versions: &Path, program: &Path) -> Option<Self> {
        Some(Self(versions.join(name(program)?)))
    }

    /// What was remembered, for who only looks: that it was used is not noted.
    pub(super) fn seen_version(&self) -> Option<HelmVersion> {
        read(&open_file(&self.0, FileOwner::Program, File::options().read(true)).ok()?)
    }

    /// What was remembered. Something that is broken, or no file of this program's, counts as nothing.
    pub(super) fn version(&self, home: &Home) -> Option<HelmVersion> {
        let file = open_file(&self.0, FileOwner::Program, File::options().read(true).write(true)).ok()?;
        let version = read(&file)?;
        if let (Ok(noted), Some(now)) = (file.metadata().and_then(|found| found.modified()), home.began())
            && now.duration_since(noted).is_ok_and(|age| age > NOTED_AGAIN)
        {
            // Else it is forgotten some day, and asked again.
            drop(file.set_modified(now));
        }
        Some(version)
    }

    /// Remembers a version. Nothing is lost if it cannot be written.
    pub(super) fn remember(&self, version: &HelmVersion) {
        let folder = self.0.parent().unwrap_or(Path::new("."));
        let Ok(mut file) = tempfile::NamedTempFile::new_in(folder) else { return };
        if file.write_all(version.text.as_bytes()).is_ok()
            && let Err(refused) = file.persist(&self.0)
        {
            // A file takes the place of anything but of a folder.
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

/// What this file and no other is called.
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
    // Whoever sets back the time of a file that he writes cannot set back that of its change.
    let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
    let numbers = [found.dev(), found.ino(), found.size()].map(u64::to_le_bytes);
    let mut hasher = blake3::Hasher::new();
    for number in numbers.iter().chain(&times.map(i64::to_le_bytes)) {
        hasher.update(number);
    }
    hasher.update(real.as_os_str().as_bytes());
    Some(hasher.finalize().to_hex().to_string())
}
