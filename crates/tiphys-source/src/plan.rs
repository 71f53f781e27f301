//! What a tree is to be made of, its name, and how it is written.

mod write;

use std::collections::{BTreeMap, HashSet};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use tiphys_tree::{Modes, RepoPath, TreeKey};

use crate::SourceError;
use crate::objects::{Found, Objects, Reader};

pub(crate) use write::{list, write};

/// Changes when the same plan would give another tree than before.
const KEY_DOMAIN: &str = "tiphys 2026-11 git tree";

/// What a tree is made of: files and directories of git repositories, each at its place.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) objects: Vec<Objects>,
    pub(crate) parts: Vec<Part>,
    /// Where submodules are mounted or left out on purpose. Another one is an error where its repository has
    /// a `.gitmodules`, else an empty directory, as git does it.
    pub(crate) submodules: HashSet<RepoPath>,
    /// Per item of `objects`: whether there is a `.gitmodules`.
    pub(crate) has_gitmodules: Vec<bool>,
}

/// A file, link or directory with all that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Which of [`Plan::objects`] it is in.
    pub(crate) objects: usize,
    pub(crate) at: RepoPath,
    pub(crate) kind: EntryKind,
    pub(crate) id: ObjectId,
}

/// What one repository gives to a plan.
pub(crate) struct Survey {
    pub(crate) found: BTreeMap<RepoPath, (EntryKind, ObjectId)>,
    /// The paths that were asked for and those that links among them lead to; none for everything.
    pub(crate) paths: Option<Vec<RepoPath>>,
    pub(crate) gitmodules: Option<Vec<u8>>,
}

/// Finds the wanted paths of a tree. A path that is not there is left out: whether it had to be is the caller's business.
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
    // What a directory holds comes with it.
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
    /// Takes over what a repository gives, below a path.
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

    /// The tree's name. Equal trees of other commits and other repositories have the same.
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
