//! A private home of helm for one run: without a user's state or that of another run, removed afterwards.
//!
//! ```text
//! <temporary directory>/tiphys-helm-<user>/           mode 0700
//!   gate                                           locked while a home is made or swept
//!   versions/<file of a helm>                      version of a helm; mtime: when it was used
//!   run-<random>/lock                              locked during the run
//!   run-<random>/{cache,config,data,tmp,…}         helm's
//! ```
//!
//! A killed run cannot clean up. Its lock is released, and the next run removes its files. Times are those of the directory's file system.
//!
//! Any user can create a directory with that name first. A run then uses one with a random name, which is removed at its end.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::process::getuid;
use tempfile::TempDir;
use tiphys_process::removal::remove_tree;
use tiphys_tree::{FileOwner, NotOpened, open_file};

use crate::failure::note;
use crate::lock::lock;

/// Prefix of the base directory's name.
const BASE_PREFIX: &str = "tiphys-helm-";

/// Prefix of names of homes.
const RUN_PREFIX: &str = "run-";

/// Prefix of names of homes that are being removed.
const DEAD_PREFIX: &str = "dead-";

/// The file that is locked during a run.
const LOCK: &str = "lock";

/// Name of the directory with recorded versions, shared by runs.
const VERSIONS: &str = "versions";

/// Time after which an unused version is removed.
const VERSION_AGE: Duration = Duration::from_hours(30 * 24);

/// Mode bits that give others access to a directory.
const OPEN_TO_OTHERS: u32 = 0o077;

/// Mode bits that let others write to it.
const WRITTEN_BY_OTHERS: u32 = 0o022;

/// The homes of this process. A base of its own precedes its home.
static LIVING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A directory of this run only, removed on drop.
#[derive(Debug)]
pub(crate) struct Home {
    base: Base,
    dir: PathBuf,
    began: Option<SystemTime>,
    _lock: File,
}

/// The directory that contains homes.
#[derive(Debug)]
enum Base {
    /// Shared by all runs of this user.
    OfUser(PathBuf),
    /// Of this run only, if another user owns the shared one.
    OfRun(TempDir),
}

/// Errors of a home.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HomeError {
    /// Not a directory of this user.
    #[error("{path} belongs to another user or is not a directory; remove it, or set TMPDIR to a directory of your own", path = path.display())]
    Foreign { path: PathBuf },
    /// Writable for other users.
    #[error(
        "{path} is open to other users, who may have put something there; remove it, or set TMPDIR to a directory of your own",
        path = path.display()
    )]
    Open { path: PathBuf },
    /// Not a file of this user.
    #[error("{path} is not a file of this user; remove it, or set TMPDIR to a directory of your own", path = path.display())]
    NoFile { path: PathBuf },
    /// Another run holds the lock.
    #[error(
        "another process has held the lock {path} for {patience:?}; end it, or increase TIPHYS_HELM_TIMEOUT",
        path = path.display()
    )]
    Held {
        path: PathBuf,
        /// Time waited.
        patience: Duration,
    },
    /// The file system failed.
    #[error(
        "cannot create {path} for helm; set TMPDIR to a writable directory with free space",
        path = path.display()
    )]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Writes a file that helm reads, and returns its path.
pub(crate) type WriteFile<'a> = dyn FnMut(&str, &[u8]) -> Result<PathBuf, HomeError> + 'a;

impl Home {
    /// Name of the file of inline values.
    pub(crate) const INLINE_VALUES: &str = "values";

    /// Name of the directory in which dependencies are built.
    pub(crate) const BUILT_TREE: &str = "tree";

    /// Name of the directory of fetched charts, if there is no cache.
    pub(crate) const CHARTS: &str = "charts";

    /// Name of the directory of a chart whose dependencies helm fetches.
    pub(crate) const FOR_HELM: &str = "for-helm";

    /// Name of the directory in which kustomize runs.
    pub(crate) const KUSTOMIZE_TREE: &str = "kustomize";

    /// The directories with copies of the repository.
    pub(crate) const TREES: [&str; 2] = [Self::BUILT_TREE, Self::KUSTOMIZE_TREE];

    /// Creates a home below a temporary directory, and removes those of killed runs. Waits up to `patience` for another run that does the
    /// same.
    pub(crate) async fn new(temporary: &Path, patience: Duration) -> Result<Self, HomeError> {
        let base = base(temporary)?;
        let gate = open_locked(&base.path().join("gate"), patience).await?;
        let dead = rename_ended_runs(base.path());
        let made = make_run(base.path(), patience).await;
        drop(gate);
        for dir in dead {
            // Another run may do the same now.
            let _gone_or_the_next_run_tries: io::Result<()> = remove_tree(&dir);
        }
        let (dir, lock) = made?;
        let began = fs::metadata(&dir).and_then(|found| found.modified()).ok();
        forget_versions(&base.path().join(VERSIONS), began);
        Ok(Self { base, dir, began, _lock: lock })
    }

