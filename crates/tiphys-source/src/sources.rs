//! From a repository and a revision to a tree.

mod compare;
mod nesting;
mod repositories;
mod revision;
mod submodules;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gix_hash::ObjectId;
use tiphys_access::{ContextProject, FileRepositories};
use tiphys_tree::{Modes, RepoPath, Tree};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::charts::{self, ChartFiles, Charts};
use crate::copy::{OpenCopy, is_default};
use crate::local::LocalRepositories;
use crate::lookup::LookupAge;
use crate::objects::Abbreviation;
use crate::options::Network;
use crate::plan;
use crate::refs::{Shape, shape};
use crate::repository::Context;
use crate::url::RemoteUrl;
use crate::{
    ChartSource, Scope, Secret, SourceError, SourceRequest, SourceService, file_url, lfs, normalize_git_url,
    redact_url,
};

pub use nesting::Nesting;
use repositories::Repositories;
pub use revision::{RefNames, RevisionFile, RevisionMetadata};

/// Keeps the names of trees of folders apart from those that other parts make.
const FOLDER_SALT: &[u8] = b"tiphys folder";

/// The repositories of one request, and the trees made of them. A branch or tag stands for one commit during the request, and folders that
/// stand for repositories are read once. [`SourceService`] has what outlives it.
#[derive(Clone)]
pub struct Sources {
    service: SourceService,
    request: Arc<SourceRequest>,
    lookup_age: LookupAge,
    local: Arc<LocalRepositories>,
    copies: Arc<[OnceCell<OpenCopy>]>,
    /// The commit that takes the place of each folder's files; none: the files stand for the repository as they are.
    past: Option<Arc<[Option<compare::BaseCommit>]>>,
    repositories: Arc<Mutex<Repositories>>,
    trees: Arc<Mutex<HashMap<TreeRequest, Arc<OnceCell<Made>>>>>,
    identities: Arc<Mutex<compare::Identities>>,
    charts: Arc<Charts>,
}

/// A git repository at a revision, as an application asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// The application's project: it says which Secrets are for the repository, and for its submodules.
    pub project: Arc<ContextProject>,
    /// As the application has it.
    pub repo_url: String,
    /// A branch, tag, full ref name, commit, abbreviated commit (7 digits at least), `HEAD`, or nothing.
    pub target_revision: String,
    /// Which repositories of this machine `repo_url` may name.
    pub file_repositories: FileRepositories,
}

/// A revision of a repository, as it stands for one command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResolvedRevision {
    revision: String,
    repository: String,
    origin: Origin,
}

/// Where the files are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Origin {
    /// In this folder (by position), as they are now.
    Files(usize),
    /// In the objects of this folder's repository.
    Copy { copy: usize, commit: ObjectId, url: String, project: Arc<ContextProject> },
    /// In the objects of the repository of a work tree that stands for no repository of an Application.
    WorkTree { top: PathBuf, commit: ObjectId },
    /// In the cache.
    Remote { url: String, commit: ObjectId, project: Arc<ContextProject> },
    /// A chart's.
    Chart(Arc<ChartFiles>),
}

/// What a tree is wanted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// Whether executable bits are kept.
    pub modes: Modes,
    /// All of the revision, or the paths that the application is made from.
    pub scope: Scope,
    /// The application's directory: part of every scope, and the place where Git LFS pointers are refused.
    pub app_path: RepoPath,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TreeRequest {
    origin: Origin,
    modes: Modes,
    paths: Option<Vec<RepoPath>>,
}

/// A tree, and the Git LFS pointers in it if they are known.
struct Made {
    tree: Tree,
    pointers: Option<Vec<RepoPath>>,
}

impl ResolvedRevision {
    /// What the application gets as `ARGOCD_APP_REVISION`: the commit's 40 digits, or for a folder without git the revision
    /// that was asked for.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// Whether these are a folder's files as they are now, uncommitted ones included, and not a commit's.
    pub fn is_working_copy(&self) -> bool {
        matches!(self.origin, Origin::Files(_))
    }
}

