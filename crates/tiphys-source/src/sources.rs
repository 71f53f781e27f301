//! Resolves revisions of repositories and makes trees of them.

mod compare;
mod git_access;
mod index;
mod nesting;
mod repositories;
mod revision;
mod submodules;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gix_hash::ObjectId;
use tiphys_http::Servers;
use tiphys_model::access::{ContextProject, FileRepositories, KnownRepositories, LocalChart, NetworkUse};
use tiphys_tree::{Modes, RepoPath, Tree};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::charts::{self, ChartFiles, ChartFolders, Charts};
use crate::copy::OpenCopy;
use crate::local::LocalRepositories;
use crate::lookup::LookupAge;
use crate::objects::Abbreviation;
use crate::once_map::OnceMap;
use crate::options::{Network, Progress};
use crate::plan;
use crate::refs::{RevisionKind, is_default, revision_kind};
use crate::repository::Context;
use crate::url::RemoteUrl;
use crate::{
    ChartSource, LocalCopy, Secret, SourceError, SourceRequest, SourceService, TreeScope, file_url, lfs,
    normalize_git_url, redact_url,
};

pub use compare::CheckoutUse;
use git_access::GitAccessFile;
pub use index::{HasContent, RevisionIndex};
pub use nesting::Nesting;
use repositories::Repositories;
pub use revision::RevisionFile;

/// Distinguishes the keys of trees of directories from other trees.
const FOLDER_SALT: &[u8] = b"tiphys folder";

/// The repositories of one request, and the trees made of them. Within it, a branch or tag refers to one commit, and local copies
/// are read once. Made by [`SourceService::request`].
#[derive(Clone)]
pub struct Sources {
    service: SourceService,
    request: Arc<SourceRequest>,
    lookup_age: LookupAge,
    local: Arc<LocalRepositories>,
    copies: Arc<[OnceCell<OpenCopy>]>,
    /// Whether a repository was asked for that this local copy replaces.
    used: Arc<[AtomicBool]>,
    /// Why the checkout that the caller did not name is not used.
    unusable_checkout: Arc<OnceLock<String>>,
    /// The commits that are used instead of the files of local copies. None: the files are used as they are.
    past: Option<Arc<[Option<ObjectId>]>>,
    repositories: Arc<Mutex<Repositories>>,
    servers: Arc<Servers<Arc<SourceError>>>,
    trees: Arc<Mutex<HashMap<TreeRequest, Arc<OnceCell<Made>>>>>,
    identities: Arc<Mutex<compare::Identities>>,
    indexes: Arc<Mutex<index::Indexes>>,
    charts: Arc<Charts>,
    git_access_files: Arc<OnceMap<Arc<ContextProject>, Option<GitAccessFile>>>,
}

/// A git repository at a revision, as an Application names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// The application's project. It determines the Secrets of the repository and its submodules.
    pub project: Arc<ContextProject>,
    /// The URL in the Application.
    pub repo_url: String,
    /// A branch, tag, full ref name, commit, abbreviated commit (7 digits at least), `HEAD`, or nothing.
    pub target_revision: String,
    /// Whether `repo_url` may name a repository of this machine.
    pub file_repositories: FileRepositories,
}

/// A resolved revision of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResolvedRevision {
    revision: String,
    repository: String,
    origin: Origin,
}

/// The location of the files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Origin {
    /// The current files of a local copy, by index.
    Files(usize),
    /// A commit of a local copy's repository.
    Copy { copy: usize, commit: ObjectId, url: String, project: Arc<ContextProject> },
    /// A commit of the repository of a work tree that is not a local copy.
    WorkTree { top: PathBuf, commit: ObjectId },
    /// A commit of a clone in the cache.
    Remote { url: String, commit: ObjectId, project: Arc<ContextProject> },
    /// A chart.
    Chart(Arc<ChartFiles>),
}

/// The requested part of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// Whether executable bits are preserved.
    pub modes: Modes,
    /// The whole revision, or the paths that the application uses.
    pub scope: TreeScope,
    /// The application's directory. It is part of every scope, and Git LFS pointers in it are refused.
    pub app_path: RepoPath,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TreeRequest {
    origin: Origin,
    modes: Modes,
    paths: Option<Vec<RepoPath>>,
}

