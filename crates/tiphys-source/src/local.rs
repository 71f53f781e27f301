//! Git repositories on this machine: what is checked out, which commits names stand for, where the objects are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gix_hash::ObjectId;
use tokio::sync::OnceCell;

use crate::SourceError;
use crate::base::BaseRevision;
use crate::copy::is_default;
use crate::git::{Git, Place, shown};
use crate::objects::Objects;
use crate::refs::Refs;

/// A git repository with or without a work tree, as it was when it was first looked at.
pub(crate) struct LocalRepository {
    /// Top of the work tree, or the bare repository; absolute.
    pub(crate) dir: PathBuf,
    pub(crate) git_dir: PathBuf,
    pub(crate) objects: Objects,
    pub(crate) refs: Refs,
    /// None before the first commit.
    pub(crate) head: Option<ObjectId>,
    /// The full name of the checked-out branch; none if HEAD is detached.
    branch: Option<String>,
    /// No work tree: nothing but commits.
    pub(crate) bare: bool,
    /// Some commits lack their parents.
    pub(crate) shallow: bool,
    /// What revisions to compare with stand for, each looked up once: a fetch in between must not make two of one.
    pub(crate) bases: Mutex<HashMap<BaseRevision, Arc<OnceCell<ObjectId>>>>,
}

/// The repositories that one command has looked at, each once.
#[derive(Default)]
pub(crate) struct LocalRepositories {
    known: Mutex<HashMap<PathBuf, Arc<OnceCell<Arc<LocalRepository>>>>>,
}

/// Whether a question to git may have no answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    Success,
    Anything,
}

impl LocalRepositories {
    /// The repository whose work tree begins in a folder, or that the folder itself is. The path is canonical.
    pub(crate) async fn open(&self, dir: &Path, git: &Git) -> Result<Arc<LocalRepository>, SourceError> {
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(dir.to_path_buf()).or_default())
        };
        let open = || async { LocalRepository::open(dir, git).await.map(Arc::new) };
        cell.get_or_try_init(open).await.cloned()
    }
}

impl LocalRepository {
    async fn open(dir: &Path, git: &Git) -> Result<Self, SourceError> {
        let shown: Arc<str> = dir.display().to_string().into();
        // An annotated tag has a second line with what it points to, as `git ls-remote` prints it.
        let format = "--format=%(objectname)%09%(refname)%0a%(*objectname)%09%(refname)^{}";
        let place = [
            "rev-parse",
            "--absolute-git-dir",
            "--is-bare-repository",
            "--is-shallow-repository",
            "--git-path",
            "objects",
        ];
        let refs = ["for-each-ref", format];
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let branch = ["symbolic-ref", "--quiet", "HEAD"];
        let (place, refs, head, branch) = tokio::try_join!(
            ask(git, dir, &shown, &place, Expect::Success),
            ask(git, dir, &shown, &refs, Expect::Success),
            ask(git, dir, &shown, &head, Expect::Anything),
            ask(git, dir, &shown, &branch, Expect::Anything),
        )?;
        let lines: Vec<&str> = place.lines().collect();
        let [git_dir, bare, shallow, objects] = lines[..] else {
            let problem = format!("git rev-parse said {place:?}");
            return Err(SourceError::LocalRepository { dir: dir.to_path_buf(), problem });
        };
        Ok(Self {
            dir: dir.to_path_buf(),
            git_dir: PathBuf::from(git_dir),
            objects: Objects::open(&dir.join(objects), &shown)?,
            refs: Refs::parse(&refs),
            head: ObjectId::from_hex(head.trim().as_bytes()).ok(),
            branch: Some(branch.trim().to_owned()).filter(|branch| !branch.is_empty()),
            bare: bare == "true",
            shallow: shallow == "true",
            bases: Mutex::default(),
        })
    }

    /// Whether a revision is `HEAD`, none, or the checked-out branch.
    pub(crate) fn is_checked_out(&self, revision: &str) -> bool {
        is_default(revision)
            || self.branch.as_deref().is_some_and(|branch| {
                branch == revision || branch.strip_prefix("refs/heads/") == Some(revision)
            })
    }
}

/// What git prints when it is asked something about the repository of a folder.
pub(crate) async fn ask(
    git: &Git,
    dir: &Path,
    shown_dir: &str,
    args: &[&str],
    expect: Expect,
) -> Result<String, SourceError> {
    let call = git.local(dir, Place::Here, args.iter().copied());
    let output = git.run(call).await.map_err(|problem| problem.into_error(shown_dir, "reading"))?;
    if output.code != Some(0) && expect == Expect::Success {
        let problem = format!("git cannot read it: {}", shown(&output.stderr, &[]));
        return Err(SourceError::LocalRepository { dir: dir.to_path_buf(), problem });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
