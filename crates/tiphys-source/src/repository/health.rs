//! Replacing a clone whose objects are damaged or refreshed.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::{Context, FetchTarget, Repository, Trust, unless_damaged};
use crate::options::{Freshness, Network};
use crate::{SourceError, SourceRequest};

/// Length of the checksums at the end of a pack and of its index, in bytes.
const CHECKSUM_BYTES: usize = 20;

/// Git's own lock files.
const LOCKS: [&str; 3] = ["shallow.lock", "packed-refs.lock", "config.lock"];

/// How often replacing a clone is tried. Another process may write its list of refs meanwhile.
const MOVES_MAX: usize = 3;

impl Repository {
    /// Marks the cached objects as damaged, so that the next request for a commit fetches it into a fresh clone.
    pub(crate) fn distrust(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut trust = self.trust.lock().unwrap_or_else(PoisonError::into_inner);
        if *trust == Trust::Found {
            *trust = Trust::Damaged;
        }
    }

    /// Records that reading failed. The clone must be locked.
    pub(super) fn note_damage<T>(
        &self,
        request: &SourceRequest,
        found: Result<Option<T>, SourceError>,
    ) -> Result<Option<T>, SourceError> {
        if request.network == Network::Online
            && let Err(SourceError::Objects { detail, .. }) = &found
        {
            tracing::debug!(repository = %self.shown, detail, "the cached objects are damaged");
            *self.trust.lock().unwrap_or_else(PoisonError::into_inner) = Trust::Damaged;
        }
        unless_damaged(request, found)
    }

    /// Fetches into the existing clone, or into a fresh one that replaces it. The clone must be locked.
    pub(super) async fn obtain(&self, context: Context<'_>, target: FetchTarget) -> Result<(), SourceError> {
        let trust = self.trust();
        let needs_fresh_clone = match trust {
            Trust::Damaged => true,
            Trust::Found => {
                context.request.freshness == Freshness::Refresh
                    || count_packs(&self.dir) >= context.options.clone_packs_max
            }
            Trust::Fresh => false,
        };
        if !needs_fresh_clone {
            return self.fetch_target(context, &self.dir, target).await;
        }
        let fresh = self.dir.with_extension("fresh");
        let fetched = async {
            self.make(context, &fresh).await?;
            self.fetch_target(context, &fresh, target).await
        };
        let replaced = match fetched.await {
            Ok(()) => self.replace(&fresh).map_err(|error| self.damaged(error)),
            Err(error) if trust == Trust::Damaged => Err(self.damaged(error)),
            Err(error) => Err(error),
        };
        self.sweep();
        replaced?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *self.trust.lock().unwrap_or_else(PoisonError::into_inner) = Trust::Fresh;
        Ok(())
    }

    async fn fetch_target(
        &self,
        context: Context<'_>,
        dir: &Path,
        target: FetchTarget,
    ) -> Result<(), SourceError> {
        match target {
            FetchTarget::Commit(id) => self.fetch_commit(context, dir, id).await,
            FetchTarget::History => self.fetch_history(context, dir).await,
        }
    }

    /// Replaces the clone by a fresh one. Readers of the old one keep its files open.
    fn replace(&self, fresh: &Path) -> Result<(), SourceError> {
        let old = self.dir.with_extension("old");
        let mut moved = Ok(());
        for _ in 0..MOVES_MAX {
            remove_folder(&old).map_err(SourceError::cache("remove", &old))?;
            match fs::rename(&self.dir, &old) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(SourceError::cache("move", &self.dir)(error));
                }
                Ok(()) | Err(_) => {}
            }
            let refs = old.join("tiphys-refs");
            if refs.is_file() {
                let kept = fresh.join("tiphys-refs");
                fs::copy(&refs, &kept).map_err(SourceError::cache("write", &kept))?;
            }
            moved = fs::rename(fresh, &self.dir);
            if moved.is_ok() {
                break;
            }
        }
        moved.map_err(|error| {
            // The undamaged objects of the old clone are still readable offline.
            drop(fs::rename(&old, &self.dir));
            SourceError::cache("make", &self.dir)(error)
        })
    }

    /// Removes unused clones and the files of killed fetches. The clone must be locked.
    pub(super) fn sweep(&self) {
        remove_partial_files(&self.dir);
        for dir in ["fresh", "old"].map(|name| self.dir.with_extension(name)) {
            if let Err(error) = remove_folder(&dir) {
                tracing::debug!(dir = %dir.display(), %error, "an unused clone cannot be removed");
            }
        }
    }

    fn damaged(&self, source: SourceError) -> SourceError {
        SourceError::Damaged {
            repository: self.shown.to_string(),
            dir: self.dir.clone(),
            source: Box::new(source),
        }
    }
}

/// Returns the number of packs of a clone. Each fetch adds one, so a fresh clone replaces one with too many.
fn count_packs(clone: &Path) -> usize {
    let Ok(entries) = fs::read_dir(clone.join("objects/pack")) else { return 0 };
    entries
        .flatten()
        .filter(|entry| Path::new(&entry.file_name()).extension().is_some_and(|it| it == "pack"))
        .count()
}

/// Checks that each pack ends with the checksum in its index. The index of a truncated pack has offsets beyond its end.
pub(super) fn check_packs(objects: &Path, repository: &Arc<str>) -> Result<(), SourceError> {
    let broken = |path: &Path, what: &str| SourceError::Objects {
        repository: repository.to_string(),
        detail: format!("{}: {what}", path.display()),
    };
    let Ok(entries) = fs::read_dir(objects.join("pack")) else { return Ok(()) };
    for index in entries.flatten().map(|entry| entry.path()) {
        if index.extension().is_none_or(|extension| extension != "idx") {
            continue;
        }
        let pack = index.with_extension("pack");
        let in_index = last_checksum(&index, 2).map_err(|error| broken(&index, &error.to_string()))?;
        let in_pack = last_checksum(&pack, 1).map_err(|error| broken(&pack, &error.to_string()))?;
        if in_index != in_pack {
            return Err(broken(&pack, "it does not match its index"));
        }
    }
    Ok(())
}

/// Returns the n-th last checksum in a file.
fn last_checksum(path: &Path, nth: usize) -> io::Result<[u8; CHECKSUM_BYTES]> {
    let back = i64::try_from(nth * CHECKSUM_BYTES).map_err(io::Error::other)?;
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-back))?;
    let mut checksum = [0; CHECKSUM_BYTES];
    file.read_exact(&mut checksum)?;
    Ok(checksum)
}

/// Removes the temporary files and locks of an aborted fetch. The clone must be locked. Git leaves temporary files to its garbage collection, so
/// each try would use more of a full disk; a lock that git left prevents the next fetch.
pub(super) fn remove_partial_files(clone: &Path) {
    for name in LOCKS {
        // Exists only if git was killed.
        let _missing: io::Result<()> = fs::remove_file(clone.join(name));
    }
    let objects = clone.join("objects");
    let Ok(folders) = fs::read_dir(&objects) else { return };
    let folders = folders.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    for folder in folders.map(|entry| entry.path()).chain([objects]) {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let partial = entry.file_name().as_encoded_bytes().starts_with(b"tmp_");
            if partial && let Err(error) = fs::remove_file(entry.path()) {
                tracing::debug!(path = %entry.path().display(), %error, "a temporary file of a fetch cannot be removed");
            }
        }
    }
}

fn remove_folder(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
