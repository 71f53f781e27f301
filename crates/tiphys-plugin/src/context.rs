//! The files of a run context: its JSON and the trees of other sources, in the run directory.
//!
//! No other run sees changes to these directories: they are part of the run's private view, or copies if a working directory is kept. A
//! source with the tree of the run itself is found in the view.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_model::access::{CONTEXT_FILE_VARIABLE, RefTree, RunContext};
use tiphys_tree::{StoreError, Tree, TreeKey};

/// Name of the directory in the run directory.
const DIRECTORY: &str = "context";

/// Name of the JSON file in it.
const FILE: &str = "context.json";

/// The content of a run context, before the run starts.
#[derive(Clone, Debug, Default)]
pub struct GivenContext {
    /// The context without [`RunContext::refs`], which is created from [`GivenContext::refs`], and without the root of the source, which is
    /// known when the run starts.
    pub context: RunContext,
    /// The files of the other sources, by their `ref`.
    pub refs: BTreeMap<String, GivenRef>,
}

impl GivenContext {
    /// Returns the distinct trees of other sources that differ from the run's own.
    pub(crate) fn other_trees(&self, own: &Tree) -> Vec<Tree> {
        let mut seen = BTreeSet::from([own.key()]);
        let trees = self.refs.values().map(|other| &other.tree);
        trees.filter(|tree| seen.insert(tree.key())).cloned().collect()
    }
}

/// The files of another source.
#[derive(Clone, Debug)]
pub struct GivenRef {
    /// Its tree.
    pub tree: Tree,
    /// Its repository URL in the Application.
    pub repo_url: String,
    /// Its resolved revision.
    pub revision: String,
}

/// An error while the files of a run context are written.
#[derive(Debug, thiserror::Error)]
pub enum ContextFilesError {
    /// The file system failed.
    #[error("cannot write {}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A tree could not be copied.
    #[error("cannot copy the files of the source `{name}`")]
    Copy {
        /// Its `ref`.
        name: String,
        /// Why.
        #[source]
        source: StoreError,
    },
}

/// The paths of one run.
pub(crate) struct RunPaths {
    /// The run directory.
    pub(crate) run_dir: PathBuf,
    /// The run's tree.
    pub(crate) tree: Tree,
    /// The path of the tree in the run's view.
    pub(crate) view: PathBuf,
    /// The paths of the trees of other sources in the view. Empty if a working directory is kept.
    pub(crate) others: BTreeMap<TreeKey, PathBuf>,
}

/// Writes the files of a run. Returns the variable with the path of the JSON.
pub(crate) async fn write(
    given: Arc<GivenContext>,
    paths: RunPaths,
) -> Result<(String, String), ContextFilesError> {
    let file = paths.run_dir.join(DIRECTORY).join(FILE);
    let written = tokio::task::spawn_blocking(move || write_all(&given, &paths)).await;
    match written {
        Ok(written) => written,
        Err(stopped) => Err(ContextFilesError::Io { path: file, source: io::Error::other(stopped) }),
    }
}

fn write_all(given: &GivenContext, paths: &RunPaths) -> Result<(String, String), ContextFilesError> {
    let directory = paths.run_dir.join(DIRECTORY);
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| ContextFilesError::Io { path, source }
    };
    DirBuilder::new().mode(0o700).create(&directory).map_err(failed(&directory))?;
    let mut context = given.context.clone();
    context.source.root = Some(paths.view.clone());
    for (index, (name, other)) in given.refs.iter().enumerate() {
        let path = if other.tree.key() == paths.tree.key() {
            paths.view.clone()
        } else if let Some(path) = paths.others.get(&other.tree.key()) {
            path.clone()
        } else {
            // Numbered, because a name may not be a valid directory name.
            let path = directory.join(format!("ref-{index}"));
            let copied = other.tree.copy_to(&path);
            copied.map_err(|source| ContextFilesError::Copy { name: name.clone(), source })?;
            path
        };
        let (repo_url, revision) = (other.repo_url.clone(), other.revision.clone());
        context.refs.insert(name.clone(), RefTree { path, repo_url, revision });
    }
    let file = directory.join(FILE);
    let mut opened =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file).map_err(failed(&file))?;
    opened.write_all(context.to_json().as_bytes()).map_err(failed(&file))?;
    let value =
        file.clone().into_os_string().into_string().map_err(|_| {
            failed(&file)(io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
        })?;
    Ok((CONTEXT_FILE_VARIABLE.to_owned(), value))
}
