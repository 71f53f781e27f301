//! Built dependencies, kept for later runs and named by what they were built from.
//!
//! ```text
//! <folder>/<user>/                                 mode 0700
//!   secret                                         32 random bytes that go into keys
//!   locks/<first digits of a key>                  locked while an entry is built
//!   entries/<key>/entry.json                       names and digests; its time: when it was built
//!   entries/<key>/used                             its time: when it was used last
//!   entries/<key>/<digest>                         packed charts
//!   new-<random>, dead-<random>                    being written, being removed
//! ```
//!
//! An entry appears whole, by a rename, and is never changed. Whoever takes files from it holds them against their digests, so that it may
//! be removed at any moment, and a broken one is built again. Times are those of the folder's file system alone.

mod entry;

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::process::getuid;
use tiphys_removal::remove_tree;
use tiphys_tree::{FileOwner, NotOpened, open_file, read_to_bound};

use super::key::BuildKey;

pub(crate) use entry::{Difference, Snapshot};

/// Digits of a key that name its lock. There are as many locks as these give.
const LOCK_DIGITS: usize = 2;

/// Names of the folders for locks and for entries.
const LOCKS: &str = "locks";
const ENTRIES: &str = "entries";

/// Name of the file with what goes into keys.
const SECRET: &str = "secret";

/// Name of the file whose time says when an entry was used last.
const USED: &str = "used";

/// Beginning of names of folders that are being written.
const NEW_PREFIX: &str = "new-";

/// Beginning of names of folders that are being removed.
const DEAD_PREFIX: &str = "dead-";

/// How old a folder that is being written or removed must be to be left over by a run that was killed.
const LEFT_OVER: Duration = Duration::from_hours(1);

/// A folder with entries. It has a secret, and so no way to be printed.
pub(crate) struct Cache {
    dir: PathBuf,
    secret: [u8; 32],
    bytes_max: u64,
}

/// What a build did to a folder `charts`.
#[derive(Debug)]
pub(crate) struct KeptCharts {
    /// Packed charts that came, or took the place of others, by the names of their files.
    pub(crate) came: Vec<(String, Vec<u8>)>,
    /// Names of files that went.
    pub(crate) went: Vec<String>,
}

/// How long an entry is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// As long as it is there.
    Any,
    /// At most so long after it was built.
    AtMost(Duration),
}

/// Held while an entry is built.
#[derive(Debug)]
pub(crate) struct BuildLock {
    _file: File,
}