impl Sources {
    pub(crate) fn new(service: SourceService, request: SourceRequest) -> Self {
        let request = Arc::new(request);
        let lookup_age = LookupAge { request_begun: Instant::now(), age_max: request.lookup_age_max };
        Self {
            charts: Arc::new(Charts::new(service.clone(), Arc::clone(&request), lookup_age)),
            service,
            lookup_age,
            local: Arc::default(),
            copies: request.copies.iter().map(|_| OnceCell::new()).collect(),
            past: None,
            repositories: Arc::default(),
            trees: Arc::default(),
            identities: Arc::default(),
            request,
        }
    }

    /// Says what a target revision stands for. Names are looked up once, a commit that is not there is fetched.
    ///
    /// The order of names is Argo CD's: a text of 40 digits is a commit; then full names, branches, tags, other refs, and
    /// last abbreviated commits.
    pub async fn resolve(&self, source: &GitSource) -> Result<ResolvedRevision, SourceError> {
        let GitSource { project, repo_url, target_revision, file_repositories } = source;
        if let Some(resolved) = self.resolve_in_copies(source).await? {
            return Ok(resolved);
        }
        let url = repo_url.trim();
        if *file_repositories == FileRepositories::Allowed {
            file_url::require_allowed(
                &RemoteUrl::parse_shown(url)?,
                &self.service.options.file_repositories,
            )?;
        }
        let repository = self.repository(project, url)?;
        let commit = repository.resolve(self.context(), target_revision).await?;
        // What a name stands for may be a tag's object, or not be there yet.
        let commit = repository.fetched(self.context(), commit, target_revision).await?;
        Ok(ResolvedRevision {
            revision: commit.to_string(),
            repository: repository.shown.to_string(),
            origin: Origin::Remote { url: url.to_owned(), commit, project: Arc::clone(project) },
        })
    }

    /// Finds a chart, or an artefact of a registry, and has its files at hand. Its revision is the exact version of a chart, and the
    /// digest of an artefact.
    pub async fn resolve_chart(&self, source: &ChartSource) -> Result<ResolvedRevision, SourceError> {
        let found = self.charts.find(source).await?;
        Ok(ResolvedRevision {
            revision: found.revision,
            repository: found.shown,
            origin: Origin::Chart(found.files),
        })
    }

    /// The folder whose files, as they are now, are this revision's; none if they are a commit's.
    pub fn working_copy(&self, revision: &ResolvedRevision) -> Option<&Path> {
        match revision.origin {
            Origin::Files(index) => self.request.copies.get(index).map(|copy| copy.dir.as_path()),
            _ => None,
        }
    }

    /// The files of a revision as a read-only tree: submodules followed, `.git` absent.
    pub async fn tree(&self, revision: &ResolvedRevision, want: &Want) -> Result<Tree, SourceError> {
        let request = TreeRequest {
            origin: revision.origin.clone(),
            modes: want.modes,
            paths: want.scope.paths(&want.app_path),
        };
        let cell = Arc::clone(
            self.trees.lock().unwrap_or_else(PoisonError::into_inner).entry(request.clone()).or_default(),
        );
        let repository = revision.repository.as_str();
        let made = cell
            .get_or_try_init(|| async {
                self.make_or_heal(&request).await.map_err(|error| error.of(repository))
            })
            .await?;
        if let Some(pointers) = &made.pointers {
            lfs::refuse(pointers, &want.app_path, repository)?;
        } else {
            let (tree, path) = (made.tree.clone(), want.app_path.clone());
            let pointers = blocking(move || lfs::find(tree.root(), &path)).await?;
            lfs::refuse(&pointers, &want.app_path, repository)?;
        }
        Ok(made.tree.clone())
    }

    /// Variables with which another program's git can reach a repository as ours does: for a plugin that asks for git credentials
    /// (`spec/cmp.md` 4.5). They hold secrets, and name files that live as long as this value. Only the credentials of repository
    /// Secrets and of the URL itself are handed on: the user's own are found by git without help. Empty if there are none.
    pub async fn git_variables(
        &self,
        project: &Arc<ContextProject>,
        repo_url: &str,
    ) -> Result<Vec<(String, Secret)>, SourceError> {
        self.repository(project, repo_url.trim())?.git_variables(self.context()).await
    }

