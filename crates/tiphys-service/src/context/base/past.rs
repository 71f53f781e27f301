//! Paths of the options at the base revision.

use std::path::{Path, PathBuf};

use tiphys_source::{
    BasePoint, BaseRevision, Nesting, PastFiles, SourceError, Sources, TreeScope, WorkTreePath,
};
use tiphys_store::{FileName, PastInput, StoreInput};
use tiphys_tree::Modes;
use tokio_util::sync::CancellationToken;

use crate::context::options::Setting;
use crate::context::service::Service;
use crate::context::store::rendered;
use crate::error::{Input, Remedy, ServiceError, chain};

/// The files at a path, without those around it.
pub(crate) const OWN: TreeScope = TreeScope::Only(Vec::new());

/// Reads work trees at the base.
pub(crate) struct BaseReader<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) base: &'a BaseRevision,
}

/// A path at the base.
pub(crate) struct BasePath {
    pub(crate) place: WorkTreePath,
    pub(crate) files: PastFiles,
}

/// Returns the name of the base for messages and headings.
pub(crate) fn label(base: &BaseRevision) -> String {
    match base.point {
        BasePoint::Revision => base.name.clone(),
        BasePoint::MergeBase => format!("merge base of {}", base.name),
    }
}

/// Converts the error of a repository or revision. One that the caller named and that does not exist is invalid input.
pub(crate) fn failed(error: SourceError) -> ServiceError {
    match error {
        SourceError::Copy { .. } => {
            ServiceError::invalid_input_from(error).of_input(Input::Setting(&Setting::REPO.key))
        }
        SourceError::MissingRevision { .. }
        | SourceError::AmbiguousRevision { .. }
        | SourceError::NoMergeBase { .. }
        | SourceError::LocalRepository { .. }
        | SourceError::PastPath { .. } => ServiceError::invalid_input_from(error).of_input(Input::Base),
        _ => ServiceError::repository(error).of_input(Input::Base),
    }
}

/// Returns the error of a path outside of all repositories. `shown` is its name in the message.
pub(crate) fn in_no_repository(shown: &str) -> ServiceError {
    ServiceError::invalid_input(format!("{shown} is in no git repository"))
        .with_remedy(Remedy::CompareWithLive)
}

/// Returns the work trees that contain a path. `option` is the prefix of the error.
pub(crate) fn work_trees(option: &str, path: &Path) -> Result<Vec<WorkTreePath>, ServiceError> {
    WorkTreePath::find(path).map_err(|error| ServiceError::invalid_input(format!("{option}{error}")))
}

