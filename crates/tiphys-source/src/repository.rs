//! The cache of one remote repository: a bare object store to which git fetches what is missing.
//!
//! ```text
//! <cache>/git/<key>/              bare repository; readers need no lock
//! <cache>/git/<key>/tiphys-refs   the last output of `git ls-remote`
//! <cache>/git/<key>/tiphys-url    the address, for people
//! <cache>/git/<key>.lock          held by the process that fetches
//! <cache>/git/<key>.fresh         the replacement of a damaged or refreshed store
//! <cache>/git/<key>.old           the replaced store, until it is removed
//! ```
//!
//! The key is `CloneKey::directory_name`. A pack appears whole (`fetch.unpackLimit`), and each fetched commit has a ref below `refs/tiphys/`, so an
//! existing commit has all its files.

mod health;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gix_hash::ObjectId;
use tiphys_http::Servers;
use tiphys_model::access::{RepoUrl, RepositoryAccess};
use tiphys_model::limits::Limit;
use tiphys_tree::{FileOwner, mark_used, open_file};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::cache_files::{private_folder, write_whole};
use crate::clones::SharedClone;
use crate::credential::{GitAccess, GitAccessInput, WITHHELD_REMEDY, remedy};
use crate::git::failure::{Failure, classify};
use crate::git::{Call, Git, Place, ToolProblem, shown};
use crate::lookup::LookupAge;
use crate::objects::{Abbreviation, Objects};
use crate::options::{Freshness, Network, Progress, SourceOptions};
use crate::refs::{COMMIT_DIGITS, Refs, RevisionKind, revision_kind};
use crate::url::{RemoteUrl, Transport};
use crate::{Secret, SourceError, SourceRequest, redact_url};

/// The name of git's remote; its URL is set by the environment.
const REMOTE: &str = "tiphys";

/// Interval of checking whether another process has ended its fetch.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// One remote repository.
pub(crate) struct Repository {
    pub(crate) url: RemoteUrl,
    /// The redacted URL.
    pub(crate) shown: Arc<str>,
    /// The connection settings and credentials of Secrets.
    pub(crate) access: RepositoryAccess,
    dir: PathBuf,
    git_access: OnceCell<GitAccess>,
    /// Branches and tags as this request sees them.
    refs: OnceCell<Arc<Refs>>,
    /// State that other requests share.
    clone: Arc<SharedClone>,
    /// The commits of the ids that were resolved; with [`Freshness::Refresh`] those that were fetched again.
    known: Mutex<HashMap<ObjectId, ObjectId>>,
    trust: Mutex<Trust>,
}

/// The state of the cached objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// Fetched by another request.
    Found,
    /// Reading them failed.
    Damaged,
    /// All fetched by this request.
    Fresh,
}

/// The target of a fetch.
#[derive(Clone, Copy)]
enum FetchTarget {
    Commit(ObjectId),
    History,
}

/// The settings of the service and of the request.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) git: &'a Git,
    pub(crate) options: &'a SourceOptions,
    pub(crate) request: &'a SourceRequest,
    pub(crate) lookup_age: LookupAge,
    /// The git servers of the request.
    pub(crate) servers: &'a Servers<Arc<SourceError>>,
}

impl Context<'_> {
    /// Returns git's settings for a repository. `shown` is its redacted URL.
    pub(crate) async fn git_access(
        self,
        url: &RemoteUrl,
        access: &RepositoryAccess,
        shown: &str,
    ) -> Result<GitAccess, SourceError> {
        let options = self.options;
        let ssh_command = if url.transport == Transport::Ssh {
            let command = self.git.ssh_command().await;
            command.map_err(|problem| problem.into_error(shown, "reading git's settings for"))?
        } else {
            "ssh"
        };
        GitAccess::new(&GitAccessInput {
            url,
            access,
            user: options.user_settings,
            own_credentials: options.own_credentials,
            secrets_dir: &options.secrets_dir,
            ssh_command,
            ssh_known_hosts: options.ssh_known_hosts.as_deref(),
        })
    }
}

