//! Local directories that replace repositories (`--repo [URL[@REV]=]DIR`).

mod files;
#[cfg(test)]
mod tests;
mod unchanged;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix_hash::ObjectId;
use tiphys_model::access::RepoUrl;
use tiphys_tree::{RepoPath, TreeLimits};
use tokio::sync::OnceCell;

use crate::git::{Git, Place};
use crate::identity::FileIds;
use crate::local::{Expect, LocalRepositories, LocalRepository, ask};
use crate::refs::{BRANCHES, is_default};
use crate::sources::blocking;
use crate::{SourceError, normalize_git_url, redact_url};

/// A local directory that replaces a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalCopy {
    /// The URL of the repository. None: all remotes of the directory's git repository.
    pub url: Option<String>,
    /// With a URL, the only revision that the files replace. Without one, a branch that they replace beside others, see
    /// [`CheckoutBranches`].
    pub revision: Option<String>,
    /// The directory, absolute.
    pub dir: PathBuf,
    /// Who names it.
    pub origin: CopyOrigin,
}

/// Who names a local directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyOrigin {
    /// The caller. Applications from repositories may name `file://` repositories in it.
    #[default]
    Caller,
    /// A file of the checkout without the caller's consent.
    Checkout,
    /// None: it is the current checkout. It is not used if it has no remotes or cannot be read, and its use is reported.
    Default,
}

/// The branches that the files of a checkout replace, beside the one that is checked out and those of [`LocalCopy::revision`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CheckoutBranches {
    /// None.
    #[default]
    Exact,
    /// The default branches of the remotes, and the branch that a comparison starts from: what is checked out is a change of these.
    Changed {
        /// The revision that a comparison starts from.
        base: Option<String>,
    },
}

/// The error of an invalid `[URL[@REV]=]DIR`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocalCopyError {
    /// The directory is missing.
    #[error("{text:?} names no folder; write DIR, @BRANCH=DIR, URL=DIR or URL@REV=DIR")]
    NoFolder {
        /// The argument, redacted.
        text: String,
    },
}

impl LocalCopy {
    /// Parses `DIR`, `@BRANCH=DIR`, `URL=DIR` or `URL@REV=DIR`. A relative directory is below `current_dir`. The part before the first `=` is a
    /// branch if it begins with `@`, and a URL if it contains `://` or has the form `host:path`; otherwise the whole argument is a directory.
    pub fn parse(text: &str, current_dir: &Path) -> Result<Self, LocalCopyError> {
        let branch = text.strip_prefix('@').and_then(|rest| rest.split_once('='));
        if let Some((branch, dir)) = branch.filter(|(branch, dir)| !branch.is_empty() && !dir.is_empty()) {
            return Ok(Self {
                url: None,
                revision: Some(branch.to_owned()),
                dir: current_dir.join(dir),
                origin: CopyOrigin::Caller,
            });
        }
        let (repository, dir) = match text.split_once('=') {
            Some((before, dir)) if is_url(before) => (Some(before), dir),
            _ => (None, text),
        };
        if dir.is_empty() {
            return Err(LocalCopyError::NoFolder { text: redact_url(text) });
        }
        let (url, revision) = match repository.map(split_revision) {
            Some((url, revision)) => (Some(url.to_owned()), revision.map(str::to_owned)),
            None => (None, None),
        };
        Ok(Self { url, revision, dir: current_dir.join(dir), origin: CopyOrigin::Caller })
    }

    /// Returns the copy as one that a file of the checkout names.
    #[must_use]
    pub fn of_checkout(self) -> Self {
        Self { origin: CopyOrigin::Checkout, ..self }
    }
}

/// Returns the name of a branch without `refs/heads/`.
fn short(branch: &str) -> &str {
    branch.strip_prefix(BRANCHES).unwrap_or(branch)
}

/// Whether two normalised URLs name one repository, by ssh, http or git.
fn is_same_repository(a: &str, b: &str) -> bool {
    a == b || address(a).is_some_and(|address_a| Some(address_a) == address(b))
}

/// Returns host and path of a normalised URL of ssh (`git@host/path`), http or git, without user and port.
fn address(url: &str) -> Option<(&str, &str)> {
    let has = |scheme: &&str| url.starts_with(*scheme);
    let rest = match ["https://", "http://", "git://"].iter().find(|scheme| has(scheme)) {
        Some(scheme) => &url[scheme.len()..],
        None if url.contains('@') && !url.contains("://") => url,
        None => return None,
    };
    let (server, path) = rest.split_once('/')?;
    let host = server.rsplit_once('@').map_or(server, |(_, host)| host);
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    (!host.is_empty()).then_some((host, path.trim_start_matches('/')))
}

