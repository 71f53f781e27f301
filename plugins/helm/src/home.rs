//! A home for helm of one run alone: no state of a user, none of another run, and nothing of it left.
//!
//! ```text
//! <temporary folder>/tiphys-helm-<user>/           mode 0700
//!   gate                                           locked while a home is made or swept
//!   versions/<file of a helm>                      which version a helm has, so that it is asked once; its time: when it was used
//!   run-<random>/lock                              locked as long as the run lives
//!   run-<random>/{cache,config,data,tmp,…}         helm's
//! ```
//!
//! A run that is killed cannot clean up. Its lock is gone with it, and the next run removes what it left. Times are those of the folder's
//! file system alone.
//!
//! Any user can make a folder of that name first. A run then uses one with a random name, which ends with the run.

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
use tiphys_removal::remove_tree;
use tiphys_tree::{FileOwner, NotOpened, open_file};

use crate::failure::note;
use crate::lock::lock;

/// Beginning of the names of the folders below the one for temporary files.
const BASE_PREFIX: &str = "tiphys-helm-";

/// Beginning of the names of runs' folders.
const RUN_PREFIX: &str = "run-";

/// Beginning of the names of folders that are being removed.
const DEAD_PREFIX: &str = "dead-";

/// The file that is locked as long as a run lives.
const LOCK: &str = "lock";

/// Name of the folder that remembers versions, shared by runs.
const VERSIONS: &str = "versions";

/// How long a version is remembered that nobody uses.
const VERSION_AGE: Duration = Duration::from_hours(30 * 24);

/// Bits of a mode by which others than the owner get at a folder.
const OPEN_TO_OTHERS: u32 = 0o077;

/// Those of them by which others put something there.
const WRITTEN_BY_OTHERS: u32 = 0o022;

/// The homes of this process that are there, each behind its own base if it has one.
static LIVING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A folder of this run alone. It goes with this value.
#[derive(Debug)]
pub(crate) struct Home {
    base: Base,
    dir: PathBuf,
    began: Option<SystemTime>,
    _lock: File,
}

/// The folder in which homes are made.
#[derive(Debug)]
enum Base {
    /// That of all runs of this user.
    OfUser(PathBuf),
    /// One of this run alone, since something else stands in the place of the first.
    OfRun(TempDir),
}

/// Why there is no home.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HomeError {
    /// Somebody else's.
    #[error("{path} belongs to another user or is no folder; remove it, or set TMPDIR to a folder of your own", path = path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// Others may have written to it.
    #[error(
        "{path} is open to other users, who may have put something there; remove it, or set TMPDIR to a folder of your own",
        path = path.display()
    )]
    Open {
        /// The folder.
        path: PathBuf,
    },
    /// Something stands in a file's place.
    #[error("{path} is no file of this user; remove it, or set TMPDIR to a folder of your own", path = path.display())]
    NoFile {
        /// What should be a file.
        path: PathBuf,
    },
    /// Another run does not get on.
    #[error(
        "another process has held the lock {path} for {patience:?}; end it, or let TIPHYS_HELM_TIMEOUT wait longer",
        path = path.display()
    )]
    Held {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        patience: Duration,
    },
    /// The file system failed.
    #[error(
        "cannot make {path} for helm; TMPDIR has to name a folder with room that can be written to",
        path = path.display()
    )]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

impl Home {
    /// Name of the file of inline values.
    pub(crate) const INLINE_VALUES: &str = "values";

    /// Name of the folder in which dependencies are built.
    pub(crate) const BUILT_TREE: &str = "tree";

    /// Name of the folder for dependencies that an earlier run has built.
    pub(crate) const KEPT_TREE: &str = "kept";

    /// Name of the folder in which kustomize runs.
    pub(crate) const KUSTOMIZE_TREE: &str = "kustomize";

    /// The folders that look like the repository.
    pub(crate) const TREES: [&str; 3] = [Self::BUILT_TREE, Self::KEPT_TREE, Self::KUSTOMIZE_TREE];