impl Repository {
    /// Returns a repository whose clone is in this directory of the cache. Nothing is opened yet.
    pub(crate) fn new(
        url: RemoteUrl,
        access: RepositoryAccess,
        clone: Arc<SharedClone>,
        directory: &str,
        options: &SourceOptions,
    ) -> Self {
        Self {
            shown: redact_url(&url.address).into(),
            dir: options.cache_dir.join("git").join(directory),
            url,
            access,
            git_access: OnceCell::new(),
            refs: OnceCell::new(),
            clone,
            known: Mutex::default(),
            trust: Mutex::new(Trust::Found),
        }
    }

    /// Returns the cached objects.
    pub(crate) fn objects(&self) -> Result<Option<Objects>, SourceError> {
        self.objects_in(&self.dir)
    }

    fn objects_in(&self, dir: &Path) -> Result<Option<Objects>, SourceError> {
        let folder = dir.join("objects");
        if !folder.is_dir() {
            return Ok(None);
        }
        health::check_packs(&folder, &self.shown)?;
        Objects::open(&folder, &self.shown).map(Some)
    }

    /// Resolves a revision. Names are looked up once, and missing commits are fetched.
    pub(crate) async fn resolve(
        &self,
        context: Context<'_>,
        revision: &str,
    ) -> Result<ObjectId, SourceError> {
        let kind = revision_kind(revision);
        if kind == RevisionKind::Commit {
            let id = self.parse_id(revision)?;
            return self.fetched(context, id, revision).await;
        }
        let refs = self.refs(context).await?;
        if let Some(id) = refs.resolve(revision) {
            return self.parse_id(id);
        }
        if kind == RevisionKind::NameOrAbbreviation
            && let Some(commit) = self.abbreviated(context, revision).await?
        {
            return Ok(commit);
        }
        Err(self.missing(revision, refs.hint(revision)))
    }

    /// Fetches an object unless it is cached. Returns its commit, with tags followed.
    pub(crate) async fn fetched(
        &self,
        context: Context<'_>,
        id: ObjectId,
        revision: &str,
    ) -> Result<ObjectId, SourceError> {
        if let Some(commit) = self.known(id) {
            return Ok(commit);
        }
        let request = context.request;
        let look = || match (request.network, request.freshness) {
            (Network::Online, Freshness::Refresh) => Ok(None),
            (Network::Online, Freshness::Cached) if self.trust() == Trust::Damaged => Ok(None),
            (Network::Offline, _) | (Network::Online, Freshness::Cached) => self.present(id),
        };
        if let Some(commit) = unless_damaged(request, look())? {
            return Ok(commit);
        }
        if request.network == Network::Offline {
            return Err(self.offline(format!("revision {revision:?}")));
        }
        let _turn = self.clone.fetching.lock().await;
        if let Some(commit) = self.known(id) {
            return Ok(commit);
        }
        let _lock = self.lock(context).await?;
        // Another process may have fetched it while we waited.
        if let Some(commit) = self.note_damage(request, look())? {
            return Ok(commit);
        }
        self.obtain(context, FetchTarget::Commit(id)).await?;
        self.present(id)?.ok_or_else(|| {
            let hint = self.refs.get().map(|refs| refs.hint(revision)).unwrap_or_default();
            self.missing(revision, hint)
        })
    }

