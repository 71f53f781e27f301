//! The paths that an application says it is made from: `argocd.argoproj.io/manifest-generate-paths`.

#[cfg(test)]
mod tests;

use tiphys_tree::{PathError, RepoPath};

/// Which part of a revision a tree holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    #[default]
    Whole,
    /// These files and directories, and the application's own directory.
    Only(Vec<RepoPath>),
}

impl Scope {
    /// Reads the annotation: paths between `;`, those with a leading `/` from the repository's root, others from the
    /// application's directory. White space around a path is dropped; of a glob, the directory before it counts.
    /// An annotation without a path means all.
    ///
    /// Argo CD sends the smallest directory that holds all the paths (`spec/cmp.md` 7.6); here only the paths themselves
    /// are sent (`design.md` section 5).
    pub fn from_annotation(annotation: &str, app_path: &RepoPath) -> Result<Self, PathError> {
        let mut paths = Vec::new();
        for item in annotation.split(';').map(str::trim).filter(|item| !item.is_empty()) {
            let directory = without_glob(item);
            let path = match directory.strip_prefix('/') {
                Some(from_root) => RepoPath::new(from_root.trim_start_matches('/'))?,
                None => app_path.join(directory)?,
            };
            paths.push(path);
        }
        Ok(if paths.is_empty() { Self::Whole } else { Self::Only(paths) })
    }

    /// The paths, the application's among them, without those that another one holds; none for all of the revision.
    pub(crate) fn paths(&self, app_path: &RepoPath) -> Option<Vec<RepoPath>> {
        let Self::Only(paths) = self else { return None };
        let mut all: Vec<&RepoPath> = paths.iter().chain([app_path]).collect();
        all.sort();
        all.dedup();
        let mut kept: Vec<RepoPath> = Vec::new();
        for path in &all {
            if !all.iter().any(|other| *other != *path && holds(other, path)) {
                kept.push((*path).clone());
            }
        }
        if kept.iter().any(RepoPath::is_root) { None } else { Some(kept) }
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

fn without_glob(path: &str) -> &str {
    match path.find(['*', '?', '[']) {
        None => path,
        Some(glob) => path[..glob].rfind('/').map_or("", |slash| &path[..=slash]),
    }
}
