//! The size limit of the cache directory: clones, charts and trees that were not used for longest are removed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiphys_model::limits::Limit;
use tiphys_tree::{FileOwner, Pruned, is_cache_name, mark_used, open_file, prune};

use crate::context::host::Host;
use crate::context::options::ServiceOptions;
use crate::error::ServiceError;

/// Time after which a command prunes the cache again.
const INTERVAL: Duration = Duration::from_hours(24);

/// Directories of the cache: clones, archives of charts, the archives of chart versions, trees by boot.
const DIRECTORIES: [&str; 4] = ["git", "charts/archives", "charts/names", "trees"];

/// Lock file: every command holds a shared lock while it uses the cache, and an exclusive one while it prunes.
const LOCK: &str = "in-use.lock";

/// File whose modification time is that of the last pruning.
const STAMP: &str = "pruned";

/// Removes the least recently used entries of the cache until it has at most [`Limit::CACHE_SIZE_MAX`] bytes on disk.
///
/// An entry is a clone, a chart, the record of a chart version or a tree. A cache that does not exist has none. Fails with
/// [`ErrorKind::Conflict`] while another command uses the cache.
///
/// [`ErrorKind::Conflict`]: crate::error::ErrorKind::Conflict
pub fn prune_cache(options: &ServiceOptions, host: &Host) -> Result<Pruned, ServiceError> {
    let dir = host.cache_dir(options.cache_dir.as_deref())?;
    if !DIRECTORIES.iter().any(|directory| dir.join(directory).is_dir()) {
        return Ok(Pruned::default());
    }
    let failed = |error: io::Error| ServiceError::invalid_input(format!("{}: {error}", dir.display()));
    let lock = lock_file(&dir).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => prune_locked(&dir, options.limits.get(Limit::CACHE_SIZE_MAX)).map_err(failed),
        Err(TryLockError::WouldBlock) => Err(ServiceError::conflict(format!(
            "{}: another command uses the cache; prune it when that has ended",
            dir.display()
        ))),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Begins to use a cache, and prunes it first if that was not done for a day and no other command uses it. The cache is in use until the
/// returned lock is dropped. A read-only cache has no lock, and is not pruned.
pub(super) fn begin_use(dir: &Path, bytes_max: u64) -> Option<File> {
    let lock = lock_file(dir).ok()?;
    if is_due(dir) && lock.try_lock().is_ok() {
        match prune_locked(dir, bytes_max) {
            Ok(Pruned { removed: 0, .. }) => {}
            Ok(Pruned { removed, removed_bytes, .. }) => {
                tracing::info!(
                    removed,
                    removed_bytes,
                    "{}: unused entries of the cache were removed",
                    dir.display()
                );
            }
            Err(error) => tracing::warn!("{}: the cache could not be pruned: {error}", dir.display()),
        }
        // From exclusive to shared, so that other commands go on.
        lock.unlock().ok()?;
    }
    lock.lock_shared().ok()?;
    Some(lock)
}

fn lock_file(dir: &Path) -> io::Result<File> {
    own_file(&dir.join(LOCK))
}

/// Opens a file of the cache, which is created if necessary. The cache may be in a checkout, so no link is followed.
fn own_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    Ok(open_file(path, FileOwner::Repository, options.create(true).truncate(false).write(true))?)
}

/// Whether the last pruning is older than [`INTERVAL`], by the clock of the file system. A cache that was never pruned gets its stamp.
fn is_due(dir: &Path) -> bool {
    let (lock, stamp) = (dir.join(LOCK), dir.join(STAMP));
    mark_used(&lock);
    let time = |path: &Path| fs::metadata(path).and_then(|found| found.modified());
    match (time(&lock), time(&stamp)) {
        (Ok(now), Ok(last)) => now.duration_since(last).is_ok_and(|age| age >= INTERVAL),
        (Ok(_), Err(_)) => {
            let _new: io::Result<File> = own_file(&stamp);
            false
        }
        (Err(_), _) => false,
    }
}

fn prune_locked(dir: &Path, bytes_max: u64) -> io::Result<Pruned> {
    let [clones, archives, names, trees] = DIRECTORIES.map(|directory| dir.join(directory));
    let mut directories = vec![clones, archives, names];
    directories.extend(trees_of_boots(&trees)?);
    let pruned = prune(&directories, bytes_max)?;
    own_file(&dir.join(STAMP))?;
    mark_used(&dir.join(STAMP));
    Ok(pruned)
}

