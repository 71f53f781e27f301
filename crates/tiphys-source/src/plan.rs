//! Plans of trees: their entries from git repositories, their keys, and how they are written.

mod write;

use std::collections::{BTreeMap, HashSet};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use tiphys_tree::{Modes, RepoPath, TreeKey};

use crate::SourceError;
use crate::objects::{Found, Objects, Reader};

pub(crate) use write::{list, write};

/// Changed when the same plan gives another tree than before.
const KEY_DOMAIN: &str = "tiphys 2026-11 git tree";

/// The files and directories of git repositories in a tree, with their paths.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) objects: Vec<Objects>,
    pub(crate) parts: Vec<Part>,
    /// The paths of submodules that are resolved, or left out by `update = none`. Any other gitlink is an error if its repository has a
    /// `.gitmodules`, and an empty directory otherwise, as in git.
    pub(crate) submodules: HashSet<RepoPath>,
    /// Whether each item of `objects` has a `.gitmodules`.
    pub(crate) has_gitmodules: Vec<bool>,
}

/// A file, symbolic link, or directory with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Index in [`Plan::objects`].
    pub(crate) objects: usize,
    pub(crate) at: RepoPath,
    pub(crate) kind: EntryKind,
    pub(crate) id: ObjectId,
}

/// The selected entries of one repository.
pub(crate) struct Survey {
    pub(crate) found: BTreeMap<RepoPath, (EntryKind, ObjectId)>,
    /// The requested paths and the targets of symbolic links in them. None for the whole repository.
    pub(crate) paths: Option<Vec<RepoPath>>,
    pub(crate) gitmodules: Option<Vec<u8>>,
}

/// Selects the requested paths of a tree. Missing paths are left out.
pub(crate) fn survey(
    reader: &mut Reader,
    tree: ObjectId,
    paths: Option<&[RepoPath]>,
) -> Result<Survey, SourceError> {
    let modules = reader
        .entries(tree)?
        .into_iter()
        .find(|entry| entry.name == ".gitmodules" && entry.kind != EntryKind::Link)
        .map(|entry| entry.id);
    let gitmodules = modules.map(|id| reader.blob(id).map(<[u8]>::to_vec)).transpose()?;
    let Some(wanted) = paths else {
        let found = BTreeMap::from([(RepoPath::default(), (EntryKind::Tree, tree))]);
        return Ok(Survey { found, paths: None, gitmodules });
    };
    let mut found = BTreeMap::new();
    let mut paths = wanted.to_vec();
    for path in wanted {
        let mut place = path.clone();
        for step in reader.find(tree, path)? {
            match step {
                Found::Entry(kind, id) => drop(found.insert(place.clone(), (kind, id))),
                Found::Link(link, id, next) => {
                    found.insert(link, (EntryKind::Link, id));
                    if let Some(next) = next {
                        paths.push(next.clone());
                        place = next;
                    }
                }
                Found::Nothing | Found::Submodule => {}
            }
        }
    }
    // The entries below a selected directory are part of it.
    let directories: HashSet<RepoPath> = found
        .iter()
        .filter(|(_, (kind, _))| *kind == EntryKind::Tree)
        .map(|(path, _)| path.clone())
        .collect();
    found.retain(|path, _| {
        !std::iter::successors(path.parent(), RepoPath::parent).any(|parent| directories.contains(&parent))
    });
    Ok(Survey { found, paths: Some(paths), gitmodules })
}

impl Plan {
    /// Adds the entries of a repository below a path.
    pub(crate) fn add(
        &mut self,
        objects: Objects,
        below: &RepoPath,
        survey: &Survey,
    ) -> Result<(), SourceError> {
        let index = self.objects.len();
        self.objects.push(objects);
        self.has_gitmodules.push(survey.gitmodules.is_some());
        for (path, (kind, id)) in &survey.found {
            let at = below.join(path.as_str())?;
            self.parts.push(Part { objects: index, at, kind: *kind, id: *id });
        }
        Ok(())
    }

    /// Returns the key of the tree. Equal trees of different commits and repositories have the same key.
    pub(crate) fn key(&self, modes: Modes) -> TreeKey {
        let mut parts: Vec<&Part> = self.parts.iter().collect();
        parts.sort_by(|a, b| a.at.cmp(&b.at));
        let mut hasher = blake3::Hasher::new_derive_key(KEY_DOMAIN);
        hasher.update(match modes {
            Modes::Plain => b"plain    ",
            Modes::Preserved => b"preserved",
        });
        for part in parts {
            let path = part.at.as_str().as_bytes();
            hasher.update(&u64::try_from(path.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(path);
            hasher.update(match part.kind {
                EntryKind::Tree => b"t",
                EntryKind::Blob => b"f",
                EntryKind::BlobExecutable => b"x",
                EntryKind::Link => b"l",
                EntryKind::Commit => b"s",
            });
            hasher.update(part.id.as_slice());
            let demands = self.has_gitmodules.get(part.objects).copied().unwrap_or_default();
            hasher.update(&[u8::from(demands)]);
        }
        TreeKey(*hasher.finalize().as_bytes())
    }
}
