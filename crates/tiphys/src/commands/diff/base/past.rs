//! Paths of the command line as they were at the base.

use std::path::{Path, PathBuf};

use tiphys_source::{BasePoint, BaseRevision, Nesting, PastFiles, Scope, SourceError, Sources, WorkTreePath};
use tiphys_store::PastInput;
use tiphys_tree::Modes;

use crate::failure::{Failure, chain};

/// A path's own files.
pub(super) const OWN: Scope = Scope::Only(Vec::new());

/// The base, and what reads work trees at it.
pub(super) struct Past<'a> {
    pub(super) sources: &'a Sources,
    pub(super) base: &'a BaseRevision,
}

/// A path at the base.
pub(super) struct PastPath {
    pub(super) place: WorkTreePath,
    pub(super) files: PastFiles,
}

/// What the base is called in messages and headings.
pub(super) fn label(base: &BaseRevision) -> String {
    match base.point {
        BasePoint::Revision => base.name.clone(),
        BasePoint::MergeBase => format!("merge base of {}", base.name),
    }
}

/// A repository or a revision that cannot be had. What a person has named and is not there is bad input.
pub(super) fn failed(error: &SourceError) -> Failure {
    let text = chain(error);
    match error {
        // It names the option itself.
        SourceError::Copy { .. } => Failure::bad_input(text),
        SourceError::MissingRevision { .. }
        | SourceError::AmbiguousRevision { .. }
        | SourceError::NoMergeBase { .. }
        | SourceError::LocalRepository { .. }
        | SourceError::PastPath { .. } => Failure::bad_input(format!("--base: {text}")),
        _ => Failure::rendering(format!("--base: {text}")),
    }
}

/// The failure of a path that has no other revision. `shown` is what a person calls it.
pub(super) fn in_no_repository(shown: &str) -> Failure {
    Failure::bad_input(format!("{shown} is in no git repository"))
        .hint("--base compares two revisions of a repository; --cluster-state compares with live objects")
}

/// The work trees that a path of the command line lies in.
pub(super) fn work_trees(option: &str, path: &Path) -> Result<Vec<WorkTreePath>, Failure> {
    WorkTreePath::find(path).map_err(|error| Failure::bad_input(format!("{option}{error}")))
}

impl Past<'_> {
    /// A path in a work tree, and the tops of all work trees around it; none for one that is in no work tree.
    pub(super) async fn path(
        &self,
        path: &Path,
        modes: Modes,
    ) -> Result<Option<(PastPath, Vec<PathBuf>)>, Failure> {
        let places = work_trees("", path)?;
        let tops = places.iter().map(|place| place.top.clone()).collect();
        let Some(place) = self.innermost(places).await? else { return Ok(None) };
        Ok(Some((self.at(place, modes).await?, tops)))
    }

    /// The work tree that is meant by a path in several: the innermost one, as it is by git, as far as the base leads there, too. The
    /// change does not choose it: what it has put in the place of a folder is no other repository to compare with.
    async fn innermost(&self, places: Vec<WorkTreePath>) -> Result<Option<WorkTreePath>, Failure> {
        let mut places = places.into_iter();
        let Some(mut outer) = places.next() else { return Ok(None) };
        for inner in places {
            let base = label(self.base);
            let problem = match self.nesting(&outer, &inner).await? {
                Nesting::Untracked | Nesting::SameAtBase => {
                    outer = inner;
                    continue;
                }
                // The base has no store there, whatever the inner repository has.
                Nesting::New => break,
                Nesting::Replaced { was, now } => format!("is {was} at {base} and {now} now"),
                Nesting::Moved { was, now } => {
                    format!("is a submodule from {was} at {base} and from {now} now")
                }
            };
            return Err(Failure::bad_input(format!(
                "{} of {} {problem}; a change must not choose the repository that it is compared with",
                outer.path,
                outer.top.display()
            )));
        }
        Ok(Some(outer))
    }

    /// The work tree whose base has a path in several: the outermost one that tracks it.
    pub(super) async fn outermost(&self, places: Vec<WorkTreePath>) -> Result<Option<WorkTreePath>, Failure> {
        let mut places = places.into_iter();
        let Some(mut outer) = places.next() else { return Ok(None) };
        for inner in places {
            if self.nesting(&outer, &inner).await? != Nesting::Untracked {
                break;
            }
            outer = inner;
        }
        Ok(Some(outer))
    }

    async fn nesting(&self, outer: &WorkTreePath, inner: &WorkTreePath) -> Result<Nesting, Failure> {
        self.sources.nesting(outer, inner, self.base).await.map_err(|error| failed(&error))
    }

    /// A path in a work tree, with the files there.
    async fn at(&self, place: WorkTreePath, modes: Modes) -> Result<PastPath, Failure> {
        let files = self.sources.past_files(&place, self.base, (&OWN, modes)).await;
        Ok(PastPath { place, files: files.map_err(|error| failed(&error))? })
    }

    /// A path in a work tree, with all files of the revision around it: programs there may read them. What cannot be had as a whole, for
    /// a submodule that is not there or a link that leads out of it, does without; then the reason is given, too.
    pub(super) async fn with_all(
        &self,
        place: WorkTreePath,
        modes: Modes,
    ) -> Result<(PastPath, Option<SourceError>), Failure> {
        match self.sources.past_files(&place, self.base, (&Scope::Whole, modes)).await {
            Ok(files) => Ok((PastPath { place, files }, None)),
            Err(error) => Ok((self.at(place, modes).await?, Some(error))),
        }
    }
}

impl PastPath {
    /// The path as a part of a store; none if the base has nothing there.
    pub(super) fn input(&self, base: &BaseRevision) -> Option<PastInput> {
        let (root, path) = self.files.tree()?;
        Some(PastInput {
            root: root.to_path_buf(),
            path: PathBuf::from(path.as_str()),
            work_tree: self.place.top.clone(),
            revision: label(base),
        })
    }

    /// A message about files of the base with the names that they have there.
    pub(super) fn named(&self, message: &str, base: &BaseRevision) -> String {
        let Some((root, _)) = self.files.tree() else { return message.to_owned() };
        message.replace(&format!("{}/", root.display()), &format!("{}:", label(base)))
    }
}
