//! The revision that a comparison starts from (`--base`), and its commit in a repository.

use gix_hash::ObjectId;

use super::LocalRepository;
use crate::SourceError;
use crate::git::{Git, Place, shown};

/// Maximum number of names in an error.
const NAMES_MAX: usize = 8;

/// A revision to compare with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BaseRevision {
    /// A revision in git's syntax: a branch, `origin/main`, a tag, a commit or its first digits, `HEAD~2`.
    pub name: String,
    /// The commit of its history.
    pub point: BasePoint,
}

/// The commit of a [`BaseRevision`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BasePoint {
    /// The revision itself.
    #[default]
    Revision,
    /// The best common ancestor of the revision and `HEAD` (`git merge-base`).
    MergeBase,
}

impl BaseRevision {
    /// Returns the commit in a repository. It is resolved once.
    pub(crate) async fn commit(
        &self,
        repository: &LocalRepository,
        git: &Git,
    ) -> Result<ObjectId, SourceError> {
        let cell = repository.bases.cell(self.clone());
        let commit = match self.point {
            BasePoint::Revision => cell.get_or_try_init(|| self.named(repository, git)).await,
            BasePoint::MergeBase => cell.get_or_try_init(|| self.merge_base(repository, git)).await,
        };
        commit.copied()
    }

    /// Resolves the name with git, so that every revision that `git diff` accepts is valid.
    async fn named(&self, repository: &LocalRepository, git: &Git) -> Result<ObjectId, SourceError> {
        // Some git commands read an empty name as HEAD.
        if self.name.is_empty() {
            return Err(self.missing(repository, ""));
        }
        let peeled = format!("{}^{{commit}}", self.name);
        let found = ask(repository, git, &["rev-parse", "--verify", "--end-of-options", &peeled]).await?;
        found.map_err(|said| self.missing(repository, &said))
    }

    async fn merge_base(&self, repository: &LocalRepository, git: &Git) -> Result<ObjectId, SourceError> {
        let revision = Self { point: BasePoint::Revision, ..self.clone() };
        let named = Box::pin(revision.commit(repository, git)).await?.to_string();
        let Some(head) = repository.head.map(|head| head.to_string()) else {
            return Err(self.unrelated(repository));
        };
        let found = ask(repository, git, &["merge-base", "--end-of-options", &named, &head]).await?;
        found.map_err(|_| self.unrelated(repository))
    }

    fn missing(&self, repository: &LocalRepository, said: &str) -> SourceError {
        let dir = repository.dir.display().to_string();
        // Git lists the candidates of an ambiguous abbreviation, one per line.
        let candidates: Vec<String> = said
            .lines()
            .filter_map(|line| line.strip_prefix("hint:   ").filter(|line| line.contains(" commit ")))
            .map(|line| line.trim().to_owned())
            .collect();
        if !candidates.is_empty() {
            return SourceError::AmbiguousRevision {
                repository: dir,
                revision: self.name.clone(),
                candidates,
            };
        }
        let hint = if repository.shallow {
            format!(
                "; the clone is shallow, so it lacks older commits and other branches: fetch the revision (git fetch \
                 --depth=1 origin REV), or everything (git fetch --unshallow; fetch-depth: 0 in a job's checkout){}",
                repository.refs.near(&self.name, NAMES_MAX)
            )
        } else {
            repository.refs.near(&self.name, NAMES_MAX)
        };
        SourceError::MissingRevision { repository: dir, revision: self.name.clone(), hint }
    }

    fn unrelated(&self, repository: &LocalRepository) -> SourceError {
        let hint = if repository.shallow {
            "; the clone is shallow, so the commit where they parted may be missing: fetch more of the history (git fetch \
             --deepen=N, or git fetch --unshallow; fetch-depth: 0 in a job's checkout)"
        } else {
            ""
        };
        SourceError::NoMergeBase {
            repository: repository.dir.display().to_string(),
            revision: self.name.clone(),
            hint,
        }
    }
}

/// Runs a git command that prints a commit. The inner error is git's standard error.
async fn ask(
    repository: &LocalRepository,
    git: &Git,
    args: &[&str],
) -> Result<Result<ObjectId, String>, SourceError> {
    let name = repository.dir.display().to_string();
    let place = if repository.bare { Place::Bare(&repository.git_dir) } else { Place::Here };
    let output = git
        .run(git.local(&repository.dir, place, args.iter().copied()))
        .await
        .map_err(|problem| problem.into_error(&name, "reading"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match (output.code, ObjectId::from_hex(text.trim().as_bytes())) {
        (Some(0), Ok(id)) => Ok(Ok(id)),
        // Git exits with 1 or 128 if the revision does not exist.
        (Some(0 | 1 | 128), _) => Ok(Err(output.stderr)),
        _ => Err(SourceError::Git { repository: name, detail: shown(&output.stderr, &[]) }),
    }
}