impl BaseReader<'_> {
    /// Returns a path at the base, and the top directories of all work trees around it. None for a path outside of all work trees.
    pub(crate) async fn path(
        &self,
        path: &Path,
        modes: Modes,
    ) -> Result<Option<(BasePath, Vec<PathBuf>)>, ServiceError> {
        let Some((place, tops)) = self.located(path).await? else { return Ok(None) };
        Ok(Some((self.at(place, modes).await?, tops)))
    }

    /// Returns a path of a store at the base, and the top directories of all work trees around it. Files that cannot be read count as none,
    /// with the reason: a change may repair them.
    pub(crate) async fn store(
        &self,
        path: &Path,
    ) -> Result<Option<(BasePath, Vec<PathBuf>, Option<String>)>, ServiceError> {
        let Some((place, tops)) = self.located(path).await? else { return Ok(None) };
        match self.sources.past_files(&place, self.base, (&OWN, Modes::Plain)).await {
            Ok(files) => Ok(Some((BasePath { place, files }, tops, None))),
            Err(error) if error.is_of_files() => {
                let problem = format!("at {}: {}", label(self.base), chain(&error));
                Ok(Some((BasePath { place, files: PastFiles::none() }, tops, Some(problem))))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Returns a directory at the base with all files of the revision, and the top directories of all work trees around it.
    pub(crate) async fn directory(
        &self,
        path: &Path,
    ) -> Result<Option<(BasePath, Vec<PathBuf>)>, ServiceError> {
        let Some((place, tops)) = self.located(path).await? else { return Ok(None) };
        match self.with_all(place, Modes::Plain).await? {
            (at_base, None) => Ok(Some((at_base, tops))),
            (_, Some(error)) => Err(failed(error)),
        }
    }

    /// Returns a path in its innermost work tree, and the top directories of all work trees around it.
    async fn located(&self, path: &Path) -> Result<Option<(WorkTreePath, Vec<PathBuf>)>, ServiceError> {
        let places = work_trees("", path)?;
        let tops = places.iter().map(|place| place.top.clone()).collect();
        Ok(self.innermost(places).await?.map(|place| (place, tops)))
    }

    /// Returns the innermost work tree of a path, as git does, that also exists at the base. A change must not choose it by putting a
    /// repository in the place of a directory.
    async fn innermost(&self, places: Vec<WorkTreePath>) -> Result<Option<WorkTreePath>, ServiceError> {
        let mut places = places.into_iter();
        let Some(mut outer) = places.next() else { return Ok(None) };
        for inner in places {
            let base = label(self.base);
            let problem = match self.nesting(&outer, &inner).await? {
                Nesting::Untracked | Nesting::SameAtBase => {
                    outer = inner;
                    continue;
                }
                // The base has no store at this path.
                Nesting::New => break,
                Nesting::Replaced { was, now } => format!("is {was} at {base} and {now} now"),
                Nesting::Moved { was, now } => {
                    format!("is a submodule from {was} at {base} and from {now} now")
                }
            };
            return Err(ServiceError::invalid_input(format!(
                "{} of {} {problem}; a change must not choose the repository that it is compared with",
                outer.path,
                outer.top.display()
            )));
        }
        Ok(Some(outer))
    }

    /// Returns the outermost work tree that tracks a path at the base.
    pub(crate) async fn outermost(
        &self,
        places: Vec<WorkTreePath>,
    ) -> Result<Option<WorkTreePath>, ServiceError> {
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

    async fn nesting(&self, outer: &WorkTreePath, inner: &WorkTreePath) -> Result<Nesting, ServiceError> {
        self.sources.nesting(outer, inner, self.base).await.map_err(failed)
    }

    /// Returns a path of a work tree at the base, with the files at the path.
    async fn at(&self, place: WorkTreePath, modes: Modes) -> Result<BasePath, ServiceError> {
        let files = self.sources.past_files(&place, self.base, (&OWN, modes)).await;
        Ok(BasePath { place, files: files.map_err(failed)? })
    }

    /// Returns a path of a work tree at the base, with all files of the revision, since programs at the path may read them. If the
    /// revision cannot be read as a whole, because of a missing submodule or a link out of it, only the files at the path are
    /// returned, with the reason.
    pub(crate) async fn with_all(
        &self,
        place: WorkTreePath,
        modes: Modes,
    ) -> Result<(BasePath, Option<SourceError>), ServiceError> {
        match self.sources.past_files(&place, self.base, (&TreeScope::Whole, modes)).await {
            Ok(files) => Ok((BasePath { place, files }, None)),
            Err(error) => Ok((self.at(place, modes).await?, Some(error))),
        }
    }
}

impl BasePath {
    /// Returns the path as an input of a store. None if it does not exist at the base.
    pub(crate) fn input(&self, base: &BaseRevision) -> Option<PastInput> {
        let (root, path) = self.files.tree()?;
        Some(PastInput {
            root: root.to_path_buf(),
            path: PathBuf::from(path.as_str()),
            work_tree: self.place.top.clone(),
            revision: label(base),
        })
    }

    /// Renders the directory. None if it does not exist at the base.
    pub(crate) async fn rendered(
        &self,
        service: &Service,
        base: &BaseRevision,
        cancel: &CancellationToken,
    ) -> Result<Option<StoreInput>, ServiceError> {
        let Some((root, path)) = self.files.tree() else { return Ok(None) };
        let name = FileName::past(&format!("{}:{}", label(base), path.as_str()));
        let text = rendered::manifests(service, root.to_path_buf(), path.as_str(), &name, cancel).await?;
        Ok(Some(StoreInput::Rendered(name, text)))
    }

    /// Whether the files at the path are known to be those of the working copy.
    pub(crate) async fn is_unchanged(&self, reader: &BaseReader<'_>) -> bool {
        let at_base = reader.sources.work_tree_identity(&self.place, Some(reader.base), &OWN).await;
        let at_head = reader.sources.work_tree_identity(&self.place, None, &OWN).await;
        matches!((at_base, at_head), (Ok(base), Ok(head)) if base == head)
    }

    /// Replaces the paths of checked-out files in a message by their names at the base.
    pub(crate) fn named(&self, message: &str, base: &BaseRevision) -> String {
        let Some((root, _)) = self.files.tree() else { return message.to_owned() };
        message.replace(&format!("{}/", root.display()), &format!("{}:", label(base)))
    }
}
