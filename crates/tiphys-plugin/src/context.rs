//! The files of a run context: its JSON and the folders of other sources, beside the view of the tree and gone with the run.
//!
//! Nobody else sees what a plugin does to these folders: they are part of the run's view, and copies where a working folder is kept and there
//! is no view. A source whose tree is the run's own stands in the view already.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_access::{CONTEXT_FILE_VARIABLE, RefTree, RunContext};
use tiphys_tree::{StoreError, Tree, TreeKey};

/// Name of the folder in the run's own one.
const FOLDER: &str = "context";

/// Name of the JSON file in it.
const FILE: &str = "context.json";

/// What a plugin is told about a run, before there is a run.
#[derive(Clone, Debug, Default)]
pub struct GivenContext {
    /// All but [`RunContext::refs`], which is made of [`GivenContext::refs`], and the root of the source, which is the run's view.
    pub context: RunContext,
    /// The files of the other sources, by their `ref`.
    pub refs: BTreeMap<String, GivenRef>,
}

impl GivenContext {
    /// The trees of other sources that are not the run's own, each once.
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
    /// Its repository as the Application names it.
    pub repo_url: String,
    /// The revision that was resolved.
    pub revision: String,
}

/// Why the files of a run context could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ContextFilesError {
    /// The file system failed.
    #[error("cannot write {}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's answer.
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

/// What stands where for one run.
pub(crate) struct Places {
    /// The run's own folder.
    pub(crate) run_dir: PathBuf,
    /// The run's tree.
    pub(crate) tree: Tree,
    /// Where the run sees it.
    pub(crate) view: PathBuf,
    /// Where it sees those of other sources; none where a working folder is kept.
    pub(crate) others: BTreeMap<TreeKey, PathBuf>,
}

/// Writes the files of a run; the variable that names the JSON.
pub(crate) async fn write(
    given: Arc<GivenContext>,
    places: Places,
) -> Result<(String, String), ContextFilesError> {
    let file = places.run_dir.join(FOLDER).join(FILE);
    let written = tokio::task::spawn_blocking(move || write_all(&given, &places)).await;
    match written {
        Ok(written) => written,
        Err(stopped) => Err(ContextFilesError::Io { path: file, source: io::Error::other(stopped) }),
    }
}

fn write_all(given: &GivenContext, places: &Places) -> Result<(String, String), ContextFilesError> {
    let folder = places.run_dir.join(FOLDER);
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| ContextFilesError::Io { path, source }
    };
    DirBuilder::new().mode(0o700).create(&folder).map_err(failed(&folder))?;
    let mut context = given.context.clone();
    context.source.root = Some(places.view.clone());
    for (index, (name, other)) in given.refs.iter().enumerate() {
        let path = if other.tree.key() == places.tree.key() {
            places.view.clone()
        } else if let Some(path) = places.others.get(&other.tree.key()) {
            path.clone()
        } else {
            // Not by its name, which may be no name of a folder.
            let path = folder.join(format!("ref-{index}"));
            let copied = other.tree.copy_to(&path);
            copied.map_err(|source| ContextFilesError::Copy { name: name.clone(), source })?;
            path
        };
        let (repo_url, revision) = (other.repo_url.clone(), other.revision.clone());
        context.refs.insert(name.clone(), RefTree { path, repo_url, revision });
    }
    let file = folder.join(FILE);
    let mut opened =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file).map_err(failed(&file))?;
    opened.write_all(context.to_json().as_bytes()).map_err(failed(&file))?;
    let value =
        file.clone().into_os_string().into_string().map_err(|_| {
            failed(&file)(io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
        })?;
    Ok((CONTEXT_FILE_VARIABLE.to_owned(), value))
}
