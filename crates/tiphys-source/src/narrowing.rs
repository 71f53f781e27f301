//! Trees with a part of a revision.

#[cfg(test)]
mod tests;

use tiphys_tree::RepoPath;

/// The part of a revision that a tree contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TreeScope {
    /// The whole revision.
    #[default]
    Whole,
    /// These files and directories, and the application's own directory.
    Only(Vec<RepoPath>),
    /// These files and directories.
    Exactly(Vec<RepoPath>),
}

impl TreeScope {
    /// Returns the paths, without those below another one. None for the whole revision.
    pub(crate) fn paths(&self, app_path: &RepoPath) -> Option<Vec<RepoPath>> {
        let mut kept: Vec<RepoPath> = match self {
            Self::Whole => return None,
            Self::Only(paths) => paths.iter().chain([app_path]).cloned().collect(),
            Self::Exactly(paths) => paths.clone(),
        };
        // Sorted by components, a path directly precedes those below it.
        kept.sort_by(|a, b| a.as_str().split('/').cmp(b.as_str().split('/')));
        kept.dedup_by(|path, outer| holds(outer, path));
        if kept.first().is_some_and(RepoPath::is_root) { None } else { Some(kept) }
    }
}

/// Whether a path is this directory or within it.
pub(crate) fn holds(directory: &RepoPath, path: &RepoPath) -> bool {
    below(directory, path).is_some()
}

/// Returns the rest of a path below a directory.
pub(crate) fn below<'a>(directory: &RepoPath, path: &'a RepoPath) -> Option<&'a str> {
    if directory.is_root() {
        return Some(path.as_str());
    }
    let rest = path.as_str().strip_prefix(directory.as_str())?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