    /// Returns the commit of an id that this request has used before.
    fn known(&self, id: ObjectId) -> Option<ObjectId> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
    }

    fn present(&self, id: ObjectId) -> Result<Option<ObjectId>, SourceError> {
        let found = self.present_in(&self.dir, id)?;
        if let Some(commit) = found {
            mark_used(&self.dir);
            self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(id, commit);
        }
        Ok(found)
    }

    fn present_in(&self, dir: &Path, id: ObjectId) -> Result<Option<ObjectId>, SourceError> {
        let Some(objects) = self.objects_in(dir)? else { return Ok(None) };
        objects.reader().commit(id)
    }

    /// Returns branches and tags as this request sees them.
    pub(crate) async fn refs(&self, context: Context<'_>) -> Result<&Arc<Refs>, SourceError> {
        self.refs
            .get_or_try_init(|| async {
                if context.request.network == Network::Offline {
                    return fs::read_to_string(self.refs_file())
                        .map(|text| Arc::new(Refs::parse(&text)))
                        .map_err(|_| self.offline("the list of branches and tags".to_owned()));
                }
                self.clone.refs.get(context.lookup_age, || self.look_up_refs(context)).await
            })
            .await
    }

    async fn look_up_refs(&self, context: Context<'_>) -> Result<Arc<Refs>, SourceError> {
        context.options.report(&Progress::LookingUp { repository: &self.shown });
        let timeout = context.options.lookup_timeout;
        let call = self.remote_call(context, None, ["ls-remote", "--quiet", REMOTE], timeout).await?;
        let look_up = async {
            let output = context.git.run(call).await.map_err(|problem| {
                let error = problem.into_error(&self.shown, "looking up branches and tags of");
                error.limited_by(Limit::LOOKUP_TIMEOUT)
            })?;
            if output.code == Some(0) { Ok(output) } else { Err(self.failure(context, &output.stderr)) }
        };
        let output = self.call(context, look_up).await?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let long = text.split(['\t', '\n']).next().is_some_and(|id| id.len() > COMMIT_DIGITS);
        if long {
            return Err(SourceError::Git {
                repository: self.shown.to_string(),
                detail: "its ids are SHA-256, which is not supported yet".to_owned(),
            });
        }
        self.keep_refs(&text)?;
        Ok(Arc::new(Refs::parse(&text)))
    }

    /// Looks for an abbreviated commit in the cached objects, then in the whole history.
    async fn abbreviated(&self, context: Context<'_>, digits: &str) -> Result<Option<ObjectId>, SourceError> {
        let look = || -> Result<Option<ObjectId>, SourceError> {
            let Some(objects) = self.objects()? else { return Ok(None) };
            match objects.reader().abbreviated(digits)? {
                Abbreviation::None => Ok(None),
                Abbreviation::One(commit) => Ok(Some(commit)),
                Abbreviation::Several(commits) => Err(SourceError::AmbiguousRevision {
                    repository: self.shown.to_string(),
                    revision: digits.to_owned(),
                    candidates: commits.iter().map(ToString::to_string).collect(),
                }),
            }
        };
        if let Some(commit) = unless_damaged(context.request, look())? {
            return Ok(Some(commit));
        }
        if context.request.network == Network::Offline {
            return Err(self.offline(format!("revision {digits:?}")));
        }
        let _turn = self.clone.fetching.lock().await;
        if let Some(commit) = unless_damaged(context.request, look())? {
            return Ok(Some(commit));
        }
        let _lock = self.lock(context).await?;
        if let Some(commit) = self.note_damage(context.request, look())? {
            return Ok(Some(commit));
        }
        self.obtain(context, FetchTarget::History).await?;
        look()
    }

    /// Fetches a commit without its history by id, else by name, else the whole history.
    async fn fetch_commit(&self, context: Context<'_>, dir: &Path, id: ObjectId) -> Result<(), SourceError> {
        let started = Instant::now();
        context.options.report(&Progress::Fetching { repository: &self.shown, revision: &id.to_string() });
        let keep = format!("refs/tiphys/commits/{id}");
        let name = self.refs.get().and_then(|refs| refs.name_of(&id.to_string()));
        let by_id = format!("+{id}:{keep}");
        let by_name = name.map(|name| format!("+{name}:{keep}"));
        for refspec in std::iter::once(by_id).chain(by_name) {
            match self.fetch(context, dir, &["--depth=1"], &[refspec]).await? {
                Ok(()) if self.present_in(dir, id)?.is_some() => {
                    self.report_fetched(context, started);
                    return Ok(());
                }
                Err(said) if classify(&said) == Failure::Credentials => {
                    return Err(self.failure(context, &said));
                }
                Ok(()) | Err(_) => {}
            }
        }
        self.fetch_history(context, dir).await?;
        self.report_fetched(context, started);
        Ok(())
    }

    /// Fetches all branches and tags with their history.
    async fn fetch_history(&self, context: Context<'_>, dir: &Path) -> Result<(), SourceError> {
        context.options.report(&Progress::Fetching { repository: &self.shown, revision: "its history" });
        let options: &[&str] = if dir.join("shallow").exists() { &["--unshallow"] } else { &[] };
        let refspecs = ["heads", "tags"].map(|kind| format!("+refs/{kind}/*:refs/tiphys/{kind}/*"));
        self.fetch(context, dir, options, &refspecs).await?.map_err(|said| self.failure(context, &said))
    }

    /// The inner error is git's standard error.
    async fn fetch(
        &self,
        context: Context<'_>,
        dir: &Path,
        options: &[&str],
        refspecs: &[String],
    ) -> Result<Result<(), String>, SourceError> {
        let fixed =
            ["fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
        let args = fixed
            .into_iter()
            .chain(options.iter().copied())
            .chain(["--", REMOTE])
            .chain(refspecs.iter().map(String::as_str));
        let call = self.remote_call(context, Some(dir), args, context.options.fetch_timeout).await?;
        let fetch = async {
            let ended = context.git.run(call).await;
            if !ended.as_ref().is_ok_and(|output| output.code == Some(0)) {
                health::remove_partial_files(dir);
            }
            let failed = |problem: ToolProblem| problem.into_error(&self.shown, "fetching from");
            let output = ended.map_err(|problem| failed(problem).limited_by(Limit::FETCH_TIMEOUT))?;
            tracing::debug!(repository = %self.shown, ?refspecs, code = ?output.code, "git fetch ended");
            match classify(&output.stderr) {
                _ if output.code == Some(0) => Ok(Ok(())),
                Failure::Network => Err(self.failure(context, &output.stderr)),
                _ => Ok(Err(output.stderr)),
            }
        };
        let fetch = Box::pin(async { fetch.await.map_err(Arc::new) });
        // A connection may break during a fetch, which says nothing about other repositories.
        let result = context.servers.try_call(&self.server(), |_| false, fetch).await;
        result.map_err(|error| Arc::try_unwrap(error).unwrap_or_else(SourceError::Before))
    }

    /// Looks something up, unless another look-up of the request could not reach the server. Git has no timeout for connecting but that of
    /// the look-up.
    async fn call<T>(
        &self,
        context: Context<'_>,
        call: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        let is_unreachable = |error: &Arc<SourceError>| error.is_of_server();
        let call = Box::pin(async { call.await.map_err(Arc::new) });
        let result = context.servers.call(&self.server(), is_unreachable, call).await;
        result.map_err(|error| Arc::try_unwrap(error).unwrap_or_else(SourceError::Before))
    }

    /// Returns the key of the server: its address, and the proxy in between.
    fn server(&self) -> String {
        let url = RepoUrl::new(&self.url.address);
        let (scheme, port) = (url.scheme().unwrap_or("ssh"), url.port().filter(|_| url.scheme().is_some()));
        format!("{scheme}://{}:{} {}", url.host(), port.unwrap_or_default(), self.access.proxy.expose())
    }

    async fn remote_call<'a>(
        &self,
        context: Context<'_>,
        bare: Option<&'a Path>,
        args: impl IntoIterator<Item = &str>,
        timeout: Duration,
    ) -> Result<Call<'a>, SourceError> {
        let access = self.git_access(context).await?;
        let remote = (format!("remote.{REMOTE}.url"), self.url.address.clone());
        Ok(Call {
            args: args.into_iter().map(OsString::from).collect(),
            dir: bare.unwrap_or(Path::new("/")),
            place: bare.map_or(Place::Nowhere, Place::Bare),
            config: std::iter::once(remote).chain(access.config.iter().cloned()).collect(),
            env: access.env.iter().chain(&access.own_env).cloned().collect(),
            stdin: None,
            timeout,
        })
    }

    async fn git_access(&self, context: Context<'_>) -> Result<&GitAccess, SourceError> {
        let access = context.git_access(&self.url, &self.access, &self.shown);
        self.git_access.get_or_try_init(|| access).await
    }

    /// See [`crate::Sources::git_variables`].
    pub(crate) async fn git_variables(
        &self,
        context: Context<'_>,
    ) -> Result<Vec<(String, Secret)>, SourceError> {
        let access = self.git_access(context).await?;
        if !access.is_configured || access.excludes_user_credentials {
            return Ok(Vec::new());
        }
        Ok(access.variables().map(|(name, value)| (name, Secret::new(value))).collect())
    }

    /// Locks the clone for other processes; creates its directory.
    async fn lock(&self, context: Context<'_>) -> Result<File, SourceError> {
        let parent = self.dir.parent().unwrap_or(&self.dir);
        private_folder(&context.options.cache_dir)?;
        private_folder(parent)?;
        let path = self.dir.with_extension("lock");
        let mut options = File::options();
        let file = open_file(&path, FileOwner::Repository, options.create(true).truncate(false).write(true))
            .map_err(|error| SourceError::cache("open", &path)(error.into()))?;
        let deadline = Instant::now() + context.options.fetch_timeout;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(fs::TryLockError::WouldBlock) if Instant::now() < deadline => {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                Err(fs::TryLockError::WouldBlock) => {
                    return Err(SourceError::Timeout {
                        repository: self.shown.to_string(),
                        action: "another process's fetch from",
                        timeout: context.options.fetch_timeout,
                        limit: Some(Limit::FETCH_TIMEOUT),
                    });
                }
                Err(fs::TryLockError::Error(source)) => {
                    return Err(SourceError::cache("lock", &path)(source));
                }
            }
        }
        self.sweep();
        // A killed `git init` leaves some of them.
        if ["HEAD", "objects", "refs"].iter().any(|part| !self.dir.join(part).exists()) {
            self.make(context, &self.dir).await?;
        }
        Ok(file)
    }

    async fn make(&self, context: Context<'_>, dir: &Path) -> Result<(), SourceError> {
        private_folder(dir)?;
        let args = ["init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--", "."];
        let mut call = context.git.local(dir, Place::Here, args);
        call.env.push(("GIT_DIR".into(), dir.into()));
        let output = context
            .git
            .run(call)
            .await
            .map_err(|problem| problem.into_error(&self.shown, "making the cache of"))?;
        if output.code != Some(0) {
            return Err(self.failure(context, &output.stderr));
        }
        write_whole(&dir.join("tiphys-url"), &format!("{}\n", self.shown))
    }

    fn keep_refs(&self, text: &str) -> Result<(), SourceError> {
        if let Some(cache) = self.dir.parent().and_then(Path::parent) {
            private_folder(cache)?;
            private_folder(&cache.join("git"))?;
        }
        let write = || {
            private_folder(&self.dir)?;
            write_whole(&self.refs_file(), text)
        };
        // Another process may be replacing this store.
        write().or_else(|_| write())
    }

    fn trust(&self) -> Trust {
        *self.trust.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refs_file(&self) -> PathBuf {
        self.dir.join("tiphys-refs")
    }

    fn parse_id(&self, hex: &str) -> Result<ObjectId, SourceError> {
        ObjectId::from_hex(hex.to_ascii_lowercase().as_bytes()).map_err(|_| SourceError::Git {
            repository: self.shown.to_string(),
            detail: format!("{hex:?} is not a commit id"),
        })
    }

    fn failure(&self, context: Context<'_>, said: &str) -> SourceError {
        let access = self.git_access.get();
        let secrets = access.map_or(&[][..], |access| &access.secrets);
        let tried = access.map(|access| access.tried.clone()).unwrap_or_default();
        let remedy = match access {
            Some(access) if access.excludes_user_credentials => WITHHELD_REMEDY,
            _ => remedy(self.url.transport, context.options.user_settings),
        };
        let (repository, detail) = (self.shown.to_string(), shown(said, secrets));
        match classify(said) {
            Failure::Credentials => SourceError::Credentials { repository, tried, remedy, detail },
            Failure::Repository => SourceError::MissingRepository { repository, tried, detail },
            Failure::Network => SourceError::Unreachable { repository, detail },
            Failure::Revision | Failure::Other => SourceError::Git { repository, detail },
        }
    }

    fn missing(&self, revision: &str, hint: String) -> SourceError {
        let revision = if revision.is_empty() { "HEAD" } else { revision };
        SourceError::MissingRevision {
            repository: self.shown.to_string(),
            revision: revision.to_owned(),
            hint,
        }
    }

    fn offline(&self, what: String) -> SourceError {
        SourceError::Offline { repository: self.shown.to_string(), what }
    }

    fn report_fetched(&self, context: Context<'_>, started: Instant) {
        context.options.report(&Progress::Fetched { repository: &self.shown, duration: started.elapsed() });
    }
}

/// Damaged objects count as missing if they can be fetched again.
fn unless_damaged<T>(
    request: &SourceRequest,
    found: Result<Option<T>, SourceError>,
) -> Result<Option<T>, SourceError> {
    match found {
        Err(SourceError::Objects { .. }) if request.network == Network::Online => Ok(None),
        other => other,
    }
}