/// A tree, and its Git LFS pointers.
struct Made {
    tree: Tree,
    /// All of them, if they are known.
    pointers: Option<Vec<RepoPath>>,
    /// Otherwise those below directories of applications.
    pointers_below: OnceMap<RepoPath, Vec<RepoPath>>,
}

impl Made {
    fn new(tree: Tree, pointers: Option<Vec<RepoPath>>) -> Self {
        Self { tree, pointers, pointers_below: OnceMap::default() }
    }

    async fn refuse_pointers(&self, app_path: &RepoPath, repository: &str) -> Result<(), SourceError> {
        if let Some(pointers) = &self.pointers {
            return lfs::refuse(pointers, app_path, repository);
        }
        let below = self.pointers_below.cell(app_path.clone());
        let find = || {
            let (tree, path) = (self.tree.clone(), app_path.clone());
            blocking(move || lfs::find(tree.root(), &path))
        };
        lfs::refuse(below.get_or_try_init(find).await?, app_path, repository)
    }
}

impl ResolvedRevision {
    /// Returns the value of `ARGOCD_APP_REVISION`: the commit's 40 digits, or the target revision of a directory without git.
    pub fn revision(&self) -> &str {
        &self.revision
    }
}

impl Sources {
    pub(crate) fn new(service: SourceService, request: Arc<SourceRequest>) -> Self {
        let lookup_age = LookupAge { request_begun: Instant::now(), age_max: request.lookup_age_max };
        Self {
            charts: Arc::new(Charts::new(
                Arc::clone(&service.options),
                Arc::clone(&service.charts),
                Arc::clone(&request),
                lookup_age,
            )),
            service,
            lookup_age,
            local: Arc::default(),
            copies: request.copies.iter().map(|_| OnceCell::new()).collect(),
            used: request.copies.iter().map(|_| AtomicBool::new(false)).collect(),
            unusable_checkout: Arc::default(),
            past: None,
            repositories: Arc::default(),
            servers: Arc::default(),
            trees: Arc::default(),
            identities: Arc::default(),
            indexes: Arc::default(),
            git_access_files: Arc::default(),
            request,
        }
    }

