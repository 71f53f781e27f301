//! Objects of a git repository, read in this process: commits, trees and files, without a checkout and so without a lock.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use gix_object::{Find as _, FindHeader as _, Kind, TreeRefIter};
use gix_odb::HandleArc;
use tiphys_tree::RepoPath;

use crate::SourceError;

/// Maximum size of an object in bytes. It is in memory while it is read.
const OBJECT_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// Maximum number of nested tags.
const TAG_DEPTH_MAX: usize = 16;

/// Maximum number of symbolic links that are followed for one path.
const LINKS_MAX: usize = 40;

/// Maximum length of a symbolic link's target in bytes, `PATH_MAX` on Linux.
const LINK_BYTES_MAX: usize = 4096;

/// The objects of one repository. Cheap to clone; each thread takes a reader.
#[derive(Clone)]
pub(crate) struct Objects {
    store: Arc<gix_odb::Store>,
    folder: Arc<Path>,
    repository: Arc<str>,
}

/// A reader for one thread.
pub(crate) struct Reader {
    handle: HandleArc,
    repository: Arc<str>,
    buffer: Vec<u8>,
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: EntryKind,
    pub(crate) id: ObjectId,
}

/// The result of resolving an abbreviated commit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Abbreviation {
    None,
    One(ObjectId),
    Several(Vec<ObjectId>),
}

/// The result of resolving a path in a tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The path does not exist.
    Nothing,
    /// An entry.
    Entry(EntryKind, ObjectId),
    /// A submodule, or a path in one.
    Submodule,
    /// The first symbolic link in the path, and the path with the link resolved. None if that leads out of the tree.
    Link(RepoPath, ObjectId, Option<RepoPath>),
}

impl Objects {
    /// Opens the `objects` directory of a repository.
    pub(crate) fn open(folder: &Path, repository: &Arc<str>) -> Result<Self, SourceError> {
        let options = gix_odb::store::init::Options {
            alloc_limit_bytes: Some(OBJECT_BYTES_MAX),
            current_dir: Some(folder.to_path_buf()),
            ..Default::default()
        };
        let store = gix_odb::Store::at_opts(
            folder.to_path_buf(),
            gix_hash::Kind::Sha1,
            &mut std::iter::empty(),
            options,
        )
        .map_err(|error| SourceError::Objects {
            repository: repository.to_string(),
            detail: error.to_string(),
        })?;
        Ok(Self { store: Arc::new(store), folder: folder.into(), repository: Arc::clone(repository) })
    }

    /// Returns the `objects` directory.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the name of the repository for errors.
    pub(crate) fn repository(&self) -> &str {
        &self.repository
    }

    pub(crate) fn reader(&self) -> Reader {
        let mut handle = HandleArc::from(self.store.to_handle_arc());
        handle.prevent_pack_unload();
        Reader { handle, repository: Arc::clone(&self.repository), buffer: Vec::new() }
    }
}

impl Reader {
    /// Returns the name of the repository for errors.
    pub(crate) fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the commit of an object id, with tags followed. None if the repository does not have it.
    pub(crate) fn commit(&mut self, id: ObjectId) -> Result<Option<ObjectId>, SourceError> {
        let mut id = id;
        for _ in 0..TAG_DEPTH_MAX {
            let Some((kind, data)) = self.object(id)? else { return Ok(None) };
            match kind {
                Kind::Commit => return Ok(Some(id)),
                Kind::Tag => {
                    let target = header_id(data, b"object ");
                    id = target.ok_or_else(|| self.broken(id, "a tag without an object"))?;
                }
                Kind::Tree | Kind::Blob => return Ok(None),
            }
        }
        Err(self.broken(id, "too many tags in a row"))
    }

    /// Returns the tree of a commit.
    pub(crate) fn tree_of(&mut self, commit: ObjectId) -> Result<ObjectId, SourceError> {
        match self.object(commit)? {
            Some((Kind::Commit, data)) => {
                let tree = header_id(data, b"tree ");
                tree.ok_or_else(|| self.broken(commit, "a commit without a tree"))
            }
            _ => Err(self.broken(commit, "not a commit")),
        }
    }

    /// Resolves an abbreviated commit.
    pub(crate) fn abbreviated(&mut self, digits: &str) -> Result<Abbreviation, SourceError> {
        let Ok(prefix) = gix_hash::Prefix::from_hex(&digits.to_ascii_lowercase()) else {
            return Ok(Abbreviation::None);
        };
        let mut ids = HashSet::new();
        self.handle.lookup_prefix(prefix, Some(&mut ids)).map_err(|error| SourceError::Objects {
            repository: self.repository.to_string(),
            detail: error.to_string(),
        })?;
        let mut commits = Vec::new();
        for id in ids {
            if matches!(self.object(id)?, Some((Kind::Commit, _))) {
                commits.push(id);
            }
        }
        commits.sort();
        Ok(match commits.as_slice() {
            [] => Abbreviation::None,
            [one] => Abbreviation::One(*one),
            _ => Abbreviation::Several(commits),
        })
    }

