//! Paths of the command line as they were at the base.

use std::path::{Path, PathBuf};

use tiphys_source::{BasePoint, BaseRevision, PastFiles, SourceError, Sources, WorkTreePath};
use tiphys_store::PastInput;
use tiphys_tree::Modes;

use crate::failure::{Failure, chain};

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

/// The work trees that a path of the command line lies in.
pub(super) fn work_trees(option: &str, path: &Path) -> Result<Vec<WorkTreePath>, Failure> {
    WorkTreePath::find(path).map_err(|error| Failure::bad_input(format!("{option}{error}")))
}

impl Past<'_> {
    /// A path that must lie in a work tree: the innermost one is meant, as it is by git. `shown` is what a person calls it.
    pub(super) async fn path(&self, shown: &str, path: &Path, modes: Modes) -> Result<PastPath, Failure> {
        let place = work_trees("", path)?.pop().ok_or_else(|| {
            Failure::bad_input(format!("{shown} is in no git repository")).hint(
                "--base compares two revisions of a repository; --cluster-state compares with live objects",
            )
        })?;
        self.at(place, modes).await
    }

    /// A path in a work tree.
    pub(super) async fn at(&self, place: WorkTreePath, modes: Modes) -> Result<PastPath, Failure> {
        let files =
            self.sources.past_files(&place, self.base, modes).await.map_err(|error| failed(&error))?;
        Ok(PastPath { place, files })
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
