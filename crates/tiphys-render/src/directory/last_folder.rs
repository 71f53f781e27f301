//! Consecutive applications of the same directory share its documents.

use std::sync::{Arc, Mutex, PoisonError};

use tiphys_engine::DirectoryPlan;
use tiphys_tree::{RepoPath, Tree, TreeKey};
use tokio::sync::OnceCell;

use super::{DirectoryManifests, JsonnetEvaluator, Part, read};
use crate::error::SourceFailure;

/// A directory and its selected files. Trees with the same key have the same content.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Folder {
    tree: TreeKey,
    path: RepoPath,
    plan: DirectoryPlan,
}

/// The manifests of the last directory. Those of all directories may not fit in memory.
#[derive(Debug, Default)]
pub(crate) struct LastFolder {
    last: Mutex<Option<(Folder, Arc<OnceCell<DirectoryManifests>>)>>,
}

impl LastFolder {
    /// Returns the manifests of a directory. Reads them unless it is the last one. Errors are not cached.
    pub(crate) async fn read(
        &self,
        tree: &Tree,
        path: &RepoPath,
        plan: &DirectoryPlan,
        bytes_max: u64,
        jsonnet: &JsonnetEvaluator<'_>,
    ) -> Result<DirectoryManifests, SourceFailure> {
        let folder = Folder { tree: tree.key(), path: path.clone(), plan: plan.clone() };
        let manifests = self.slot(folder.clone());
        let reading = async || {
            let read_tree = tree.clone();
            // Reading and parsing a large folder must not hold up the other applications.
            let read = move || read(&read_tree, &folder.path, &folder.plan, bytes_max);
            let read = tokio::task::spawn_blocking(read).await;
            let files = read.map_err(|error| SourceFailure::Internal(error.to_string()))??;
            let mut documents = Vec::new();
            for part in files.parts {
                match part {
                    Part::Documents(of_file) => documents.extend(of_file),
                    Part::Jsonnet(file) => {
                        documents.extend(jsonnet.evaluate(tree, path, &file, &plan.jsonnet).await?);
                    }
                }
            }
            Ok(DirectoryManifests { documents: documents.into(), warnings: files.warnings })
        };
        manifests.get_or_try_init(reading).await.cloned()
    }

    fn slot(&self, folder: Folder) -> Arc<OnceCell<DirectoryManifests>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, manifests)) if *known == folder => Arc::clone(manifests),
            _ => Arc::clone(&last.insert((folder, Arc::default())).1),
        }
    }
}

#[cfg(test)]
mod tests;
