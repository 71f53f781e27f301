//! The same sources at another revision, and the identity of files without reading them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use gix_hash::ObjectId;
use tiphys_model::access::KnownRepositories;
use tiphys_tree::{ContainmentError, Modes, RepoPath, resolve};
use tokio::sync::OnceCell;

use super::{Made, Origin, Sources, TreeRequest, blocking, commit_in_copy};
use crate::charts;
use crate::clone_key::cache_name;
use crate::copy::{self, OpenCopy};
use crate::identity::{FilesIdentity, Identity};
use crate::refs::{RevisionKind, revision_kind};
use crate::work_tree::{PastFiles, WorkTreePath};
use crate::{
    BaseRevision, CheckoutBranches, GitSource, SourceError, SourceRequest, TreeScope, normalize_git_url,
};

/// Meaning of the revision of a source in a checkout of its repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckoutUse {
    /// It is used as named: it is checked out, has the same files, or is in no checkout.
    AsNamed,
    /// It is a branch that is not checked out, and whose changed files are: they are used.
    Switched {
        /// The directory.
        dir: PathBuf,
    },
    /// It is something else than what is checked out, whose files at the path differ. They are not used.
    Other {
        /// The directory.
        dir: PathBuf,
    },
    /// It is a branch that is not checked out, and it is not known which branch was changed. The files are not used.
    Unknown {
        /// The directory.
        dir: PathBuf,
    },
}

/// Identities of parts of revisions, each computed once.
pub(super) type Identities = HashMap<(Origin, Option<Vec<RepoPath>>), Arc<OnceCell<FilesIdentity>>>;

impl Sources {
    /// Returns the same sources with other repository settings and credentials. Branches of repositories are looked up again unless these
    /// are equal.
    #[must_use]
    pub fn with_known(self, known: KnownRepositories) -> Self {
        if self.request.known == known {
            return self;
        }
        let request = SourceRequest { known, ..(*self.request).clone() };
        Self { request: Arc::new(request), repositories: Arc::default(), ..self }
    }