    /// Returns the sources of another request like this one, which looks everything up anew.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self::new(self.service.clone(), Arc::clone(&self.request))
    }

    /// Resolves a target revision. Names are looked up once, and a missing commit is fetched.
    ///
    /// As in Argo CD, 40 hexadecimal digits are a commit; then full names, branches, tags, other refs and abbreviated commits are tried.
    pub async fn resolve(&self, source: &GitSource) -> Result<ResolvedRevision, SourceError> {
        let GitSource { project, repo_url, target_revision, file_repositories } = source;
        if let Some(resolved) = self.resolve_in_copies(source).await? {
            return Ok(resolved);
        }
        let url = repo_url.trim();
        if *file_repositories == FileRepositories::Allowed {
            file_url::require_allowed(&RemoteUrl::parse_shown(url)?, &self.request.allowed_directories())?;
        }
        let repository = self.repository(project, url)?;
        let commit = repository.resolve(self.context(), target_revision).await?;
        // The id may be that of a tag object, and its commit may not be fetched yet.
        let commit = repository.fetched(self.context(), commit, target_revision).await?;
        Ok(ResolvedRevision {
            revision: commit.to_string(),
            repository: repository.shown.to_string(),
            origin: Origin::Remote { url: url.to_owned(), commit, project: Arc::clone(project) },
        })
    }

    /// Returns whether a folder stands for a repository.
    pub async fn has_copy(&self, repo_url: &str) -> Result<bool, SourceError> {
        Ok(!self.copies_of(&normalize_git_url(repo_url.trim())).await?.is_empty())
    }

    /// Returns whether a folder stands for a repository of charts or an artefact.
    pub fn has_chart_folder(&self, repo_url: &str) -> bool {
        self.charts.folders_of(repo_url).next().is_some()
    }

    /// Returns the same sources with other local directories of charts.
    #[must_use]
    pub fn with_chart_folders(self, folders: &ChartFolders) -> Self {
        Self { charts: Arc::new(self.charts.with_folders(folders)), ..self }
    }

    /// Returns the local directories that may replace Helm repositories, with their URLs.
    pub fn chart_folders(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.charts.folders()
    }

    /// Returns whether a local directory is a chart, or contains some.
    pub fn has_charts(copy: &LocalCopy) -> bool {
        copy.url.is_some() && charts::is_folder_of_charts(&copy.dir)
    }

    /// Returns the local copies that the caller named and that replaced no repository so far. Directories of charts are left out, since only
    /// the Helm plugin knows the dependencies of charts.
    pub fn unused_copies(&self) -> impl Iterator<Item = &LocalCopy> {
        let copies = self.request.copies.iter().enumerate();
        let unused = copies.filter(|(index, _)| !self.used[*index].load(Ordering::Relaxed));
        let named = unused.filter(|(index, _)| !self.request.is_checkout(*index)).map(|(_, copy)| copy);
        named.filter(|copy| !charts::is_folder_of_charts(&copy.dir))
    }

    /// Resolves a chart or registry artefact and downloads it. The revision is the exact version of a chart or the digest of an artefact.
    pub async fn resolve_chart(&self, source: &ChartSource) -> Result<ResolvedRevision, SourceError> {
        for index in self.charts.folders_of(&source.repo_url) {
            self.used[index].store(true, Ordering::Relaxed);
        }
        let found = self.charts.find(source).await?;
        Ok(ResolvedRevision {
            revision: found.revision,
            repository: found.shown,
            origin: Origin::Chart(found.files),
        })
    }

    /// Returns the charts of directories that replace Helm repositories, by the URL of the repository.
    pub async fn local_charts(&self) -> Result<Arc<BTreeMap<String, Vec<LocalChart>>>, SourceError> {
        self.charts.local().await
    }

    /// Returns the local copy whose current files are this revision. None if it is a commit.
    pub fn working_copy(&self, revision: &ResolvedRevision) -> Option<&Path> {
        match revision.origin {
            Origin::Files(index) => self.request.copies.get(index).map(|copy| copy.dir.as_path()),
            _ => None,
        }
    }

    /// Returns the files of a revision as a read-only tree, with submodules and without `.git`.
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
        made.refuse_pointers(&want.app_path, repository).await?;
        Ok(made.tree.clone())
    }

    /// Returns variables that give another program's git access to a repository, for a plugin with `provideGitCreds`. They contain secrets
    /// and name files that exist as long as this value. Only credentials of repository Secrets and of the URL are included; git finds the
    /// user's own itself.
    pub async fn git_variables(
        &self,
        project: &Arc<ContextProject>,
        repo_url: &str,
    ) -> Result<Vec<(String, Secret)>, SourceError> {
        self.repository(project, repo_url.trim())?.git_variables(self.context()).await
    }

    /// Returns the repositories and credentials of the request.
    pub fn known(&self) -> &KnownRepositories {
        &self.request.known
    }

    /// Returns whether the request may use the network.
    pub fn network(&self) -> NetworkUse {
        match self.request.network {
            Network::Online => NetworkUse::Allowed,
            Network::Offline => NetworkUse::None,
        }
    }

    fn context(&self) -> Context<'_> {
        let SourceService { git, options, .. } = &self.service;
        Context { git, options, request: &self.request, lookup_age: self.lookup_age, servers: &self.servers }
    }

    /// Returns why the checkout that the caller did not name is not used, if a repository was asked for: it has no remotes or cannot be
    /// read, so repositories are fetched.
    pub fn unusable_checkout(&self) -> Option<&str> {
        self.unusable_checkout.get().map(String::as_str)
    }

    async fn copy(&self, index: usize) -> Result<&OpenCopy, SourceError> {
        let (Some(cell), Some(copy)) = (self.copies.get(index), self.request.copies.get(index)) else {
            unreachable!("positions come from the list itself")
        };
        let rule = &self.request.checkout_branches;
        cell.get_or_try_init(|| async {
            let opened = OpenCopy::open(copy, rule, &self.service.git, &self.local).await;
            match opened {
                Err(error) if self.request.is_checkout(index) => {
                    self.unusable_checkout.get_or_init(|| error.to_string());
                    Ok(OpenCopy::unused(copy))
                }
                opened => opened,
            }
        })
        .await
    }

    /// Reports the first use of the checkout that the caller did not name.
    fn report_checkout(&self, copy: usize, url: &str) {
        if self.request.is_checkout(copy) && !self.service.reported_checkout.swap(true, Ordering::Relaxed) {
            self.service.options.report(&Progress::UsingCheckout { repository: &redact_url(url) });
        }
    }

    /// Returns the local copies of a repository.
    async fn copies_of(&self, normalized_url: &str) -> Result<Vec<(usize, &OpenCopy)>, SourceError> {
        let mut found = Vec::new();
        for index in 0..self.copies.len() {
            let copy = self.copy(index).await?;
            if copy.stands_for(normalized_url) {
                self.used[index].store(true, Ordering::Relaxed);
                found.push((index, copy));
            }
        }
        Ok(found)
    }

    /// Makes a tree. Damaged objects of the cache are fetched again once.
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
        // A copy of exactly this revision precedes a copy of any revision. If all copies are of one revision each, the first is also HEAD.
        let exact = |(_, copy): &&(usize, &OpenCopy)| copy.revision.is_some() && copy.files_are(revision);
        let any = |(_, copy): &&(usize, &OpenCopy)| copy.files_are(revision);
        let only_exact = copies.iter().all(|(_, copy)| copy.revision.is_some());
        let default = || copies.first().filter(|_| only_exact && is_default(revision));
        let files = copies.iter().find(exact).or_else(|| copies.iter().find(any)).or_else(default);
        if let Some((index, copy)) = files {
            self.report_checkout(*index, url);
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
                self.report_checkout(*index, url);
                return Ok(Some(of_commit((*index, copy), commit)));
            }
        }
        // A revision that the checkout around the current directory does not have is fetched, as if there were no checkout.
        let mut named = copies.iter().filter(|(index, _)| !self.request.is_checkout(*index));
        let Some((copy, git)) = named.find_map(|(_, copy)| Some((copy, copy.git.as_ref()?))) else {
            return Ok(None);
        };
        let hint = format!(
            "{}; this folder is the local copy of {}: fetch the revision there with git fetch",
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
        let (store, modes, key) = (Arc::clone(&self.service.store), request.modes, plan.key(request.modes));
        if let Some(tree) = blocking(move || Ok(store.get(key))).await? {
            return Ok(Made::new(tree, None));
        }
        let listing = plan::list(plan, &self.service.git, &self.service.store).await?;
        let store = Arc::clone(&self.service.store);
        blocking(move || {
            let mut pointers = None;
            let tree = store.get_or_write(key, |writer| {
                writer.set_modes(modes);
                pointers = Some(plan::write(&listing, writer)?);
                Ok::<(), SourceError>(())
            })?;
            Ok(Made::new(tree, pointers))
        })
        .await
    }

    /// The tree of a chart has all files. The application's annotation does not narrow it.
    async fn make_from_chart(&self, files: Arc<ChartFiles>, modes: Modes) -> Result<Made, SourceError> {
        let (store, options) = (Arc::clone(&self.service.store), Arc::clone(&self.service.options));
        blocking(move || {
            let tree = charts::tree(&store, &options, &files, modes)?;
            Ok(Made::new(tree, Some(Vec::new())))
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
            Ok(Made::new(tree, None))
        })
        .await
    }
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources").field("request", &self.request).finish_non_exhaustive()
    }
}

/// Returns the repository whose objects could not be read.
fn damaged(error: &SourceError) -> Option<&str> {
    match error {
        SourceError::Objects { repository, .. } => Some(repository),
        SourceError::Submodule { source, .. } => damaged(source),
        _ => None,
    }
}

/// Resolves a revision in the repository of a local copy.
fn commit_in_copy(
    copy: &OpenCopy,
    normalized_url: &str,
    revision: &str,
) -> Result<Option<ObjectId>, SourceError> {
    let Some(git) = &copy.git else { return Ok(None) };
    let kind = revision_kind(revision);
    let named = if kind == RevisionKind::Commit {
        ObjectId::from_hex(revision.to_ascii_lowercase().as_bytes()).ok()
    } else {
        copy.named(git, normalized_url, revision)
    };
    let mut reader = git.source.objects.reader();
    if let Some(id) = named {
        return reader.commit(id);
    }
    if kind != RevisionKind::NameOrAbbreviation {
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

/// Runs blocking work on a thread.
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