    fn context(&self) -> Context<'_> {
        let SourceService { git, options, .. } = &self.service;
        Context { git, options, request: &self.request, lookup_age: self.lookup_age }
    }

    async fn copy(&self, index: usize) -> Result<&OpenCopy, SourceError> {
        let (Some(cell), Some(copy)) = (self.copies.get(index), self.request.copies.get(index)) else {
            unreachable!("positions come from the list itself")
        };
        cell.get_or_try_init(|| OpenCopy::open(copy, &self.service.git, &self.local)).await
    }

    /// The folders that stand for a repository.
    async fn copies_of(&self, normalized_url: &str) -> Result<Vec<(usize, &OpenCopy)>, SourceError> {
        let mut found = Vec::new();
        for index in 0..self.copies.len() {
            let copy = self.copy(index).await?;
            if copy.stands_for(normalized_url) {
                found.push((index, copy));
            }
        }
        Ok(found)
    }

    /// Makes a tree; objects of the cache that turn out to be damaged are fetched again once.
    async fn make_or_heal(&self, request: &TreeRequest) -> Result<Made, SourceError> {
        let mut healed = Vec::new();
        loop {
            let error = match self.make(request).await {
                Ok(made) => return Ok(made),
                Err(error) => error,
            };
            match damaged(&error) {
                Some(name)
                    if self.request.network == Network::Online
                        && !healed.iter().any(|healed| healed == name)
                        && self.distrust(name) =>
                {
                    tracing::debug!(%error, "the cached objects are fetched again");
                    healed.push(name.to_owned());
                }
                _ => return Err(error),
            }
        }
    }

    async fn resolve_in_copies(&self, source: &GitSource) -> Result<Option<ResolvedRevision>, SourceError> {
        let (url, revision) = (source.repo_url.trim(), source.target_revision.as_str());
        let normalized = normalize_git_url(url);
        let copies = self.copies_of(&normalized).await?;
        let of_commit = |(index, copy): (usize, &OpenCopy), commit: ObjectId| ResolvedRevision {
            revision: commit.to_string(),
            repository: copy.shown.to_string(),
            origin: Origin::Copy {
                copy: index,
                commit,
                url: url.to_owned(),
                project: Arc::clone(&source.project),
            },
        };
        // A folder for exactly this revision comes before one for whatever it has checked out. Where there are only folders
        // for one revision each, the first is also what HEAD stands for.
        let exact = |(_, copy): &&(usize, &OpenCopy)| copy.revision.is_some() && copy.files_are(revision);
        let any = |(_, copy): &&(usize, &OpenCopy)| copy.files_are(revision);
        let only_exact = copies.iter().all(|(_, copy)| copy.revision.is_some());
        let default = || copies.first().filter(|_| only_exact && is_default(revision));
        let files = copies.iter().find(exact).or_else(|| copies.iter().find(any)).or_else(default);
        if let Some((index, copy)) = files {
            if let Some(commit) = self.past_of(*index) {
                return Ok(Some(of_commit((*index, copy), commit)));
            }
            self.expect_present(copy)?;
            let head = copy.git.as_ref().and_then(|git| git.head);
            return Ok(Some(ResolvedRevision {
                revision: head.map_or_else(|| revision.to_owned(), |head| head.to_string()),
                repository: copy.shown.to_string(),
                origin: Origin::Files(*index),
            }));
        }
        for (index, copy) in &copies {
            let past = self.past_of(*index).filter(|_| copy.is_current(revision));
            let commit = match past {
                Some(commit) => Some(commit),
                None => commit_in_copy(copy, &normalized, revision)?,
            };
            if let Some(commit) = commit {
                return Ok(Some(of_commit((*index, copy), commit)));
            }
        }
        let Some((copy, git)) = copies.iter().find_map(|(_, copy)| Some((copy, copy.git.as_ref()?))) else {
            return Ok(None);
        };
        let hint = format!(
            "{}; this folder stands for {} (--repo): fetch the revision there with git fetch",
            git.refs.hint(revision),
            redact_url(url)
        );
        Err(SourceError::MissingRevision {
            repository: copy.shown.to_string(),
            revision: revision.to_owned(),
            hint,
        })
    }

    async fn make(&self, request: &TreeRequest) -> Result<Made, SourceError> {
        if let Origin::Files(index) = request.origin {
            return self.make_from_files(index, request).await;
        }
        if let Origin::Chart(files) = &request.origin {
            return self.make_from_chart(Arc::clone(files), request.modes).await;
        }
        let superproject = self.superproject(&request.origin).await?;
        let plan = self.plan(superproject, request.paths.as_deref()).await?;
        let (store, modes, limits) =
            (Arc::clone(&self.service.store), request.modes, self.service.store.limits());
        blocking(move || {
            let mut pointers = None;
            let tree = store.get_or_write(plan.key(modes), |writer| {
                writer.set_modes(modes);
                pointers = Some(plan::write(&plan, writer, limits)?);
                Ok::<(), SourceError>(())
            })?;
            Ok(Made { tree, pointers })
        })
        .await
    }

    /// A chart is made from all of its files, whatever the application's annotation says.
    async fn make_from_chart(&self, files: Arc<ChartFiles>, modes: Modes) -> Result<Made, SourceError> {
        let (store, options) = (Arc::clone(&self.service.store), Arc::clone(&self.service.options));
        blocking(move || {
            let tree = charts::tree(&store, &options, &files, modes)?;
            Ok(Made { tree, pointers: Some(Vec::new()) })
        })
        .await
    }

    async fn make_from_files(&self, index: usize, request: &TreeRequest) -> Result<Made, SourceError> {
        let copy = self.copy(index).await?;
        let files =
            copy.files(&self.service.git, request.paths.as_deref(), self.service.store.limits()).await?;
        let (store, modes, dir) = (Arc::clone(&self.service.store), request.modes, copy.dir.clone());
        blocking(move || {
            let tree = store.tree_of_directory(&dir, files.into_iter(), modes, FOLDER_SALT)?;
            Ok(Made { tree, pointers: None })
        })
        .await
    }
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources").field("request", &self.request).finish_non_exhaustive()
    }
}

