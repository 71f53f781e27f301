//! Folders that stand for repositories (`--repo [URL[@REV]=]DIR`).

mod files;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix_hash::ObjectId;
use tiphys_tree::{RepoPath, TreeLimits};
use tokio::sync::OnceCell;

use tiphys_access::RepoUrl;

use crate::git::Git;
use crate::identity::FileIds;
use crate::local::{Expect, LocalRepositories, LocalRepository, ask};
use crate::{SourceError, normalize_git_url, redact_url};

/// A folder that stands for a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalCopy {
    /// The repository; none: all remotes of the folder's git repository.
    pub url: Option<String>,
    /// The one revision that the folder's files stand for, where that is not its checked-out branch.
    pub revision: Option<String>,
    /// The folder, absolute.
    pub dir: PathBuf,
}

/// Why a text is no `[URL[@REV]=]DIR`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocalCopyError {
    /// No folder is named.
    #[error("{text:?} names no folder; write DIR, URL=DIR or URL@REV=DIR")]
    NoFolder {
        /// As it was given.
        text: String,
    },
}

impl LocalCopy {
    /// Reads `DIR`, `URL=DIR` or `URL@REV=DIR`. A relative folder is one below `current_dir`. What stands before the first
    /// `=` is a URL if it has `://` or looks like `host:path`; else the whole text is a folder.
    pub fn parse(text: &str, current_dir: &Path) -> Result<Self, LocalCopyError> {
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
        Ok(Self { url, revision, dir: current_dir.join(dir) })
    }
}

fn is_url(text: &str) -> bool {
    text.contains("://")
        || text.split_once(':').is_some_and(|(host, path)| {
            !host.is_empty() && !path.is_empty() && !host.contains('/') && !host.starts_with('.')
        })
}

/// The last `@` behind the host, and not at the beginning of a path's segment, divides URL and revision.
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

/// A folder that was looked at.
pub(crate) struct OpenCopy {
    pub(crate) dir: PathBuf,
    pub(crate) revision: Option<String>,
    pub(crate) shown: Arc<str>,
    pub(crate) git: Option<Arc<LocalRepository>>,
    /// Normalised URLs, each with the remote's name if it is one's.
    urls: Vec<(Option<String>, String)>,
    /// All its files, once they were listed.
    files: OnceCell<BTreeSet<RepoPath>>,
    pub(crate) ids: Arc<FileIds>,
}

impl OpenCopy {
    /// Looks at a folder: which repository it is, and what is checked out.
    pub(crate) async fn open(
        copy: &LocalCopy,
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
            Some(_) => remotes(&dir, git, &shown).await?,
            None => Vec::new(),
        };
        let urls = match &copy.url {
            // The names of its remotes say where its copies of the repository's branches are.
            Some(url) => {
                let url = normalize_git_url(url);
                let same = remotes.into_iter().filter(|(_, remote)| *remote == url).map(|(name, _)| name);
                same.chain([None]).map(|name| (name, url.clone())).collect()
            }
            None if found.is_none() => {
                return Err(problem(
                    "it is not the top of a git work tree, so it has no remotes that say which repository it is; write URL=DIR",
                ));
            }
            None if remotes.is_empty() => {
                return Err(problem(
                    "its git repository has no remotes that say which repository it is; write URL=DIR",
                ));
            }
            None => remotes,
        };
        let (files, ids) = (OnceCell::new(), Arc::default());
        Ok(Self { dir, revision: copy.revision.clone(), shown, git: found, urls, files, ids })
    }

    /// A work tree that stands for no repository.
    pub(crate) fn of_work_tree(git: Arc<LocalRepository>) -> Self {
        Self {
            dir: git.dir.clone(),
            revision: None,
            shown: git.dir.display().to_string().into(),
            git: Some(git),
            urls: Vec::new(),
            files: OnceCell::new(),
            ids: Arc::default(),
        }
    }

    /// The files as they are now: all, or those of some paths.
    pub(crate) async fn files(
        &self,
        git: &Git,
        paths: Option<&[RepoPath]>,
        limits: TreeLimits,
    ) -> Result<Vec<RepoPath>, SourceError> {
        let all = self.files.get_or_try_init(|| files::list(self, git, limits)).await?;
        match paths {
            None => Ok(all.iter().cloned().collect()),
            Some(paths) => files::within(&self.dir, all, paths),
        }
    }

    pub(crate) fn stands_for(&self, normalized_url: &str) -> bool {
        !normalized_url.is_empty() && self.urls.iter().any(|(_, url)| url == normalized_url)
    }

    /// Whether the files stand for a revision, as far as this folder alone says.
    pub(crate) fn files_are(&self, revision: &str) -> bool {
        if let Some(own) = &self.revision {
            return own == revision || revision.strip_prefix("refs/heads/") == Some(own);
        }
        match &self.git {
            None => true,
            Some(git) if git.bare => false,
            Some(git) => git.is_checked_out(revision),
        }
    }

    /// Whether a revision is what is checked out here, or what the folder stands for on the command line: what another commit
    /// takes the place of when two revisions are compared.
    pub(crate) fn is_current(&self, revision: &str) -> bool {
        let bare = self.git.as_ref().is_some_and(|git| git.bare && git.is_checked_out(revision));
        self.files_are(revision) || (self.revision.is_none() && bare)
    }

    /// The commit that a name stands for in the folder's repository: its own branches and tags, then what it knows of the
    /// branches of the remote.
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
                .filter(|(_, url)| url == normalized_url)
                .filter_map(|(name, _)| name.as_deref())
                .find_map(|remote| git.refs.resolve_tracking(remote, revision))
        };
        let id = git.refs.resolve(revision).or_else(remote)?;
        ObjectId::from_hex(id.as_bytes()).ok()
    }
}

/// `HEAD`, or no revision.
pub(crate) fn is_default(revision: &str) -> bool {
    revision.is_empty() || revision == "HEAD"
}

/// Normalised URLs of a repository's remotes, each once.
pub(crate) async fn remote_urls(dir: &Path, git: &Git) -> Result<BTreeSet<String>, SourceError> {
    let remotes = remotes(dir, git, &dir.display().to_string()).await?;
    Ok(remotes.into_iter().map(|(_, url)| url).collect())
}

/// Names and normalised URLs of a repository's remotes, as they are written and as `insteadOf` makes them.
async fn remotes(dir: &Path, git: &Git, shown: &str) -> Result<Vec<(Option<String>, String)>, SourceError> {
    let written = ["config", "--null", "--get-regexp", r"^remote\..*\.(push)?url$"];
    let expanded = ["remote", "--verbose"];
    let (written, expanded) = tokio::try_join!(
        ask(git, dir, shown, &written, Expect::Anything),
        ask(git, dir, shown, &expanded, Expect::Success),
    )?;
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
