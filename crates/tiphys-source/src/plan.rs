//! Plans of trees: their entries from git repositories, their keys, their files, and how they are written.

mod list;
mod write;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use tiphys_tree::{Modes, PathError, RepoPath, TreeKey};

use crate::SourceError;
use crate::checkout::{ATTRIBUTES_FILE, CheckoutSource};
use crate::objects::{Found, Reader};

pub(crate) use list::{Item, Listing, list};
pub(crate) use write::write;

/// Changed when the same plan gives another tree than before.
const KEY_DOMAIN: &str = "tiphys 2026-12 git tree";

/// The files and directories of git repositories in a tree, with their paths.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) repositories: Vec<PlannedRepository>,
    pub(crate) parts: Vec<Part>,
    /// The paths of submodules that are resolved, or left out by `update = none`. Any other gitlink is an error if its repository has a
    /// `.gitmodules`, and an empty directory otherwise, as in git.
    pub(crate) submodules: HashSet<RepoPath>,
}

/// A repository with files in a tree.
pub(crate) struct PlannedRepository {
    pub(crate) source: CheckoutSource,
    /// Its directory in the tree.
    pub(crate) at: RepoPath,
    has_gitmodules: bool,
    /// Each `.gitattributes` above the parts, with its path in the tree.
    attributes: BTreeMap<RepoPath, ObjectId>,
}

/// A file, symbolic link, or directory with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Index in [`Plan::repositories`].
    pub(crate) repository: usize,
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
    /// Each `.gitattributes` above the entries.
    attributes: BTreeMap<RepoPath, ObjectId>,
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
        return Ok(Survey { found, paths: None, gitmodules, attributes: BTreeMap::new() });
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
    let attributes = attributes_above(reader, tree, &found)?;
    Ok(Survey { found, paths: Some(paths), gitmodules, attributes })
}

/// Returns each `.gitattributes` in a directory above the entries of a tree.
fn attributes_above(
    reader: &mut Reader,
    tree: ObjectId,
    entries: &BTreeMap<RepoPath, (EntryKind, ObjectId)>,
) -> Result<BTreeMap<RepoPath, ObjectId>, SourceError> {
    let above = |path: &RepoPath| std::iter::successors(path.parent(), RepoPath::parent);
    let directories: BTreeSet<RepoPath> = entries.keys().flat_map(above).collect();
    let mut attributes = BTreeMap::new();
    for directory in directories {
        let file = directory.join(ATTRIBUTES_FILE)?;
        // A link does not count for git.
        if let Some(Found::Entry(EntryKind::Blob | EntryKind::BlobExecutable, id)) =
            reader.find(tree, &file)?.first()
        {
            attributes.insert(file, *id);
        }
    }
    Ok(attributes)
}

impl Plan {
    /// Adds the entries of a repository below a path.
    pub(crate) fn add(
        &mut self,
        source: CheckoutSource,
        below: &RepoPath,
        survey: &Survey,
    ) -> Result<(), SourceError> {
        let index = self.repositories.len();
        let attributes = survey.attributes.iter();
        let attributes = attributes.map(|(path, id)| Ok((below.join(path.as_str())?, *id)));
        let attributes = attributes.collect::<Result<_, PathError>>()?;
        self.repositories.push(PlannedRepository {
            source,
            at: below.clone(),
            has_gitmodules: survey.gitmodules.is_some(),
            attributes,
        });
        for (path, (kind, id)) in &survey.found {
            let at = below.join(path.as_str())?;
            self.parts.push(Part { repository: index, at, kind: *kind, id: *id });
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
            if let Some(repository) = self.repositories.get(part.repository) {
                hasher.update(&[u8::from(repository.has_gitmodules)]);
                // Only attributes at the top of a repository may define macros.
                hasher.update(&u64::try_from(repository.at.as_str().len()).unwrap_or(u64::MAX).to_le_bytes());
            }
        }
        // Attributes and settings that convert files and are in no part.
        let attributes = self.repositories.iter().flat_map(|repository| &repository.attributes);
        let attributes = attributes.map(|(path, id)| (path, b"a", id.as_slice().to_vec()));
        let settings = self.repositories.iter();
        let settings = settings
            .filter_map(|repository| Some((&repository.at, b"c", repository.source.settings.bytes()?)));
        for (path, kind, value) in attributes.chain(settings).collect::<BTreeSet<_>>() {
            for bytes in [path.as_str().as_bytes(), kind, &value] {
                hasher.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
                hasher.update(bytes);
            }
        }
        TreeKey(*hasher.finalize().as_bytes())
    }
}