/// The repository whose objects could not be read.
fn damaged(error: &SourceError) -> Option<&str> {
    match error {
        SourceError::Objects { repository, .. } => Some(repository),
        SourceError::Submodule { source, .. } => damaged(source),
        _ => None,
    }
}

/// A revision other than those that the folder's files stand for.
fn commit_in_copy(
    copy: &OpenCopy,
    normalized_url: &str,
    revision: &str,
) -> Result<Option<ObjectId>, SourceError> {
    let Some(git) = &copy.git else { return Ok(None) };
    let shape = shape(revision);
    let named = if shape == Shape::Commit {
        ObjectId::from_hex(revision.to_ascii_lowercase().as_bytes()).ok()
    } else {
        copy.named(git, normalized_url, revision)
    };
    let mut reader = git.objects.reader();
    if let Some(id) = named {
        return reader.commit(id);
    }
    if shape != Shape::NameOrAbbreviation {
        return Ok(None);
    }
    match reader.abbreviated(revision)? {
        Abbreviation::None => Ok(None),
        Abbreviation::One(commit) => Ok(Some(commit)),
        Abbreviation::Several(commits) => Err(SourceError::AmbiguousRevision {
            repository: copy.shown.to_string(),
            revision: revision.to_owned(),
            candidates: commits.iter().map(ToString::to_string).collect(),
        }),
    }
}

/// Runs what reads and writes files on a thread for it.
pub(crate) async fn blocking<T, F>(work: F) -> Result<T, SourceError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, SourceError> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(cancelled) => Err(SourceError::Store(tiphys_tree::StoreError::Io {
                action: "finish work below",
                path: PathBuf::from("."),
                source: std::io::Error::other(cancelled),
            })),
        },
    }
}