    /// Returns the entries of a tree, in git's order.
    pub(crate) fn entries(&mut self, tree: ObjectId) -> Result<Vec<Entry>, SourceError> {
        let repository = Arc::clone(&self.repository);
        let broken = |what: &str| SourceError::Objects {
            repository: repository.to_string(),
            detail: format!("{tree}: {what}"),
        };
        let data = match self.object(tree)? {
            Some((Kind::Tree, data)) => data,
            Some(_) => return Err(broken("not a tree")),
            None => return Err(broken("missing")),
        };
        let mut entries = Vec::new();
        for entry in TreeRefIter::from_bytes(data, gix_hash::Kind::Sha1) {
            let entry = entry.map_err(|error| broken(&error.to_string()))?;
            let bytes: &[u8] = entry.filename;
            let name = std::str::from_utf8(bytes)
                .ok()
                .filter(|name| {
                    !name.is_empty() && *name != "." && *name != ".." && !name.contains(['/', '\0'])
                })
                .ok_or_else(|| SourceError::name(&repository, bytes))?;
            // Git does not check out such an entry either, in any letter case.
            if !name.eq_ignore_ascii_case(".git") {
                entries.push(Entry {
                    name: name.to_owned(),
                    kind: entry.mode.kind(),
                    id: entry.oid.to_owned(),
                });
            }
        }
        Ok(entries)
    }

    /// Returns the content of a file, or the target of a symbolic link.
    pub(crate) fn blob(&mut self, id: ObjectId) -> Result<&[u8], SourceError> {
        let repository = Arc::clone(&self.repository);
        match self.object(id)? {
            Some((Kind::Blob, data)) => Ok(data),
            found => Err(SourceError::Objects {
                repository: repository.to_string(),
                detail: format!("{id}: {}", if found.is_some() { "not a file" } else { "missing" }),
            }),
        }
    }

    /// Returns the size of an object in bytes, without reading it; `None` if it is missing.
    pub(crate) fn bytes_of(&self, id: ObjectId) -> Option<u64> {
        self.handle.try_header(&id).ok().flatten().map(|header| header.size)
    }

    /// Returns the target of a symbolic link.
    pub(crate) fn link(&mut self, path: &RepoPath, id: ObjectId) -> Result<String, SourceError> {
        let repository = Arc::clone(&self.repository);
        let data = self.blob(id)?;
        let text = std::str::from_utf8(data).ok();
        text.filter(|text| !text.is_empty() && text.len() <= LINK_BYTES_MAX && !text.contains('\0'))
            .map(str::to_owned)
            .ok_or_else(|| {
                let target = &data[..data.len().min(LINK_BYTES_MAX)];
                SourceError::name(&repository, &[path.as_str().as_bytes(), b" -> ", target].concat())
            })
    }

    /// Resolves a path. The result includes each symbolic link that is followed, so that trees contain the links, too.
    pub(crate) fn find(&mut self, root: ObjectId, path: &RepoPath) -> Result<Vec<Found>, SourceError> {
        let mut steps = Vec::new();
        let mut path = path.clone();
        for _ in 0..LINKS_MAX {
            let step = self.step(root, &path)?;
            let next = match &step {
                Found::Link(_, _, next) => next.clone(),
                Found::Nothing | Found::Entry(..) | Found::Submodule => None,
            };
            steps.push(step);
            match next {
                Some(next) => path = next,
                None => break,
            }
        }
        Ok(steps)
    }

    fn step(&mut self, root: ObjectId, path: &RepoPath) -> Result<Found, SourceError> {
        let (mut kind, mut id) = (EntryKind::Tree, root);
        let mut place = RepoPath::default();
        let mut rest = path.as_str();
        while !rest.is_empty() {
            let (name, after) = rest.split_once('/').unwrap_or((rest, ""));
            match kind {
                EntryKind::Tree => {}
                EntryKind::Commit => return Ok(Found::Submodule),
                EntryKind::Link => break,
                EntryKind::Blob | EntryKind::BlobExecutable => return Ok(Found::Nothing),
            }
            let Some(entry) = self.entries(id)?.into_iter().find(|entry| entry.name == name) else {
                return Ok(Found::Nothing);
            };
            (kind, id) = (entry.kind, entry.id);
            place = place.join(name)?;
            rest = after;
        }
        if kind == EntryKind::Commit {
            return Ok(Found::Submodule);
        }
        if kind != EntryKind::Link {
            return Ok(Found::Entry(kind, id));
        }
        let target = self.link(&place, id)?;
        let parent = place.parent().unwrap_or_default();
        let next = parent.join(&target).and_then(|next| next.join(rest)).ok();
        Ok(Found::Link(place, id, next))
    }

    /// Returns the commit of the gitlink at a path.
    pub(crate) fn gitlink(
        &mut self,
        root: ObjectId,
        path: &RepoPath,
    ) -> Result<Option<ObjectId>, SourceError> {
        let Some((parent, name)) = path.parent().zip(path.file_name()) else { return Ok(None) };
        let Found::Entry(EntryKind::Tree, tree) = self.step(root, &parent)? else { return Ok(None) };
        let entry = self.entries(tree)?.into_iter().find(|entry| entry.name == name);
        Ok(entry.filter(|entry| entry.kind == EntryKind::Commit).map(|entry| entry.id))
    }

    fn object(&mut self, id: ObjectId) -> Result<Option<(Kind, &[u8])>, SourceError> {
        match self.handle.try_find(&id, &mut self.buffer) {
            Ok(found) => Ok(found.map(|data| (data.kind, data.data))),
            Err(error) => Err(SourceError::Objects {
                repository: self.repository.to_string(),
                detail: format!("{id}: {error}"),
            }),
        }
    }

    fn broken(&self, id: ObjectId, what: &str) -> SourceError {
        SourceError::Objects { repository: self.repository.to_string(), detail: format!("{id}: {what}") }
    }
}

/// Returns the id in the first line of a commit or tag.
fn header_id(data: &[u8], label: &[u8]) -> Option<ObjectId> {
    let line = data.strip_prefix(label)?.split(|byte| *byte == b'\n').next()?;
    ObjectId::from_hex(line).ok()
}
