//! A cache of built dependencies, keyed by the inputs of the build.
//!
//! ```text
//! <folder>/<user>/                                 mode 0700
//!   secret                                         32 random bytes that are part of keys
//!   locks/<first digits of a key>                  locked while an entry is built
//!   entries/<key>/entry.json                       names and digests; mtime: when it was built
//!   entries/<key>/used                             mtime: when it was last used
//!   entries/<key>/<digest>                         packed charts
//!   new-<random>, dead-<random>                    being written, being removed
//! ```
//!
//! An entry appears complete, by a rename, and never changes. Readers compare its files with their digests, so it may be removed at any
//! time, and a broken entry is built again. Times are those of the directory's file system.

mod entry;

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::process::getuid;
use tiphys_process::removal::remove_tree;
use tiphys_tree::{FileOwner, NotOpened, open_file, read_to_bound};

use super::key::BuildKey;

pub(crate) use entry::{Difference, Snapshot};

/// Digits of a key that select its lock.
const LOCK_DIGITS: usize = 2;

/// Names of the directories for locks and for entries.
const LOCKS: &str = "locks";
const ENTRIES: &str = "entries";

/// Name of the file with the secret part of keys.
const SECRET: &str = "secret";

/// Name of the file whose mtime is the last use of an entry.
const USED: &str = "used";

/// Prefix of directories that are being written.
const NEW_PREFIX: &str = "new-";

/// Prefix of directories that are being removed.
const DEAD_PREFIX: &str = "dead-";

/// Age after which a directory with one of these prefixes is a remainder of a killed run.
const LEFT_OVER: Duration = Duration::from_hours(1);

/// A directory with entries. It contains a secret, so it is not `Debug`.
pub(crate) struct Cache {
    dir: PathBuf,
    secret: [u8; 32],
    bytes_max: u64,
}

/// Effect of a build on a directory `charts`.
#[derive(Debug)]
pub(crate) struct BuiltCharts {
    /// Added or replaced packed charts, by file name.
    pub(crate) added: Vec<(String, Vec<u8>)>,
    /// Names of removed files.
    pub(crate) removed: Vec<String>,
}

/// Maximum age of a usable entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// No limit.
    Any,
    /// Time since it was built.
    AtMost(Duration),
}

/// Held while an entry is built.
#[derive(Debug)]
pub(crate) struct BuildLock {
    _file: File,
}

