//! The content of a revision, without writing a tree: its files and their bytes.

use std::sync::Arc;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use tiphys_tree::{RepoPath, read_bounded, resolve};

use super::{Origin, ResolvedRevision, Sources, blocking};
use crate::SourceError;
use crate::plan::{self, Listing};

/// A file of a revision, submodules followed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RevisionFile {
    /// Its path in the repository.
    pub path: RepoPath,
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// Identifies mode and content: equal files have equal ids.
    id: (u8, ObjectId),
}

impl Sources {
    /// Lists the files of a revision, sorted by path: all, or those at and below some paths. Directories exist as parents of files.
    pub async fn files(
        &self,
        revision: &ResolvedRevision,
        paths: Option<&[RepoPath]>,
    ) -> Result<Vec<RevisionFile>, SourceError> {
        let ids = match &revision.origin {
            Origin::Files(index) => {
                let copy = self.copy(*index).await?;
                let limits = self.service.store.limits();
                let found = copy.files(&self.service.git, paths, limits).await?;
                let (ids, dir) = (Arc::clone(&copy.ids), copy.dir.clone());
                blocking(move || ids.of(&dir, &found, limits)).await?
            }
            Origin::Chart(_) => return Err(not_git(revision)),
            origin => {
                let listing = self.listing(origin, paths).await?;
                blocking(move || Ok(listing.into_file_ids())).await?
            }
        };
        let named = ids.into_iter().map(|(path, kind, id)| RevisionFile::new(path, kind, id));
        let mut files: Vec<RevisionFile> = named.collect();
        files.sort();
        Ok(files)
    }

    /// Reads the files of a revision for which `matches` returns true: of all, or of those at and below some paths. Links are left out. A file of
    /// more than `bytes_max` bytes is an error.
    pub async fn read_files(
        &self,
        revision: &ResolvedRevision,
        paths: Option<&[RepoPath]>,
        matches: impl Fn(&RepoPath) -> bool + Send + 'static,
        bytes_max: u64,
    ) -> Result<Vec<(RepoPath, Vec<u8>)>, SourceError> {
        let repository = revision.repository.clone();
        match &revision.origin {
            Origin::Files(index) => {
                let copy = self.copy(*index).await?;
                let found = copy.files(&self.service.git, paths, self.service.store.limits()).await?;
                let dir = copy.dir.clone();
                blocking(move || {
                    let mut read = Vec::new();
                    for path in found.into_iter().filter(|path| matches(path)) {
                        let place = dir.join(path.as_str());
                        if place.is_symlink() {
                            continue;
                        }
                        let past = |source| SourceError::PastPath { repository: repository.clone(), source };
                        let file = resolve(&dir, &path).map_err(|error| past(error.into()))?;
                        let bytes =
                            read_bounded(&file, bytes_max).map_err(SourceError::cache("read", &file))?;
                        let bytes = bytes.ok_or_else(|| too_large(&repository, &path, bytes_max))?;
                        read.push((path, bytes));
                    }
                    Ok(read)
                })
                .await
            }
            Origin::Chart(_) => Err(not_git(revision)),
            origin => {
                let listing = self.listing(origin, paths).await?;
                blocking(move || {
                    let mut contents = listing.contents();
                    let mut read = Vec::new();
                    for item in &listing.items {
                        if item.kind == EntryKind::Link || !matches(&item.path) {
                            continue;
                        }
                        let bytes = contents.of(item)?;
                        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > bytes_max {
                            return Err(too_large(&repository, &item.path, bytes_max));
                        }
                        read.push((item.path.clone(), bytes.to_vec()));
                    }
                    read.sort();
                    Ok(read)
                })
                .await
            }
        }
    }

    /// Lists the files of a commit, or those at and below some paths.
    pub(super) async fn listing(
        &self,
        origin: &Origin,
        paths: Option<&[RepoPath]>,
    ) -> Result<Listing, SourceError> {
        let plan = self.plan(self.superproject(origin).await?, paths).await?;
        plan::list(plan, &self.service.git, &self.service.store).await
    }
}

impl RevisionFile {
    /// Returns bytes that are equal for files of equal mode and content.
    pub fn identity(&self) -> Vec<u8> {
        [&[self.id.0], self.id.1.as_slice()].concat()
    }

    pub(super) fn new(path: RepoPath, kind: EntryKind, id: ObjectId) -> Self {
        let mode = match kind {
            EntryKind::BlobExecutable => 1,
            EntryKind::Link => 2,
            EntryKind::Blob | EntryKind::Tree | EntryKind::Commit => 0,
        };
        Self { path, is_link: kind == EntryKind::Link, id: (mode, id) }
    }
}

fn too_large(repository: &str, path: &RepoPath, bytes_max: u64) -> SourceError {
    let detail = format!("{path} has more than {bytes_max} bytes");
    SourceError::Git { repository: repository.to_owned(), detail }
}

fn not_git(revision: &ResolvedRevision) -> SourceError {
    SourceError::Git {
        repository: revision.repository.clone(),
        detail: "a chart has no files of a git revision".to_owned(),
    }
}
