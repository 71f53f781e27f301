//! The annotation `manifest-generate-paths`, compared with the inputs.

use tiphys_engine::{GENERATE_PATHS_ANNOTATION, generate_paths};
use tiphys_model::resources::Application;
use tiphys_source::{ATTRIBUTES_FILE, RevisionIndex};
use tiphys_tree::RepoPath;

use super::paths::PathCollector;
use super::{Finder, InputFiles, InputPaths, Reach, SourceInputs};
use crate::renderer::Renderer;

/// Input paths of a source that the annotation does not select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnselectedPaths {
    /// The position of the source, from 1.
    pub position: usize,
    /// The paths, sorted. Each exists, or files below it do.
    pub paths: Vec<RepoPath>,
}

impl Renderer {
    /// Returns the input paths in the sources' own repositories that the annotation [`GENERATE_PATHS_ANNOTATION`] does not select, although
    /// files are there. Sources without any, and those of which the whole revision counts, are left out.
    pub async fn unselected_paths(
        &self,
        application: &Application,
        inputs: &[SourceInputs],
    ) -> Vec<UnselectedPaths> {
        let finder = Finder { renderer: self, application, reach: Reach::Copies };
        let annotation = application.metadata.annotations.get(GENERATE_PATHS_ANNOTATION).map(String::as_str);
        let sources = application.spec.effective_sources();
        let mut all = Vec::new();
        for SourceInputs { position, files, .. } in inputs.iter().filter(|one| one.reference.is_none()) {
            let InputFiles::Paths { paths, .. } = files else { continue };
            let Some(source) = position.checked_sub(1).and_then(|index| sources.get(index)) else { continue };
            let Some(selected) = generate_paths(annotation, &source.path) else { continue };
            // It has been made for the inputs.
            let Ok(Some(known)) = finder.index_of(source).await else { continue };
            let paths = unselected(&known.index, &selected, paths);
            if !paths.is_empty() {
                all.push(UnselectedPaths { position: *position, paths });
            }
        }
        all
    }
}

/// Returns the paths with a file that is neither at nor below a selected path, nor what links on that path lead to.
fn unselected(index: &RevisionIndex, selected: &[String], inputs: &InputPaths) -> Vec<RepoPath> {
    let mut collector = PathCollector::new(index);
    let written: Vec<RepoPath> = selected.iter().flat_map(|path| RepoPath::new(path)).collect();
    let real: Vec<RepoPath> = written.iter().flat_map(|path| collector.follow(path)).collect();
    // The links of the selected paths are selected, too.
    let links = collector.finish().all.into_keys();
    let selected: Vec<RepoPath> = written.into_iter().chain(real).chain(links).collect();
    let is_selected = |path: &RepoPath| selected.iter().any(|outer| is_inside(path, outer));
    // Argo CD looks for changed manifests, not for how files are checked out.
    let is_looked_for = |path: &&RepoPath| path.file_name() != Some(ATTRIBUTES_FILE);
    let lacks_one = |path: &&RepoPath| inputs.files(index, path).any(|file| !is_selected(&file.path));
    inputs.all.keys().filter(is_looked_for).filter(lacks_one).cloned().collect()
}

/// Whether a path equals another one or is below it.
fn is_inside(path: &RepoPath, outer: &RepoPath) -> bool {
    let rest = path.as_str().strip_prefix(outer.as_str());
    outer.is_root() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