    /// [`Self::new`] for tests without a runtime.
    #[cfg(test)]
    pub(crate) fn in_a_test(temporary: &Path) -> Result<Self, HomeError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let failed = |source| HomeError::Io { path: temporary.to_path_buf(), source };
        runtime.map_err(failed)?.block_on(Self::new(temporary, Duration::from_secs(30)))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    /// When it was created, by the clock of its file system; `None` if unknown.
    pub(crate) fn created(&self) -> Option<SystemTime> {
        self.began
    }

    /// The directory with recorded versions, which runs share.
    pub(crate) fn versions(&self) -> Result<PathBuf, HomeError> {
        let dir = self.base.path().join(VERSIONS);
        make_private(&dir)?;
        Ok(dir)
    }

    /// Creates a directory in this home, with its parents, all with mode 0700.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, HomeError> {
        let dir = self.dir.join(name);
        match DirBuilder::new().mode(0o700).recursive(true).create(&dir) {
            Ok(()) => Ok(dir),
            Err(source) => Err(HomeError::Io { path: dir, source }),
        }
    }

    /// Writes a file that only this user can read, possibly again.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, HomeError> {
        let path = self.dir.join(name);
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(content));
        match written {
            Ok(()) => Ok(path),
            Err(source) => Err(HomeError::Io { path, source }),
        }
    }

    /// Variables that make a program use only this home.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let folders = [
            ("HOME", ""),
            ("TMPDIR", "tmp"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("HELM_CACHE_HOME", "cache/helm"),
            ("HELM_CONFIG_HOME", "config"),
            ("HELM_DATA_HOME", "data/helm"),
            ("HELM_PLUGINS", "data/helm/plugins"),
            ("DOCKER_CONFIG", "config/docker"),
        ];
        folders.into_iter().map(|(name, folder)| (name.into(), self.dir.join(folder).into())).collect()
    }
}

impl Base {
    fn path(&self) -> &Path {
        match self {
            Self::OfUser(path) => path,
            Self::OfRun(dir) => dir.path(),
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        living().retain(|dir| *dir != self.dir && dir != self.base.path());
        // A later run removes the rest.
        let _removed: io::Result<()> = remove_tree(&self.dir);
    }
}

/// Removes the homes of this process before it ends, though a thread may still use them.
pub(crate) fn remove_all() {
    for dir in std::mem::take(&mut *living()).into_iter().rev() {
        // A later run removes the rest.
        let _removed: io::Result<()> = match dir.file_name().and_then(dead_name) {
            Some(name) => {
                // After the rename, nothing is added to it.
                let to = dir.with_file_name(name);
                fs::rename(&dir, &to).and_then(|()| remove_tree(&to))
            }
            None => remove_tree(&dir),
        };
    }
}

fn living() -> MutexGuard<'static, Vec<PathBuf>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the directory with recorded versions in a cache directory, and creates it if necessary.
pub(crate) fn versions_in(caches: &Path) -> Result<PathBuf, HomeError> {
    fs::create_dir_all(caches).map_err(|source| HomeError::Io { path: caches.to_path_buf(), source })?;
    let versions = base_path(caches).join(VERSIONS);
    make_private(&base_path(caches))?;
    make_private(&versions)?;
    Ok(versions)
}

/// Returns the directory with recorded versions for reading: `None` if it does not exist, or others may have written to it.
pub(crate) fn known_versions(temporary: &Path) -> Option<PathBuf> {
    let base = base_path(temporary);
    let versions = base.join(VERSIONS);
    let is_ours = |dir: &Path| own_folder_mode(dir).is_ok_and(|mode| mode & WRITTEN_BY_OTHERS == 0);
    (is_ours(&base) && is_ours(&versions)).then_some(versions)
}

/// Returns the base directory of this user. If another user owns it, one with a random name, so that no user can stop another's runs.
fn base(temporary: &Path) -> Result<Base, HomeError> {
    let base = base_path(temporary);
    match make_private(&base) {
        Ok(()) => Ok(Base::OfUser(base)),
        Err(HomeError::Foreign { path }) => {
            let private = Permissions::from_mode(0o700);
            let made =
                tempfile::Builder::new().prefix(BASE_PREFIX).permissions(private).tempdir_in(temporary);
            let own = made.map_err(|source| HomeError::Io { path: base, source })?;
            living().push(own.path().to_path_buf());
            note(&format!(
                "{} belongs to another user or is not a directory; using {}, which remains if this run is killed",
                path.display(),
                own.path().display()
            ));
            Ok(Base::OfRun(own))
        }
        Err(error) => Err(error),
    }
}

fn base_path(temporary: &Path) -> PathBuf {
    temporary.join(format!("{BASE_PREFIX}{}", getuid().as_raw()))
}

/// Creates a directory for this user only, or accepts an existing one. If others may have written to it, it is removed if empty, and
/// otherwise not changed, so that no other run takes it for a private one.
fn make_private(path: &Path) -> Result<(), HomeError> {
    make_folder(path)?;
    let mut mode = own_folder_mode(path)?;
    if mode & WRITTEN_BY_OTHERS != 0 {
        // Another run may do the same now. The result is checked below.
        let _gone_or_in_use: io::Result<()> = fs::remove_dir(path);
        make_folder(path)?;
        mode = own_folder_mode(path)?;
        if mode & WRITTEN_BY_OTHERS != 0 {
            return Err(HomeError::Open { path: path.to_path_buf() });
        }
    }
    if mode & OPEN_TO_OTHERS != 0 {
        let closed = fs::set_permissions(path, Permissions::from_mode(0o700));
        closed.map_err(|source| HomeError::Io { path: path.to_path_buf(), source })?;
    }
    Ok(())
}

/// Returns the mode of a directory of this user.
fn own_folder_mode(path: &Path) -> Result<u32, HomeError> {
    let found = fs::symlink_metadata(path);
    let found = found.map_err(|source| HomeError::Io { path: path.to_path_buf(), source })?;
    if found.is_dir() && found.uid() == getuid().as_raw() {
        Ok(found.mode())
    } else {
        Err(HomeError::Foreign { path: path.to_path_buf() })
    }
}

fn make_folder(path: &Path) -> Result<(), HomeError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(HomeError::Io { path: path.to_path_buf(), source }),
    }
}

