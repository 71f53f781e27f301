//! Trees that hold a part of a revision.

#[cfg(test)]
mod tests;

use tiphys_tree::RepoPath;

/// Which part of a revision a tree holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TreeScope {
    /// All of it.
    #[default]
    Whole,
    /// These files and directories, and the application's own directory.
    Only(Vec<RepoPath>),
}

impl TreeScope {
    /// The paths, the application's among them, without those that another one holds; none for all of the revision.
    pub(crate) fn paths(&self, app_path: &RepoPath) -> Option<Vec<RepoPath>> {
        let Self::Only(paths) = self else { return None };
        let mut kept: Vec<RepoPath> = paths.iter().chain([app_path]).cloned().collect();
        // By components, so that what a path holds follows it at once.
        kept.sort_by(|a, b| a.as_str().split('/').cmp(b.as_str().split('/')));
        kept.dedup_by(|path, outer| holds(outer, path));
        if kept.first().is_some_and(RepoPath::is_root) { None } else { Some(kept) }
    }
}

/// Whether a path is this directory or within it.
pub(crate) fn holds(directory: &RepoPath, path: &RepoPath) -> bool {
    below(directory, path).is_some()
}

/// What is left of a path behind a directory that holds it.
pub(crate) fn below<'a>(directory: &RepoPath, path: &'a RepoPath) -> Option<&'a str> {
    if directory.is_root() {
        return Some(path.as_str());
    }
    let rest = path.as_str().strip_prefix(directory.as_str())?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