impl Cache {
    /// Opens or makes a cache of this user in a folder.
    pub(crate) fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let dir = folder.join(getuid().as_raw().to_string());
        make_private(&dir)?;
        make_private(&dir.join(LOCKS))?;
        make_private(&dir.join(ENTRIES))?;
        let secret = secret(&dir)?;
        Ok(Self { dir, secret, bytes_max })
    }

    /// Opens a cache that is there, to look into it.
    pub(crate) fn known(folder: &Path) -> Option<Self> {
        let dir = folder.join(getuid().as_raw().to_string());
        for folder in [&dir, &dir.join(ENTRIES)] {
            require_private(folder).ok()?;
        }
        let secret = known_secret(&dir).ok()?;
        Some(Self { dir, secret, bytes_max: 0 })
    }

    /// What is kept under this key, whatever its age; that it was used is not noted. `None` if it is not there, or broken.
    pub(crate) fn look(&self, key: &BuildKey) -> Option<KeptCharts> {
        let entry = self.entry(key);
        let difference = Difference::read(&entry)?;
        Some(KeptCharts { came: difference.files(&entry).ok()?, went: difference.removed().to_vec() })
    }

    /// What goes into keys.
    pub(crate) fn secret(&self) -> &[u8; 32] {
        &self.secret
    }

    /// Whether something is kept under this key; [`Self::restore`] says whether it can be used.
    pub(crate) fn has(&self, key: &BuildKey) -> bool {
        self.entry(key).join(entry::FILE).is_file()
    }

    /// Puts what was built into a chart's folder `charts`; `false` if it is not there, too old, or broken.
    pub(crate) fn restore(&self, key: &BuildKey, age: Age, charts: &Path) -> bool {
        let entry = self.entry(key);
        let Some(difference) = Difference::read(&entry) else { return false };
        // The file system's clock tells the time.
        let Ok(now) = touched(&entry.join(USED)) else { return false };
        if let Age::AtMost(bound) = age
            && built(&entry).is_none_or(|built| now.duration_since(built).is_ok_and(|age| age > bound))
        {
            return false;
        }
        difference.apply(&entry, charts).is_ok()
    }

    /// Waits until nobody else builds this entry; [`io::ErrorKind::TimedOut`] if that takes too long.
    pub(crate) async fn lock(&self, key: &BuildKey, patience: Duration) -> io::Result<BuildLock> {
        let name = key.as_str().get(..LOCK_DIGITS).unwrap_or_default();
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = match open_file(&self.dir.join(LOCKS).join(name), FileOwner::Program, &mut options) {
            Err(NotOpened::Folder | NotOpened::NoFile) => {
                let text = format!("`{LOCKS}/{name}` in it is no file of this user; remove it");
                return Err(io::Error::other(text));
            }
            opened => opened?,
        };
        crate::lock::lock(&file, patience).await?;
        Ok(BuildLock { _file: file })
    }

    /// Keeps what a build changed in `charts`.
    pub(crate) fn keep(&self, key: &BuildKey, difference: &Difference, charts: &Path) -> io::Result<()> {
        let new = tempfile::Builder::new().prefix(NEW_PREFIX).tempdir_in(&self.dir)?;
        difference.write(charts, new.path())?;
        touched(&new.path().join(USED))?;
        let entry = self.entry(key);
        self.remove(&entry);
        fs::rename(new.path(), &entry)?;
        // It is no temporary folder any more.
        let _moved: PathBuf = new.keep();
        Ok(())
    }

    /// Removes what killed runs left, and where there is too much what was not used for the longest time. What was just kept stays in any
    /// case.
    pub(crate) fn tidy(&self, kept: &BuildKey) -> io::Result<()> {
        let entry = self.entry(kept);
        self.sweep(built(&entry).unwrap_or(SystemTime::UNIX_EPOCH))?;
        self.make_room(&entry)
    }

    fn entry(&self, key: &BuildKey) -> PathBuf {
        self.dir.join(ENTRIES).join(key.as_str())
    }

    /// Removes entries until the others fit. The one that was just made stays in any case.
    fn make_room(&self, made: &Path) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.dir.join(ENTRIES))?.flatten() {
            let path = entry.path();
            let used = fs::symlink_metadata(path.join(USED)).and_then(|found| found.modified());
            entries.push((path != made, used.unwrap_or(SystemTime::UNIX_EPOCH), bytes(&path), path));
        }
        entries.sort();
        // The newest first; what was just made is sorted before all others.
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

    /// Takes an entry away; nobody finds half of one.
    fn remove(&self, entry: &Path) {
        let Ok(dead) = tempfile::Builder::new().prefix(DEAD_PREFIX).tempdir_in(&self.dir) else { return };
        // What is not there need not be taken away.
        let _moved: io::Result<()> = fs::rename(entry, dead.path().join("entry"));
        // What cannot be removed is removed by a later run.
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
                // Another run may do the same at this moment.
                let _gone_or_the_next_run_tries: io::Result<()> = remove_tree(&found.path());
            }
        }
        Ok(())
    }
}

/// Makes a folder that only this user gets into, or takes one that is there. Others may not have put anything there.
fn make_private(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    require_private(path)
}

/// Refuses what is no folder of this user alone.
fn require_private(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    let name = path.file_name().unwrap_or_default().display();
    if !found.is_dir() || found.uid() != getuid().as_raw() {
        return Err(io::Error::other(format!("`{name}` in it is no folder of this user; remove it")));
    }
    if found.mode() & 0o022 != 0 {
        return Err(io::Error::other(format!("others may write to `{name}` in it; remove it")));
    }
    Ok(())
}

/// The cache's secret; the first run makes it.
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

/// The secret that an earlier run has made.
fn known_secret(dir: &Path) -> io::Result<[u8; 32]> {
    let broken = || io::Error::other(format!("`{SECRET}` in it is broken; remove it"));
    let file = match open_file(&dir.join(SECRET), FileOwner::Program, File::options().read(true)) {
        Err(NotOpened::Folder | NotOpened::NoFile) => return Err(broken()),
        opened => opened?,
    };
    let bytes = read_to_bound(file, 32)?.ok_or_else(broken)?;
    bytes.try_into().map_err(|_| broken())
}

/// Marks a file as used now, and gives the time of it.
fn touched(path: &Path) -> io::Result<SystemTime> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = open_file(path, FileOwner::Program, &mut options)?;
    // Of an empty file only writing changes the time.
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