    /// Returns the same sources at another revision: a commit of each local copy is used instead of its files. Everything else is shared, so
    /// a branch of a remote repository refers to the same commit in both.
    ///
    /// A directory of charts without a git repository is the same in both. Fails if another directory has no git repository, is a sparse
    /// checkout, or has no such revision.
    pub async fn at(&self, base: &BaseRevision) -> Result<Self, SourceError> {
        let mut past = Vec::new();
        for index in 0..self.copies.len() {
            let copy = self.copy(index).await?;
            let Some(git) = &copy.git else {
                if self.request.is_checkout(index) || charts::is_folder_of_charts(&copy.dir) {
                    past.push(None);
                    continue;
                }
                return Err(no_past(copy, &format!("revision {:?}", base.name)));
            };
            git.expect_whole_checkout()?;
            match base.commit(git, &self.service.git).await {
                Ok(commit) => past.push(Some(commit)),
                // An application of the repository fails.
                Err(_) if self.request.is_checkout(index) => past.push(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Self { past: Some(past.into()), ..self.clone() })
    }

    /// Returns the top directories of local copies and of the work trees around them, links resolved.
    pub async fn work_trees(&self) -> Result<Vec<PathBuf>, SourceError> {
        let mut tops = Vec::new();
        for (index, given) in self.request.copies.iter().enumerate() {
            tops.push(self.copy(index).await?.dir.clone());
            let around = WorkTreePath::find(&given.dir)
                .map_err(|error| SourceError::Copy { dir: given.dir.clone(), problem: error.to_string() })?;
            tops.extend(around.into_iter().map(|place| place.top));
        }
        Ok(tops)
    }

    /// Returns the normalized URLs of a work tree's remotes.
    pub async fn remotes(&self, top: &Path) -> Result<Vec<String>, SourceError> {
        Ok(copy::remote_urls(top, &self.service.git).await?.into_iter().collect())
    }

    /// Returns the directories that stand for a repository.
    pub async fn directories_of(&self, repo_url: &str) -> Result<Vec<PathBuf>, SourceError> {
        let copies = self.copies_of(&normalize_git_url(repo_url.trim())).await?;
        Ok(copies.into_iter().map(|(_, copy)| copy.dir.clone()).collect())
    }

    /// Returns the commit that is used instead of a local copy's files.
    pub(super) fn past_of(&self, copy: usize) -> Option<ObjectId> {
        *self.past.as_ref()?.get(copy)?
    }

    /// Fails for a directory without a git repository if another revision is requested.
    pub(super) fn expect_present(&self, copy: &OpenCopy) -> Result<(), SourceError> {
        if self.past.is_some() { Err(no_past(copy, "the revision to compare with")) } else { Ok(()) }
    }

    /// Returns what a source's revision means in the checkouts of its repository.
    pub async fn checkout_use(
        &self,
        source: &GitSource,
        app_path: &RepoPath,
    ) -> Result<CheckoutUse, SourceError> {
        let (url, revision) = (normalize_git_url(source.repo_url.trim()), source.target_revision.as_str());
        let copies = self.copies_of(&url).await?;
        let is_checked_out = |copy: &OpenCopy| match &copy.git {
            Some(git) if copy.revision.is_none() => git.is_checked_out(revision),
            _ => copy.files_are(revision),
        };
        if copies.iter().any(|(_, copy)| is_checked_out(copy)) {
            return Ok(CheckoutUse::AsNamed);
        }
        if let Some((_, copy)) = copies.iter().find(|(_, copy)| copy.files_are(revision)) {
            return Ok(CheckoutUse::Switched { dir: copy.dir.clone() });
        }
        if copies.is_empty() {
            return Ok(CheckoutUse::AsNamed);
        }
        let is_open = matches!(self.request.checkout_branches, CheckoutBranches::Changed { .. });
        for (_, copy) in &copies {
            let is_work_tree = copy.git.as_ref().is_some_and(|git| !git.bare) && copy.revision.is_none();
            // Of a name that a clone does not have, it is not known whether it is a branch.
            if is_work_tree && is_open && commit_in_copy(copy, &url, revision)?.is_none() {
                let dir = copy.dir.clone();
                let is_name = revision_kind(revision) != RevisionKind::Commit;
                let is_unknown = copy.branches.is_empty() && is_name;
                return Ok(if is_unknown {
                    CheckoutUse::Unknown { dir }
                } else {
                    CheckoutUse::Other { dir }
                });
            }
        }
        let Origin::Copy { copy: index, .. } = self.resolve(source).await?.origin else {
            return Ok(CheckoutUse::AsNamed);
        };
        let copy = self.copy(index).await?;
        let Some(git) = copy.git.as_ref().filter(|git| !git.bare && copy.revision.is_none()) else {
            return Ok(CheckoutUse::AsNamed);
        };
        let dir = copy.dir.clone();
        if is_open && copy.branches.is_empty() && git.refs.has_branch(revision) {
            return Ok(CheckoutUse::Unknown { dir });
        }
        let scope = TreeScope::Only(Vec::new());
        let named = self.identity(source, (&scope, app_path)).await?;
        let checked_out = self.identity_of_files(copy, scope.paths(app_path).as_deref()).await?;
        Ok(if named == checked_out { CheckoutUse::AsNamed } else { CheckoutUse::Other { dir } })
    }

    /// Returns the files of a work tree's path at another revision, without changing the work tree or its index. For [`TreeScope::Only`], these
    /// are the scope and the path, or the whole revision if links lead elsewhere.
    pub async fn past_files(
        &self,
        place: &WorkTreePath,
        base: &BaseRevision,
        (scope, modes): (&TreeScope, Modes),
    ) -> Result<PastFiles, SourceError> {
        let repository = self.local.open(&place.top, &self.service.git).await?;
        repository.expect_whole_checkout()?;
        let commit = base.commit(&repository, &self.service.git).await?;
        let origin = Origin::WorkTree { top: place.top.clone(), commit };
        let shown = place.top.display().to_string();
        let narrow = scope.paths(&place.path);
        let mut past = PastFiles { commit: commit.to_string(), found: None };
        for paths in narrow.map(Some).into_iter().chain([None]) {
            let whole = paths.is_none();
            let request = TreeRequest { origin: origin.clone(), modes, paths };
            let Made { tree, .. } = self.make(&request).await.map_err(|error| error.of(&shown))?;
            let read = |source| SourceError::PastPath { repository: shown.clone(), source };
            match resolve(tree.root(), &place.path) {
                // Links on the way are in the tree with their targets, so the path does not exist.
                Err(ContainmentError::Missing { .. }) => break,
                Err(error) => return Err(read(error.into())),
                Ok(_) if !whole && tree.has_lost_links(&place.path).map_err(read)? => {}
                Ok(_) => {
                    past.found = Some((tree, place.path.clone()));
                    break;
                }
            }
        }
        Ok(past)
    }

    /// Returns the identity of a source's files without writing them: of the part that a [`Want`](crate::Want) of this scope and path
    /// requests.
    pub async fn identity(
        &self,
        source: &GitSource,
        (scope, app_path): (&TreeScope, &RepoPath),
    ) -> Result<FilesIdentity, SourceError> {
        let url = source.repo_url.trim();
        if self.copies_of(&normalize_git_url(url)).await?.is_empty() {
            let repository = cache_name(url).to_owned();
            let revision = source.target_revision.clone();
            let project = Arc::clone(&source.project);
            return Ok(FilesIdentity(Identity::Remote { repository, revision, project }));
        }
        let resolved = self.resolve(source).await?;
        let part = (resolved.origin, scope.paths(app_path));
        let cell = {
            let mut known = self.identities.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(part.clone()).or_default())
        };
        let work_out = || async {
            match part {
                (Origin::Files(index), paths) => {
                    self.identity_of_files(self.copy(index).await?, paths.as_deref()).await
                }
                (origin, paths) => self.identity_of_commit(&origin, paths.as_deref()).await,
            }
        };
        let identity = cell.get_or_try_init(work_out).await;
        identity.cloned().map_err(|error| error.of(&resolved.repository))
    }

    /// Returns the identity of a work tree's files in a scope: at a revision, or the current ones without those that git ignores.
    pub async fn work_tree_identity(
        &self,
        place: &WorkTreePath,
        base: Option<&BaseRevision>,
        scope: &TreeScope,
    ) -> Result<FilesIdentity, SourceError> {
        let repository = self.local.open(&place.top, &self.service.git).await?;
        let paths = scope.paths(&place.path);
        let identity = match base {
            None => {
                let files = OpenCopy::of_work_tree(repository);
                self.identity_of_files(&files, paths.as_deref()).await
            }
            Some(base) => {
                repository.expect_whole_checkout()?;
                let commit = base.commit(&repository, &self.service.git).await?;
                let origin = Origin::WorkTree { top: place.top.clone(), commit };
                self.identity_of_commit(&origin, paths.as_deref()).await
            }
        };
        identity.map_err(|error| error.of(&place.top.display().to_string()))
    }

    async fn identity_of_files(
        &self,
        copy: &OpenCopy,
        paths: Option<&[RepoPath]>,
    ) -> Result<FilesIdentity, SourceError> {
        let limits = self.service.store.limits();
        let files = copy.files(&self.service.git, paths, limits).await?;
        let (ids, dir) = (Arc::clone(&copy.ids), copy.dir.clone());
        blocking(move || Ok(Identity::of_files(ids.of(&dir, &files, limits)?))).await.map(FilesIdentity)
    }

    async fn identity_of_commit(
        &self,
        origin: &Origin,
        paths: Option<&[RepoPath]>,
    ) -> Result<FilesIdentity, SourceError> {
        let listing = self.listing(origin, paths).await?;
        blocking(move || Ok(FilesIdentity(Identity::of_files(listing.into_file_ids())))).await
    }
}

/// The error of a folder that cannot be read at another revision.
fn no_past(copy: &OpenCopy, revision: &str) -> SourceError {
    let problem = match &copy.git {
        Some(_) => format!("its git repository does not have {revision}"),
        None => format!("it is not the top of a git work tree, so it cannot be read at {revision}"),
    };
    SourceError::Copy { dir: copy.dir.clone(), problem }
}