    /// Makes a home below a folder for temporary files, and removes those that killed runs left. Another run may do the same at this
    /// moment; it is waited for as long as `patience`.
    pub(crate) async fn new(temporary: &Path, patience: Duration) -> Result<Self, HomeError> {
        let base = base(temporary)?;
        let gate = open_locked(&base.path().join("gate"), patience).await?;
        let dead = take_away_the_dead(base.path());
        let made = make_run(base.path(), patience).await;
        drop(gate);
        for dir in dead {
            // Another run may do the same at this moment.
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

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    /// When it was made, by the clock of its file system; `None` if that does not tell.
    pub(crate) fn began(&self) -> Option<SystemTime> {
        self.began
    }

    /// The folder for versions of programs, which runs share.
    pub(crate) fn versions(&self) -> Result<PathBuf, HomeError> {
        let dir = self.base.path().join(VERSIONS);
        make_private(&dir)?;
        Ok(dir)
    }

    /// A folder of this run alone, with those above it, all with mode 0700.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, HomeError> {
        let dir = self.dir.join(name);
        match DirBuilder::new().mode(0o700).recursive(true).create(&dir) {
            Ok(()) => Ok(dir),
            Err(source) => Err(HomeError::Io { path: dir, source }),
        }
    }

    /// Writes a file that only this user can read.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, HomeError> {
        let path = self.dir.join(name);
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(content));
        match written {
            Ok(()) => Ok(path),
            Err(source) => Err(HomeError::Io { path, source }),
        }
    }

    /// The variables that make a program use this home and no other.
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
        // What cannot be removed is removed by a later run.
        let _removed: io::Result<()> = remove_tree(&self.dir);
    }
}

/// Removes the homes of this process, which is about to end, though a thread of it may still use them.
pub(crate) fn remove_all() {
    for dir in std::mem::take(&mut *living()).into_iter().rev() {
        // What cannot be removed is removed by a later run.
        let _removed: io::Result<()> = match dir.file_name().and_then(dead_name) {
            Some(name) => {
                // Under another name nothing is added to it meanwhile.
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

/// The folder for versions of programs below a folder for caches, made if it does not exist.
pub(crate) fn versions_in(caches: &Path) -> Result<PathBuf, HomeError> {
    fs::create_dir_all(caches).map_err(|source| HomeError::Io { path: caches.to_path_buf(), source })?;
    let versions = base_path(caches).join(VERSIONS);
    make_private(&base_path(caches))?;
    make_private(&versions)?;
    Ok(versions)
}

/// The folder for versions of programs, for who only looks: `None` if no run has made it, or others may have put something there.
pub(crate) fn known_versions(temporary: &Path) -> Option<PathBuf> {
    let base = base_path(temporary);
    let versions = base.join(VERSIONS);
    let is_ours = |dir: &Path| own_folder_mode(dir).is_ok_and(|mode| mode & WRITTEN_BY_OTHERS == 0);
    (is_ours(&base) && is_ours(&versions)).then_some(versions)
}

/// The folder of this user's runs. Where another user has made it first, one with a random name, so that nobody can stop this user's runs.
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
                "{} belongs to another user or is no folder; {} is used, which stays if this run is killed",
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

/// Makes a folder that only this user gets into, or takes one that is there. One into which others may have put something is not taken over:
/// it goes if it is empty, and else it stays as it is, so that no other run takes it for a private one meanwhile.
fn make_private(path: &Path) -> Result<(), HomeError> {
    make_folder(path)?;
    let mut mode = own_folder_mode(path)?;
    if mode & WRITTEN_BY_OTHERS != 0 {
        // Another run may do the same at this moment. What came of it shows below.
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

/// The mode of a folder of this user.
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
    // It is removed with the `Home`.
    let dir = made.map_err(|source| HomeError::Io { path: base.to_path_buf(), source })?.keep();
    living().push(dir.clone());
    let lock = open_locked(&dir.join(LOCK), patience).await?;
    for folder in ["tmp", "cache", "config", "data"] {
        make_folder(&dir.join(folder))?;
    }
    Ok((dir, lock))
}

/// Renames the folders of runs that live no longer, so that removing them takes no lock; names them. Nobody else may hold the gate.
fn take_away_the_dead(base: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(base) else { return Vec::new() };
    let mut dead = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_name().as_bytes().starts_with(DEAD_PREFIX.as_bytes()) {
            dead.push(path);
        } else if let Some(name) = dead_name(&entry.file_name())
            && !lives(&path)
        {
            let to = base.join(name);
            if fs::rename(&path, &to).is_ok() {
                dead.push(to);
            }
        }
    }
    dead
}

/// What the folder of a run is called when it is to be removed; `None` for a name of something else.
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
            // Another run may do the same at this moment.
            let _gone_or_the_next_run_tries: io::Result<()> = remove_tree(&entry.path());
        }
    }
}

/// Whether somebody holds a run's lock. What cannot be known counts as living; what is no folder of this user was never a run.
fn lives(run: &Path) -> bool {
    if matches!(own_folder_mode(run), Err(HomeError::Foreign { .. })) {
        return false;
    }
    let lock = || open_file(&run.join(LOCK), FileOwner::Program, OpenOptions::new().write(true));
    let mut opened = lock();
    // A program that helm started may have closed the folder behind it.
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