fn is_url(text: &str) -> bool {
    text.contains("://")
        || text.split_once(':').is_some_and(|(host, path)| {
            !host.is_empty() && !path.is_empty() && !host.contains('/') && !host.starts_with('.')
        })
}

/// Splits at the last `@` in the path, unless it begins a path segment.
fn split_revision(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    let path_start = RepoUrl::new(text).path_start();
    let path = &text[path_start..];
    match path.rfind('@') {
        Some(at) if at > 0 && !path[..at].ends_with('/') && at + 1 < path.len() => {
            (&text[..path_start + at], Some(&path[at + 1..]))
        }
        _ => (text, None),
    }
}

/// An opened local directory.
pub(crate) struct OpenCopy {
    pub(crate) dir: PathBuf,
    pub(crate) revision: Option<String>,
    pub(crate) shown: Arc<str>,
    pub(crate) git: Option<Arc<LocalRepository>>,
    /// The branches that the files replace, beside the one that is checked out.
    pub(crate) branches: BTreeSet<String>,
    /// Normalised URLs of the replaced repositories. Those of a remote have its name.
    urls: Vec<(Option<String>, String)>,
    /// All files, listed when they are first needed.
    files: OnceCell<BTreeSet<RepoPath>>,
    pub(crate) ids: Arc<FileIds>,
}

impl OpenCopy {
    /// Opens a directory: determines the repository that it replaces, and what is checked out.
    pub(crate) async fn open(
        copy: &LocalCopy,
        rule: &CheckoutBranches,
        git: &Git,
        repositories: &LocalRepositories,
    ) -> Result<Self, SourceError> {
        let problem =
            |problem: &str| SourceError::Copy { dir: copy.dir.clone(), problem: problem.to_owned() };
        let dir = match std::fs::canonicalize(&copy.dir) {
            Ok(dir) if dir.is_dir() => dir,
            Ok(_) => return Err(problem("it is not a folder")),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
                return Err(problem("there is no such folder"));
            }
            Err(source) => return Err(SourceError::Read { path: copy.dir.clone(), source }),
        };
        let shown: Arc<str> = copy.dir.display().to_string().into();
        let has_work_tree = dir.join(".git").symlink_metadata().is_ok();
        let is_bare = !has_work_tree && dir.join("HEAD").is_file() && dir.join("objects").is_dir();
        let found = if has_work_tree || is_bare { Some(repositories.open(&dir, git).await?) } else { None };
        let remotes = match &found {
            Some(_) => remotes(&dir, git).await?,
            None => Vec::new(),
        };
        let urls = match &copy.url {
            // Remotes with this URL have the remote-tracking branches of the repository.
            Some(url) => {
                let url = normalize_git_url(url);
                let same = remotes.into_iter().filter(|(_, remote)| *remote == url).map(|(name, _)| name);
                same.chain([None]).map(|name| (name, url.clone())).collect()
            }
            None if found.is_none() => {
                return Err(problem(
                    "it is not the top of a git work tree, so it has no remotes that say which repository it is",
                ));
            }
            None if remotes.is_empty() => {
                return Err(problem("its git repository has no remotes that say which repository it is"));
            }
            None => remotes,
        };
        let (files, ids) = (OnceCell::new(), Arc::default());
        let (revision, named) = match &copy.url {
            Some(_) => (copy.revision.clone(), None),
            None => (None, copy.revision.as_deref()),
        };
        let mut branches: BTreeSet<String> = named.map(|name| short(name).to_owned()).into_iter().collect();
        if let (CheckoutBranches::Changed { base }, Some(git), None) = (rule, &found, &revision) {
            branches.extend(git.default_branches.iter().cloned());
            branches.extend(base.as_deref().and_then(|base| git.branch_named(base)).map(str::to_owned));
        }
        Ok(Self { dir, revision, shown, git: found, branches, urls, files, ids })
    }

    /// Returns a directory that replaces no repository.
    pub(crate) fn unused(copy: &LocalCopy) -> Self {
        Self {
            dir: copy.dir.clone(),
            revision: None,
            shown: copy.dir.display().to_string().into(),
            git: None,
            branches: BTreeSet::new(),
            urls: Vec::new(),
            files: OnceCell::new(),
            ids: Arc::default(),
        }
    }

    /// Returns a work tree that replaces no repository.
    pub(crate) fn of_work_tree(git: Arc<LocalRepository>) -> Self {
        let copy = LocalCopy { url: None, revision: None, dir: git.dir.clone(), origin: CopyOrigin::Caller };
        Self { git: Some(git), ..Self::unused(&copy) }
    }

    /// Returns the current files: all, or those at or below some paths.
    pub(crate) async fn files(
        &self,
        git: &Git,
        paths: Option<&[RepoPath]>,
        limits: TreeLimits,
    ) -> Result<Vec<RepoPath>, SourceError> {
        let list = || async {
            let files = files::list(self, git, limits).await?;
            let Some(repository) = self.git.clone() else { return Ok(files) };
            let (dir, ids) = (self.dir.clone(), Arc::clone(&self.ids));
            blocking(move || {
                ids.add(unchanged::unchanged(&repository, &dir, &files, limits));
                Ok(files)
            })
            .await
        };
        let all = self.files.get_or_try_init(list).await?;
        Ok(match paths {
            None => all.iter().cloned().collect(),
            Some(paths) => files::within(&self.dir, all, paths),
        })
    }

    /// Whether the directory replaces this repository.
    pub(crate) fn stands_for(&self, normalized_url: &str) -> bool {
        !normalized_url.is_empty() && self.urls.iter().any(|(_, url)| is_same_repository(url, normalized_url))
    }

    /// Whether the files replace a revision; other directories are not considered.
    pub(crate) fn files_are(&self, revision: &str) -> bool {
        if let Some(own) = &self.revision {
            return own == revision || revision.strip_prefix("refs/heads/") == Some(own);
        }
        match &self.git {
            None => true,
            Some(git) if git.bare => false,
            Some(git) => git.is_checked_out(revision) || self.branches.contains(short(revision)),
        }
    }

    /// Whether a revision is the checked-out one, or the one that the command line names for the directory. A comparison replaces this
    /// revision by the base.
    pub(crate) fn is_current(&self, revision: &str) -> bool {
        let bare = self.git.as_ref().is_some_and(|git| git.bare && git.is_checked_out(revision));
        self.files_are(revision) || (self.revision.is_none() && bare)
    }

    /// Resolves a revision among the branches and tags of the local repository, then among its remote-tracking branches.
    pub(crate) fn named(
        &self,
        git: &LocalRepository,
        normalized_url: &str,
        revision: &str,
    ) -> Option<ObjectId> {
        if is_default(revision) {
            return git.head;
        }
        let remote = || {
            self.urls
                .iter()
                .filter(|(_, url)| is_same_repository(url, normalized_url))
                .filter_map(|(name, _)| name.as_deref())
                .find_map(|remote| git.refs.resolve_tracking(remote, revision))
        };
        let id = git.refs.resolve(revision).or_else(remote)?;
        ObjectId::from_hex(id.as_bytes()).ok()
    }
}

