//! Git repositories on this machine: the checked-out commit, branches and tags, and the objects.

pub(crate) mod base;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix_hash::ObjectId;

use base::BaseRevision;

use crate::SourceError;
use crate::checkout::{CheckoutConfiguration, CheckoutSettings, CheckoutSource};
use crate::git::{Call, Git, Place, ToolProblem, shown};
use crate::objects::Objects;
use crate::once_map::OnceMap;
use crate::refs::{BRANCHES, Refs, TRACKING, is_default};

/// A git repository with or without a work tree, in the state in which it was opened.
pub(crate) struct LocalRepository {
    /// The top directory of the work tree, or the bare repository; absolute.
    pub(crate) dir: PathBuf,
    pub(crate) git_dir: PathBuf,
    pub(crate) source: CheckoutSource,
    pub(crate) refs: Refs,
    /// None before the first commit.
    pub(crate) head: Option<ObjectId>,
    /// The full name of the checked-out branch. None if HEAD is detached.
    branch: Option<String>,
    /// The default branches of the remotes (`refs/remotes/origin/HEAD`).
    pub(crate) default_branches: BTreeSet<String>,
    /// Whether it has no work tree.
    pub(crate) bare: bool,
    /// Whether it is a shallow clone.
    pub(crate) shallow: bool,
    /// Whether its work tree leaves out files of the commit that is checked out.
    pub(crate) is_sparse: bool,
    /// The index, if the files have the modes and links that are in it.
    pub(crate) index: Option<PathBuf>,
    /// The commits of base revisions. Each is resolved once, so that a concurrent fetch does not change it during a command.
    bases: OnceMap<BaseRevision, ObjectId>,
}

/// The repositories that a request has opened, by directory.
#[derive(Default)]
pub(crate) struct LocalRepositories(OnceMap<PathBuf, Arc<LocalRepository>>);

/// The exit codes of git that are not errors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// 0.
    Success,
    /// 0, or 1 if git finds nothing.
    Answer,
}

impl LocalRepositories {
    /// Opens the repository whose work tree or bare directory is `dir`, a canonical path.
    pub(crate) async fn open(&self, dir: &Path, git: &Git) -> Result<Arc<LocalRepository>, SourceError> {
        let cell = self.0.cell(dir.to_path_buf());
        // Boxed because several calls of git at once are a large future.
        let open = || async { Box::pin(LocalRepository::open(dir, git)).await.map(Arc::new) };
        cell.get_or_try_init(open).await.cloned()
    }
}