async fn open_locked(path: &Path, patience: Duration) -> Result<File, HomeError> {
    let failed = |source| HomeError::Io { path: path.to_path_buf(), source };
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = open_file(path, FileOwner::Program, &mut options).map_err(|error| match error {
        NotOpened::Folder | NotOpened::NoFile => HomeError::NoFile { path: path.to_path_buf() },
        NotOpened::Io(source) => failed(source),
    })?;
    match lock(&file, patience).await {
        Ok(()) => Ok(file),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            Err(HomeError::Held { path: path.to_path_buf(), patience })
        }
        Err(error) => Err(failed(error)),
    }
}

async fn make_run(base: &Path, patience: Duration) -> Result<(PathBuf, File), HomeError> {
    let private = Permissions::from_mode(0o700);
    let made = tempfile::Builder::new().prefix(RUN_PREFIX).permissions(private).tempdir_in(base);
    // Removed with the `Home`.
    let dir = made.map_err(|source| HomeError::Io { path: base.to_path_buf(), source })?.keep();
    living().push(dir.clone());
    let lock = open_locked(&dir.join(LOCK), patience).await?;
    for folder in ["tmp", "cache", "config", "data"] {
        make_folder(&dir.join(folder))?;
    }
    Ok((dir, lock))
}

/// Renames the directories of ended runs, so that removing them needs no lock, and returns them. The caller holds the gate.
fn rename_ended_runs(base: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(base) else { return Vec::new() };
    let mut dead = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_name().as_bytes().starts_with(DEAD_PREFIX.as_bytes()) {
            dead.push(path);
        } else if let Some(name) = dead_name(&entry.file_name())
            && !is_alive(&path)
        {
            let to = base.join(name);
            if fs::rename(&path, &to).is_ok() {
                dead.push(to);
            }
        }
    }
    dead
}

/// Returns the name under which a run's directory is removed; `None` if it is not a run's.
fn dead_name(run: &OsStr) -> Option<OsString> {
    let random = run.as_bytes().strip_prefix(RUN_PREFIX.as_bytes())?;
    Some(OsString::from_vec([DEAD_PREFIX.as_bytes(), random].concat()))
}

/// Removes versions that were not used for long.
pub(crate) fn forget_versions(folder: &Path, now: Option<SystemTime>) {
    let (Some(now), Ok(entries)) = (now, fs::read_dir(folder)) else { return };
    for entry in entries.flatten() {
        let used = entry.metadata().and_then(|found| found.modified());
        if used.is_ok_and(|used| now.duration_since(used).is_ok_and(|age| age > VERSION_AGE)) {
            // Another run may do the same now.
            let _gone_or_the_next_run_tries: io::Result<()> = remove_tree(&entry.path());
        }
    }
}

/// Whether another process holds a run's lock. On an error it counts as held. Anything but a directory of this user is not a run.
fn is_alive(run: &Path) -> bool {
    if matches!(own_folder_mode(run), Err(HomeError::Foreign { .. })) {
        return false;
    }
    let lock = || open_file(&run.join(LOCK), FileOwner::Program, OpenOptions::new().write(true));
    let mut opened = lock();
    // A program started by helm may have revoked access to the directory.
    if let Err(NotOpened::Io(error)) = &opened
        && error.kind() == io::ErrorKind::PermissionDenied
        && fs::set_permissions(run, Permissions::from_mode(0o700)).is_ok()
    {
        opened = lock();
    }
    match opened {
        Ok(file) => file.try_lock().is_err(),
        Err(NotOpened::Io(error)) => error.kind() != io::ErrorKind::NotFound,
        Err(NotOpened::Folder | NotOpened::NoFile) => true,
    }
}

#[cfg(test)]
mod tests;