/// Returns the normalised URLs of a repository's remotes.
pub(crate) async fn remote_urls(dir: &Path, git: &Git) -> Result<BTreeSet<String>, SourceError> {
    let remotes = remotes(dir, git).await?;
    Ok(remotes.into_iter().map(|(_, url)| url).collect())
}

/// Returns names and normalised URLs of a repository's remotes, before and after `insteadOf` is applied.
async fn remotes(dir: &Path, git: &Git) -> Result<Vec<(Option<String>, String)>, SourceError> {
    let pattern = r"^(remote\..*\.(push)?url|url\..*\.(push)?insteadof)$";
    let written =
        ask(git, git.local(dir, Place::Here, ["config", "--null", "--get-regexp", pattern]), Expect::Answer)
            .await?;
    // Without `insteadOf`, the URLs are those that are written.
    let expanded = if written.split('\0').any(|item| item.starts_with("url.")) {
        ask(git, git.local(dir, Place::Here, ["remote", "--verbose"]), Expect::Success).await?
    } else {
        String::new()
    };
    let written = written.split('\0').filter_map(|item| {
        let (key, url) = item.split_once('\n')?;
        let (name, _) = key.strip_prefix("remote.")?.rsplit_once('.')?;
        Some((name.to_owned(), url.to_owned()))
    });
    let expanded = expanded.lines().filter_map(|line| {
        let (name, url) = line.split_once('\t')?;
        let (url, _) = url.rsplit_once(" (").unwrap_or((url, ""));
        Some((name.to_owned(), url.to_owned()))
    });
    let mut remotes: Vec<(Option<String>, String)> = written
        .chain(expanded)
        .map(|(name, url)| (Some(name), normalize_git_url(&url)))
        .filter(|(_, url)| !url.is_empty())
        .collect();
    remotes.sort();
    remotes.dedup();
    Ok(remotes)
}
