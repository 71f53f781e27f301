//! The content of a revision, without writing a tree: refs, metadata, files, changed paths.

use std::collections::HashMap;
use std::sync::Arc;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use tiphys_model::access::ContextProject;
use tiphys_tree::{RepoPath, read_bounded, resolve};

use super::{Origin, ResolvedRevision, Sources, blocking};
use crate::SourceError;
use crate::objects::CommitText;
use crate::plan::{self, Listing};
use crate::repository::Repository;

/// The branches and tags of a remote repository, sorted, without `refs/heads/` and `refs/tags/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefNames {
    /// Names of branches.
    pub branches: Vec<String>,
    /// Names of tags.
    pub tags: Vec<String>,
}

/// Author, time and message of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionMetadata {
    /// `NAME <EMAIL>`.
    pub author: String,
    /// When the author wrote it, in seconds since 1970.
    pub date_seconds: i64,
    /// The message without white space at both ends.
    pub message: String,
    /// Names of the tags of the commit, sorted. Empty for a folder that stands for a repository.
    pub tags: Vec<String>,
}

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
    /// Returns the names of branches and tags of a remote repository, as this request sees them.
    pub async fn ref_names(
        &self,
        project: &Arc<ContextProject>,
        repo_url: &str,
    ) -> Result<RefNames, SourceError> {
        let repository = self.repository(project, repo_url.trim())?;
        let refs = repository.refs(self.context()).await?;
        let names = |prefix| refs.with_prefix(prefix).map(|(name, _)| name.to_owned()).collect();
        Ok(RefNames { branches: names("refs/heads/"), tags: names("refs/tags/") })
    }

    /// Returns author, time and message of a revision's commit; `None` for files without a commit.
    pub async fn revision_metadata(
        &self,
        revision: &ResolvedRevision,
    ) -> Result<Option<RevisionMetadata>, SourceError> {
        let commit = match &revision.origin {
            Origin::Remote { commit, .. } | Origin::Copy { commit, .. } | Origin::WorkTree { commit, .. } => {
                *commit
            }
            Origin::Files(_) | Origin::Chart(_) => return Ok(None),
        };
        let objects = self.superproject(&revision.origin).await?.source.objects;
        let CommitText { author, date_seconds, message } =
            blocking(move || objects.reader().commit_text(commit)).await?;
        let tags = match &revision.origin {
            Origin::Remote { url, project, .. } => {
                self.tags_of(&*self.repository(project, url)?, commit).await?
            }
            _ => Vec::new(),
        };
        Ok(Some(RevisionMetadata { author, date_seconds, message, tags }))
    }

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

    /// Reads the files of a revision for which `matches` returns true; links are left out. A file of more than `bytes_max` bytes is an error.
    pub async fn read_files(
        &self,
        revision: &ResolvedRevision,
        matches: impl Fn(&RepoPath) -> bool + Send + 'static,
        bytes_max: u64,
    ) -> Result<Vec<(RepoPath, Vec<u8>)>, SourceError> {
        let repository = revision.repository.clone();
        match &revision.origin {
            Origin::Files(index) => {
                let copy = self.copy(*index).await?;
                let found = copy.files(&self.service.git, None, self.service.store.limits()).await?;
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
                let listing = self.listing(origin, None).await?;
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

    /// Returns the paths of files that differ between two revisions, sorted: added, removed, or with another mode or content.
    pub async fn changed_paths(
        &self,
        from: &ResolvedRevision,
        to: &ResolvedRevision,
    ) -> Result<Vec<RepoPath>, SourceError> {
        let before = self.files(from, None).await?;
        let mut before: HashMap<RepoPath, RevisionFile> =
            before.into_iter().map(|file| (file.path.clone(), file)).collect();
        let after = self.files(to, None).await?;
        let mut changed: Vec<RepoPath> = after
            .into_iter()
            .filter(|file| before.remove(&file.path).as_ref() != Some(file))
            .map(|file| file.path)
            .collect();
        changed.extend(before.into_keys());
        changed.sort();
        Ok(changed)
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

    async fn tags_of(&self, repository: &Repository, commit: ObjectId) -> Result<Vec<String>, SourceError> {
        let (refs, commit) = (repository.refs(self.context()).await?, commit.to_string());
        let tags = refs.with_prefix("refs/tags/").filter(|(_, id)| *id == commit);
        Ok(tags.map(|(name, _)| name.to_owned()).collect())
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