/// The content store has one directory of trees for each boot.
fn trees_of_boots(trees: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(trees) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        found => {
            let paths = found?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
            Ok(paths.into_iter().filter(|path| is_cache_name(path) && path.is_dir()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::time::{Duration, SystemTime};
    use tiphys_model::limits::Limit;

    use super::{LOCK, STAMP, begin_use, prune_cache};
    use crate::context::host::Host;
    use crate::context::options::ServiceOptions;
    use crate::error::ErrorKind;

    const CLONE: &str = "git/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const OTHER: &str = "git/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    const TREE: &str = "trees/00000000000000000000000000000000/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    fn cache() -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for entry in [CLONE, "charts/archives", "charts/names", TREE] {
            fs::create_dir_all(dir.path().join(entry)).expect("the directory can be made");
        }
        for file in [
            &format!("{CLONE}/pack"),
            &format!("charts/archives/{}", "c".repeat(64)),
            &format!("charts/names/{}", "d".repeat(64)),
            &format!("{TREE}/file"),
        ] {
            fs::write(dir.path().join(file), vec![1; 10_000]).expect("the file can be written");
        }
        dir
    }

    fn options(dir: &Path, cache_size_max: u64) -> ServiceOptions {
        let mut options = ServiceOptions { cache_dir: Some(dir.to_path_buf()), ..ServiceOptions::default() };
        options.limits.set(Limit::CACHE_SIZE_MAX, cache_size_max);
        options
    }

    fn host() -> Host {
        Host::for_tests(&[])
    }

    #[test]
    fn clones_charts_and_trees_are_pruned() {
        let dir = cache();
        let pruned = prune_cache(&options(dir.path(), u64::MAX), &host()).expect("it can be measured");
        assert_eq!((pruned.removed, pruned.kept), (0, 4));
        let pruned = prune_cache(&options(dir.path(), 0), &host()).expect("it can be pruned");
        assert_eq!((pruned.removed, pruned.kept, pruned.kept_bytes), (4, 0, 0));
        let missing = options(&dir.path().join("missing"), 0);
        assert_eq!(prune_cache(&missing, &host()).expect("there is nothing").removed, 0);
    }

    #[test]
    fn cache_in_use_is_not_pruned() {
        let dir = cache();
        let in_use = begin_use(dir.path(), 0).expect("the cache can be locked");
        let error = prune_cache(&options(dir.path(), 0), &host()).expect_err("it is in use");
        assert_eq!(error.kind(), ErrorKind::Conflict);
        drop(in_use);
        assert_eq!(prune_cache(&options(dir.path(), 0), &host()).expect("it can be pruned").removed, 4);
    }

    #[test]
    fn links_in_the_cache_are_not_followed() {
        let dir = cache();
        let (stamp, lock) = (dir.path().join(STAMP), dir.path().join(LOCK));
        let target = dir.path().join("target");
        fs::write(&target, "text").expect("the file can be written");
        symlink(&target, &stamp).expect("the link can be made");
        assert!(prune_cache(&options(dir.path(), 0), &host()).is_err());
        assert_eq!(fs::read_to_string(&target).expect("the file can be read"), "text");
        fs::remove_file(&lock).and_then(|()| symlink(dir.path().join("new"), &lock)).expect("a link");
        assert!(begin_use(dir.path(), 0).is_none() && !dir.path().join("new").exists());
    }

    #[test]
    fn commands_prune_once_a_day() {
        let dir = cache();
        drop(begin_use(dir.path(), 0).expect("the cache can be locked"));
        assert!(dir.path().join(CLONE).exists(), "a new cache is a day old first");
        let stamp = File::create(dir.path().join(STAMP)).expect("the stamp can be written");
        let yesterday = SystemTime::UNIX_EPOCH + Duration::from_hours(24);
        stamp.set_modified(yesterday).expect("the time can be set");
        drop(begin_use(dir.path(), 0).expect("the cache can be locked"));
        assert!(!dir.path().join(CLONE).exists());
        fs::create_dir(dir.path().join(OTHER)).expect("the directory can be made");
        drop(begin_use(dir.path(), 0).expect("the cache can be locked"));
        assert!(dir.path().join(OTHER).exists(), "it was pruned just now");
    }
}
