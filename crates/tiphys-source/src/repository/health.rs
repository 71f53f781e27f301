//! A store whose objects are damaged, or not to be trusted: a fresh one takes its place.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::{Context, FetchTarget, Repository, Trust, unless_damaged};
use crate::options::{Freshness, Network};
use crate::{SourceError, SourceRequest};

/// Bytes of a checksum at the end of a pack and of its index.
const CHECKSUM_BYTES: usize = 20;

/// Files by which one git keeps others from the parts of a store.
const LOCKS: [&str; 3] = ["shallow.lock", "packed-refs.lock", "config.lock"];

/// How often a fresh store is moved to its place: a list of refs may just be written there.
const MOVES_MAX: usize = 3;

impl Repository {
    /// Takes what is there for damaged, so that the next one who wants a commit fetches all of it again.
    pub(crate) fn distrust(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut trust = self.trust.lock().unwrap_or_else(PoisonError::into_inner);
        if *trust == Trust::Found {
            *trust = Trust::Damaged;
        }
    }

    /// Under the lock: remembers that reading failed.
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

    /// Under the lock: fetches into the store that is there, or into a fresh one that then takes its place.
    pub(super) async fn obtain(&self, context: Context<'_>, target: FetchTarget) -> Result<(), SourceError> {
        let trust = self.trust();
        let afresh = match trust {
            Trust::Damaged => true,
            Trust::Found => {
                context.request.freshness == Freshness::Refresh
                    || count_packs(&self.dir) >= context.options.clone_packs_max
            }
            Trust::Fresh => false,
        };
        if !afresh {
            return self.fetch_target(context, &self.dir, target).await;
        }
        let fresh = self.dir.with_extension("fresh");
        let filled = async {
            self.make(context, &fresh).await?;
            self.fetch_target(context, &fresh, target).await
        };
        let filled = match filled.await {
            Ok(()) => self.replace(&fresh).map_err(|error| self.unhealed(error)),
            Err(error) if trust == Trust::Damaged => Err(self.unhealed(error)),
            Err(error) => Err(error),
        };
        self.sweep();
        filled?;
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

    /// Moves a fresh store to its place. Readers of the old one keep what they have open.
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
            // Better a damaged store than none: what can be read of it is there without the network.
            drop(fs::rename(&old, &self.dir));
            SourceError::cache("make", &self.dir)(error)
        })
    }

    /// Under the lock: removes unused stores and the files of killed fetches.
    pub(super) fn sweep(&self) {
        remove_partial_files(&self.dir);
        for dir in ["fresh", "old"].map(|name| self.dir.with_extension(name)) {
            if let Err(error) = remove_folder(&dir) {
                tracing::debug!(dir = %dir.display(), %error, "a store that is not in use stays");
            }
        }
    }

    fn unhealed(&self, source: SourceError) -> SourceError {
        SourceError::Damaged {
            repository: self.shown.to_string(),
            dir: self.dir.clone(),
            source: Box::new(source),
        }
    }
}

/// Number of packs of a clone. Each fetch adds one, so a clone that is used for long is replaced by a fresh one.
fn count_packs(store: &Path) -> usize {
    let Ok(entries) = fs::read_dir(store.join("objects/pack")) else { return 0 };
    entries
        .flatten()
        .filter(|entry| Path::new(&entry.file_name()).extension().is_some_and(|it| it == "pack"))
        .count()
}

/// Whether each pack ends as its index says. A pack that was cut off is not to be read: its index points beyond its end.
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
        let in_index = ending(&index, 2).map_err(|error| broken(&index, &error.to_string()))?;
        let in_pack = ending(&pack, 1).map_err(|error| broken(&pack, &error.to_string()))?;
        if in_index != in_pack {
            return Err(broken(&pack, "it does not match its index"));
        }
    }
    Ok(())
}

/// The checksum that begins this many checksums before the end of a file.
fn ending(path: &Path, checksums: usize) -> io::Result<[u8; CHECKSUM_BYTES]> {
    let back = i64::try_from(checksums * CHECKSUM_BYTES).map_err(io::Error::other)?;
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-back))?;
    let mut checksum = [0; CHECKSUM_BYTES];
    file.read_exact(&mut checksum)?;
    Ok(checksum)
}

/// Under the lock: removes the files that a fetch had not finished. Git itself leaves them for its garbage collection, and
/// a disk that is full would get fuller with each try. Git's own locks would then stop the next fetch.
pub(super) fn remove_partial_files(store: &Path) {
    for name in LOCKS {
        // There is none, unless git was killed.
        let _not_there: io::Result<()> = fs::remove_file(store.join(name));
    }
    let objects = store.join("objects");
    let Ok(folders) = fs::read_dir(&objects) else { return };
    let folders = folders.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    for folder in folders.map(|entry| entry.path()).chain([objects]) {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let partial = entry.file_name().as_encoded_bytes().starts_with(b"tmp_");
            if partial && let Err(error) = fs::remove_file(entry.path()) {
                tracing::debug!(path = %entry.path().display(), %error, "a file of an ended fetch stays");
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