impl LocalRepository {
    pub(crate) async fn open(dir: &Path, git: &Git) -> Result<Self, SourceError> {
        let shown: Arc<str> = dir.display().to_string().into();
        // An annotated tag has a second line with what it points to, as `git ls-remote` prints it.
        let format = "--format=%(objectname)%09%(refname)%0a%(*objectname)%09%(refname)^{}%0a%(symref)%09%(refname)%0a%(HEAD)%09%(refname)";
        let place = [
            "rev-parse",
            "--absolute-git-dir",
            "--is-bare-repository",
            "--is-shallow-repository",
            "--git-path",
            "objects",
            "--git-path",
            "info/attributes",
        ];
        let list = ["for-each-ref", format];
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let branch = ["symbolic-ref", "--quiet", "HEAD"];
        let here = |args: &[&'static str]| git.local(dir, Place::Here, args.iter().copied());
        let (place, listed, configuration) = tokio::try_join!(
            ask(git, here(&place), Expect::Success),
            ask(git, here(&list), Expect::Success),
            CheckoutConfiguration::read(git, dir, Place::Here),
        )?;
        let (lines, refs) = (listed.lines(), Refs::parse(&listed));
        let default_branches = lines.clone().filter_map(default_branch).map(str::to_owned).collect();
        let (head, branch) = match lines.clone().find_map(|line| line.strip_prefix("*\t")) {
            Some(branch) => (refs.resolve(branch).unwrap_or_default().to_owned(), branch.to_owned()),
            // HEAD is detached, or there is no commit yet.
            None => tokio::try_join!(
                ask(git, here(&head), Expect::Answer),
                ask(git, here(&branch), Expect::Answer)
            )?,
        };
        let lines: Vec<&str> = place.lines().collect();
        let [git_dir, bare, shallow, objects, attributes] = lines[..] else {
            let problem = format!("git rev-parse printed {place:?}");
            return Err(SourceError::LocalRepository { dir: dir.to_path_buf(), problem });
        };
        let is_bare = bare == "true";
        Ok(Self {
            dir: dir.to_path_buf(),
            git_dir: PathBuf::from(git_dir),
            source: CheckoutSource {
                objects: Objects::open(&dir.join(objects), &shown)?,
                settings: CheckoutSettings::read(&configuration, &dir.join(attributes))?,
            },
            refs,
            default_branches,
            head: ObjectId::from_hex(head.trim().as_bytes()).ok(),
            branch: Some(branch.trim().to_owned()).filter(|branch| !branch.is_empty()),
            bare: is_bare,
            shallow: shallow == "true",
            is_sparse: configuration.is_sparse && !is_bare,
            index: configuration.has_exact_modes.then(|| Path::new(git_dir).join("index")),
            bases: OnceMap::default(),
        })
    }

    /// Fails for a sparse checkout: compared with a commit, what it leaves out would seem to be removed.
    pub(crate) fn expect_whole_checkout(&self) -> Result<(), SourceError> {
        if !self.is_sparse {
            return Ok(());
        }
        let problem = format!(
            "it is a sparse checkout, and what it leaves out would seem to be removed; run git -C {} sparse-checkout disable",
            self.dir.display()
        );
        Err(SourceError::LocalRepository { dir: self.dir.clone(), problem })
    }

    /// Returns the branch that a revision names: itself, or that of a remote (`origin/main`). None for tags, commits and `HEAD~1`.
    pub(crate) fn branch_named<'r>(&self, revision: &'r str) -> Option<&'r str> {
        let full = |prefix: &str, name: &str| format!("{prefix}{name}");
        let local = revision.strip_prefix(BRANCHES).unwrap_or(revision);
        if self.refs.has(&full(BRANCHES, local)) {
            return Some(local);
        }
        let tracking = revision.strip_prefix(TRACKING).unwrap_or(revision);
        let branch = tracking.split_once('/').map(|(_, branch)| branch).filter(|branch| *branch != "HEAD")?;
        self.refs.has(&full(TRACKING, tracking)).then_some(branch)
    }

    /// Whether a revision is empty, `HEAD`, or the checked-out branch.
    pub(crate) fn is_checked_out(&self, revision: &str) -> bool {
        is_default(revision)
            || self.branch.as_deref().is_some_and(|branch| {
                branch == revision || branch.strip_prefix("refs/heads/") == Some(revision)
            })
    }
}

/// Returns the branch to which a line leads that has the target and the name of a symbolic ref, if it is `HEAD` of a remote.
fn default_branch(line: &str) -> Option<&str> {
    let (target, name) = line.split_once('\t')?;
    let remote = name.strip_prefix(TRACKING)?.strip_suffix("/HEAD")?;
    target.strip_prefix(TRACKING)?.strip_prefix(remote)?.strip_prefix('/')
}

/// Runs a git command in a repository, and returns its standard output.
pub(crate) async fn ask(git: &Git, call: Call<'_>, expect: Expect) -> Result<String, SourceError> {
    let dir = call.dir.to_path_buf();
    let failed = |problem: ToolProblem| problem.into_error(&dir.display().to_string(), "reading");
    let output = git.run(call).await.map_err(failed)?;
    match (output.code, expect) {
        (Some(0), _) | (Some(1), Expect::Answer) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        _ => {
            let problem = format!("git cannot read it: {}", shown(&output.stderr, &[]));
            Err(SourceError::LocalRepository { dir, problem })
        }
    }
}
