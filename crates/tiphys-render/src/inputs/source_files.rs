//! Which files a source has.

use std::sync::Arc;

use tiphys_engine::HELM_PLUGIN;
use tiphys_source::RevisionIndex;
use tiphys_tree::kustomization::KUSTOMIZATION_BYTES_MAX;
use tiphys_tree::{Depth, RepoPath, Tree};

use super::paths::PathCollector;
use super::tells_of_others;
use crate::prepare::{Prepared, Work};
use crate::renderer::Renderer;

/// The maximum size of a file of a chart whose existence is checked, in bytes; a larger one exists, too.
const READ_BYTES_MAX: u64 = 0;

/// The files of the whole repository of a source, or of its chart. Not those that its plugin gets, which may be fewer.
#[derive(Clone, Debug)]
pub struct SourceFiles(Files);

#[derive(Clone, Debug)]
enum Files {
    Repository(Arc<RevisionIndex>),
    Chart(Tree),
}

impl SourceFiles {
    /// Whether a file does not exist. False if that is not known.
    pub fn lack(&self, path: &RepoPath) -> bool {
        match &self.0 {
            Files::Repository(index) => PathCollector::new(index).has_file(path) == Ok(false),
            Files::Chart(tree) => matches!(tree.read(path, READ_BYTES_MAX), Ok(None)),
        }
    }

    /// Returns the names of what is in a directory.
    pub fn names_in(&self, directory: &RepoPath) -> Vec<String> {
        match &self.0 {
            Files::Repository(index) => {
                let names = PathCollector::new(index).names_in(directory).unwrap_or_default();
                names.into_iter().map(str::to_owned).collect()
            }
            Files::Chart(tree) => {
                let files = tree.files(directory, Depth::Folder).unwrap_or_default();
                files.iter().filter_map(RepoPath::file_name).map(str::to_owned).collect()
            }
        }
    }
}

impl Renderer {
    /// Returns the files of a chart's source, if they can be read. Its plugin is the only one whose parameters name files, and their index is made
    /// for its inputs anyway.
    pub(crate) async fn source_files(&self, prepared: &Prepared) -> Option<SourceFiles> {
        let Work::Plugin { chosen, request, .. } = &prepared.work else { return None };
        if chosen.plugin.name() != HELM_PLUGIN {
            return None;
        }
        if !prepared.source.chart.is_empty() {
            return Some(SourceFiles(Files::Chart(request.tree.clone())));
        }
        let index = self.sources.index(&prepared.revision, tells_of_others, KUSTOMIZATION_BYTES_MAX);
        Box::pin(index).await.ok().map(|index| SourceFiles(Files::Repository(index)))
    }
}