impl Cache {
    /// Opens or creates this user's cache in a directory.
    pub(crate) fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let dir = folder.join(getuid().as_raw().to_string());
        make_private(&dir)?;
        make_private(&dir.join(LOCKS))?;
        make_private(&dir.join(ENTRIES))?;
        let secret = secret(&dir)?;
        Ok(Self { dir, secret, bytes_max })
    }

    /// Opens an existing cache for reading.
    pub(crate) fn known(folder: &Path) -> Option<Self> {
        let dir = folder.join(getuid().as_raw().to_string());
        for folder in [&dir, &dir.join(ENTRIES)] {
            require_private(folder).ok()?;
        }
        let secret = known_secret(&dir).ok()?;
        Some(Self { dir, secret, bytes_max: 0 })
    }

    /// Returns the entry of this key, of any age, without updating its last use. `None` if it is missing or broken.
    pub(crate) fn look(&self, key: &BuildKey) -> Option<BuiltCharts> {
        let entry = self.entry(key);
        let difference = Difference::read(&entry)?;
        Some(BuiltCharts { added: difference.files(&entry).ok()?, removed: difference.removed().to_vec() })
    }

    /// The secret part of keys.
    pub(crate) fn secret(&self) -> &[u8; 32] {
        &self.secret
    }

    /// Whether an entry exists; [`Self::restore`] checks whether it is usable.
    pub(crate) fn has(&self, key: &BuildKey) -> bool {
        self.entry(key).join(entry::FILE).is_file()
    }

    /// Applies an entry to a chart's `charts`; `false` if it is missing, too old or broken.
    pub(crate) fn restore(&self, key: &BuildKey, age: Age, charts: &Path) -> bool {
        let entry = self.entry(key);
        let Some(difference) = Difference::read(&entry) else { return false };
        // The file system's clock counts.
        let Ok(now) = touched(&entry.join(USED)) else { return false };
        if let Age::AtMost(bound) = age
            && built(&entry).is_none_or(|built| now.duration_since(built).is_ok_and(|age| age > bound))
        {
            return false;
        }
        difference.apply(&entry, charts).is_ok()
    }

    /// Waits until no other run builds this entry; [`io::ErrorKind::TimedOut`] after `patience`.
    pub(crate) async fn lock(&self, key: &BuildKey, patience: Duration) -> io::Result<BuildLock> {
        let name = key.as_str().get(..LOCK_DIGITS).unwrap_or_default();
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = match open_file(&self.dir.join(LOCKS).join(name), FileOwner::Program, &mut options) {
            Err(NotOpened::Folder | NotOpened::NoFile) => {
                let text = format!("`{LOCKS}/{name}` in it must be a file of this user; remove it");
                return Err(io::Error::other(text));
            }
            opened => opened?,
        };
        crate::lock::lock(&file, patience).await?;
        Ok(BuildLock { _file: file })
    }

    /// Stores the changes of a build in `charts`.
    pub(crate) fn keep(&self, key: &BuildKey, difference: &Difference, charts: &Path) -> io::Result<()> {
        let new = tempfile::Builder::new().prefix(NEW_PREFIX).tempdir_in(&self.dir)?;
        difference.write(charts, new.path())?;
        touched(&new.path().join(USED))?;
        let entry = self.entry(key);
        self.remove(&entry);
        fs::rename(new.path(), &entry)?;
        // It is no longer a temporary directory.
        let _moved: PathBuf = new.keep();
        Ok(())
    }

    /// Removes what killed runs left, and the least recently used entries above the limit. The entry `kept` always stays.
    pub(crate) fn tidy(&self, kept: &BuildKey) -> io::Result<()> {
        let entry = self.entry(kept);
        self.sweep(built(&entry).unwrap_or(SystemTime::UNIX_EPOCH))?;
        self.make_room(&entry)
    }

    fn entry(&self, key: &BuildKey) -> PathBuf {
        self.dir.join(ENTRIES).join(key.as_str())
    }

    /// Removes entries until the others fit. The new one always stays.
    fn make_room(&self, made: &Path) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.dir.join(ENTRIES))?.flatten() {
            let path = entry.path();
            let used = fs::symlink_metadata(path.join(USED)).and_then(|found| found.modified());
            entries.push((path != made, used.unwrap_or(SystemTime::UNIX_EPOCH), bytes(&path), path));
        }
        entries.sort();
        // Newest first; the new one is sorted before all others.
        let (kept, others) = entries.split_at(1.min(entries.len()));
        let mut total: u64 = kept.iter().map(|(_, _, bytes, _)| bytes).sum();
        for (_, _, bytes, path) in others.iter().rev() {
            total = total.saturating_add(*bytes);
            if total > self.bytes_max {
                self.remove(path);
            }
        }
        Ok(())
    }

    /// Removes an entry atomically.
    fn remove(&self, entry: &Path) {
        let Ok(dead) = tempfile::Builder::new().prefix(DEAD_PREFIX).tempdir_in(&self.dir) else { return };
        // It may be removed already.
        let _moved: io::Result<()> = fs::rename(entry, dead.path().join("entry"));
        // A later run removes the rest.
        let _removed: io::Result<()> = remove_tree(&dead.keep());
    }

    /// Removes what killed runs left.
    fn sweep(&self, now: SystemTime) -> io::Result<()> {
        for found in fs::read_dir(&self.dir)?.flatten() {
            let name = found.file_name();
            let is_ours =
                [NEW_PREFIX, DEAD_PREFIX].iter().any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()));
            let changed = found.metadata().and_then(|metadata| metadata.modified());
            let is_old =
                changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > LEFT_OVER));
            if is_ours && is_old {
                // Another run may do the same now.
                let _gone_or_the_next_run_tries: io::Result<()> = remove_tree(&found.path());
            }
        }
        Ok(())
    }
}

/// Creates a directory for this user only, or accepts an existing one that others cannot write to.
fn make_private(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    require_private(path)
}

/// Rejects anything but a directory that only this user can write to.
fn require_private(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    let name = path.file_name().unwrap_or_default().display();
    if !found.is_dir() || found.uid() != getuid().as_raw() {
        return Err(io::Error::other(format!("`{name}` in it must be a directory of this user; remove it")));
    }
    if found.mode() & 0o022 != 0 {
        return Err(io::Error::other(format!("others may write to `{name}` in it; remove it")));
    }
    Ok(())
}

/// Returns the cache's secret; the first run creates it.
fn secret(dir: &Path) -> io::Result<[u8; 32]> {
    match known_secret(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        result => return result,
    }
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    let mut secret = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut secret)?;
    new.write_all(&secret)?;
    match new.persist_noclobber(dir.join(SECRET)) {
        Ok(_) => Ok(secret),
        // Another run was first.
        Err(_) => known_secret(dir),
    }
}

/// Reads an existing secret.
fn known_secret(dir: &Path) -> io::Result<[u8; 32]> {
    let broken = || io::Error::other(format!("`{SECRET}` in it is broken; remove it"));
    let file = match open_file(&dir.join(SECRET), FileOwner::Program, File::options().read(true)) {
        Err(NotOpened::Folder | NotOpened::NoFile) => return Err(broken()),
        opened => opened?,
    };
    let bytes = read_to_bound(file, 32)?.ok_or_else(broken)?;
    bytes.try_into().map_err(|_| broken())
}

/// Marks a file as used now, and returns its mtime.
fn touched(path: &Path) -> io::Result<SystemTime> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = open_file(path, FileOwner::Program, &mut options)?;
    // An empty file keeps its mtime unless written.
    file.write_all(b"used\n")?;
    file.metadata()?.modified()
}

fn built(entry: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(entry.join(entry::FILE)).and_then(|found| found.modified()).ok()
}

fn bytes(entry: &Path) -> u64 {
    let files = fs::read_dir(entry).into_iter().flatten().flatten();
    files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

#[cfg(test)]
mod tests;
