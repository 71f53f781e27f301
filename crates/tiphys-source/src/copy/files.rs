//! The files of a local directory that replaces a repository: tracked and untracked ones, without those that git ignores.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use tiphys_model::limits::Limit;
use tiphys_process::quote_argument;
use tiphys_tree::{EntryPath, RepoPath, TreeLimits, WriteError, first_link};

use super::OpenCopy;
use crate::SourceError;
use crate::git::{Git, Place, shown};
use crate::narrowing::holds;
use crate::submodule::SUBMODULE_DEPTH_MAX;

/// Maximum number of symbolic links that are followed for one path.
const LINKS_MAX: usize = 40;

/// Lists all files.
pub(super) async fn list(
    copy: &OpenCopy,
    git: &Git,
    limits: TreeLimits,
) -> Result<BTreeSet<RepoPath>, SourceError> {
    let mut files = BTreeSet::new();
    if copy.git.is_some() {
        let mut waiting = vec![(RepoPath::default(), 0)];
        while let Some((below, depth)) = waiting.pop() {
            for submodule in list_repository(copy, git, &below, &mut files).await? {
                if depth == SUBMODULE_DEPTH_MAX {
                    let problem = format!("more than {SUBMODULE_DEPTH_MAX} submodules within each other");
                    return Err(SourceError::Copy { dir: copy.dir.clone(), problem });
                }
                waiting.push((submodule, depth + 1));
            }
        }
    } else {
        list_folder(&copy.dir, limits, &mut files)?;
    }
    Ok(files)
}

/// Returns the files at or below some paths, sorted. Symbolic links in the paths are followed.
pub(super) fn within(dir: &Path, files: &BTreeSet<RepoPath>, paths: &[RepoPath]) -> Vec<RepoPath> {
    let mut found = BTreeSet::new();
    for path in follow_links(dir, paths) {
        // The files below `a` are sorted among names with the prefix `a`, such as `a.yaml`.
        let behind = files.range(&path..).take_while(|file| file.as_str().starts_with(path.as_str()));
        found.extend(behind.filter(|file| holds(&path, file)).cloned());
    }
    found.into_iter().collect()
}

/// Adds the files of one work tree, and returns its submodules.
async fn list_repository(
    copy: &OpenCopy,
    git: &Git,
    below: &RepoPath,
    files: &mut BTreeSet<RepoPath>,
) -> Result<Vec<RepoPath>, SourceError> {
    let dir = below.below(&copy.dir);
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = git
        .run(git.local(&dir, Place::Here, args))
        .await
        .map_err(|problem| problem.into_error(&copy.shown, "listing files of"))?;
    if output.code != Some(0) {
        let problem = format!("git cannot list its files: {}", shown(&output.stderr, &[]));
        return Err(SourceError::Copy { dir, problem });
    }
    let has_gitmodules = dir.join(".gitmodules").is_file();
    let mut submodules = Vec::new();
    for name in output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        // An untracked nested repository. Git does not add its files either.
        if name.ends_with(b"/") {
            continue;
        }
        let place = dir.join(OsStr::from_bytes(name));
        let is_folder = match fs::symlink_metadata(&place) {
            // Deleted, but still in the index.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            metadata => metadata.is_ok_and(|metadata| metadata.is_dir()),
        };
        let path = below.join(text(copy, name)?)?;
        if !is_folder {
            files.insert(path);
        } else if place.join(".git").exists() {
            submodules.push(path);
        } else if has_gitmodules {
            let problem = format!(
                "its submodule {path} is not checked out; run git -C {} submodule update --init --recursive",
                quote_argument(&copy.shown)
            );
            return Err(SourceError::Copy { dir: copy.dir.clone(), problem });
        }
    }
    Ok(submodules)
}

/// Adds all files of a directory without git.
fn list_folder(dir: &Path, limits: TreeLimits, files: &mut BTreeSet<RepoPath>) -> Result<(), SourceError> {
    let mut waiting = vec![RepoPath::default()];
    while let Some(path) = waiting.pop() {
        let place = path.below(dir);
        let failed = |source| SourceError::Read { path: place.clone(), source };
        for entry in fs::read_dir(&place).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                let name = EntryPath::from(&path).join(name.as_bytes())?;
                return Err(SourceError::name(&dir.display().to_string(), name.as_bytes()));
            };
            if name == ".git" {
                continue;
            }
            let path = path.join(name)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                waiting.push(path);
            } else {
                files.insert(path);
            }
            if u64::try_from(files.len() + waiting.len()).unwrap_or(u64::MAX) > limits.entries_max {
                return Err(WriteError::TooManyEntries {
                    max: limits.entries_max,
                    limit: Limit::TREE_ENTRIES_MAX,
                }
                .into());
            }
        }
    }
    Ok(())
}

/// Returns the paths and, for each with a symbolic link in it, the link and the path with the link resolved.
fn follow_links(dir: &Path, paths: &[RepoPath]) -> Vec<RepoPath> {
    let mut all = Vec::new();
    for path in paths {
        let mut path = path.clone();
        for _ in 0..LINKS_MAX {
            all.push(path.clone());
            let Some(link) = first_link(dir, &path) else { break };
            let target = fs::read_link(link.below(dir)).ok();
            let rest = path.as_str()[link.as_str().len()..].trim_start_matches('/').to_owned();
            let parent = link.parent().unwrap_or_default();
            all.push(link);
            let next = target.as_deref().and_then(Path::to_str).and_then(|target| parent.join(target).ok());
            match next.and_then(|next| next.join(&rest).ok()) {
                Some(next) => path = next,
                None => break,
            }
        }
    }
    all
}

fn text<'a>(copy: &OpenCopy, name: &'a [u8]) -> Result<&'a str, SourceError> {
    std::str::from_utf8(name).map_err(|_| SourceError::name(copy.shown.as_ref(), name))
}
