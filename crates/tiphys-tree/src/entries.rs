//! The entries of a tree in memory, so that lookups need no files on disk.

mod lookup;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rustix::io::Errno;
use tiphys_model::limits::Limit;

use crate::path::{is_slash, parent, shown, to_path};
use crate::{EntryPath, WriteError};

pub use lookup::Final;
pub(crate) use lookup::Lost;

/// Maximum bytes of one name, as on all file systems of Linux.
const NAME_BYTES_MAX: usize = 255;
/// Maximum bytes of a path, and of a link's target, as on Linux.
const PATH_BYTES_MAX: usize = 4095;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link with any target.
    Link,
}

/// The entries of one tree, without the content of its files. Each takes about 70 bytes plus the last name of its path.
///
/// Entries are checked like by [`TreeWriter`](crate::TreeWriter). Parents are added automatically, and count. After an error the list is
/// incomplete and must not be used.
#[derive(Clone, Debug)]
pub struct Entries {
    /// The root is first. A flat list, because untrusted trees may be deep.
    nodes: Vec<Node>,
    /// Maximum number of entries.
    max: u64,
    /// Bytes of the full paths of all entries.
    path_bytes: u64,
}

#[derive(Clone, Debug)]
enum Node {
    /// Its content in byte order of the names.
    Directory(BTreeMap<Box<[u8]>, Number>),
    File,
    /// A link with its target as written.
    Link(Box<[u8]>),
}

/// An entry's position in [`Entries::nodes`].
type Number = u32;

const ROOT: Number = 0;

impl Entries {
    /// Creates an empty tree with a maximum number of entries: files, directories and links.
    pub fn new(entries_max: u64) -> Self {
        Self { nodes: vec![Node::Directory(BTreeMap::new())], max: entries_max, path_bytes: 0 }
    }

    /// Returns the maximum number of entries.
    pub fn entries_max(&self) -> u64 {
        self.max
    }

    /// Adds a directory, which may exist.
    pub fn directory<'p>(&mut self, path: impl Into<EntryPath<'p>>) -> Result<(), WriteError> {
        let path = path.into();
        check_length(&path, path.as_bytes())?;
        self.enter(path.as_bytes()).map(drop)
    }

    /// Adds a file.
    pub fn file<'p>(&mut self, path: impl Into<EntryPath<'p>>) -> Result<(), WriteError> {
        self.add(&path.into(), Node::File)
    }

    /// Adds a link with its target as written. The target is not checked; one outside the tree does not exist.
    pub fn link<'p>(
        &mut self,
        path: impl Into<EntryPath<'p>>,
        target: impl AsRef<[u8]>,
    ) -> Result<(), WriteError> {
        let (path, target) = (path.into(), target.as_ref());
        check_length(&path, target)?;
        self.add(&path, Node::Link(target.into()))
    }

    /// Returns the number of entries without the root.
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether there is only the root.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of the full paths of all entries, although prefixes are shared here.
    pub(crate) fn path_bytes(&self) -> u64 {
        self.path_bytes
    }

    /// Returns the paths of all directories except the root, in no order.
    pub(crate) fn directories(&self) -> Vec<Box<[u8]>> {
        let mut found = Vec::new();
        let mut todo: Vec<(Number, Box<[u8]>)> = vec![(ROOT, Box::default())];
        while let Some((directory, path)) = todo.pop() {
            let Node::Directory(children) = self.node(directory) else { continue };
            for (name, child) in children {
                if self.kind(*child) == EntryKind::Directory {
                    let slash: &[u8] = if path.is_empty() { b"" } else { b"/" };
                    todo.push((*child, [&*path, slash, &**name].concat().into()));
                }
            }
            if directory != ROOT {
                found.push(path);
            }
        }
        found
    }

    fn add(&mut self, path: &EntryPath<'_>, node: Node) -> Result<(), WriteError> {
        check_length(path, path.as_bytes())?;
        let clash = || WriteError::Clash { path: path.to_string() };
        let name = path.file_name().ok_or_else(clash)?;
        let directory = self.enter(parent(path.as_bytes()))?;
        if self.child(directory, name).is_some() {
            return Err(clash());
        }
        self.insert(directory, name, path.as_bytes(), node).map(drop)
    }

    /// Returns the number of a directory. Adds it with its parents if it is missing.
    fn enter(&mut self, directory: &[u8]) -> Result<Number, WriteError> {
        let mut here = ROOT;
        let mut end = 0;
        for name in directory.split(is_slash).filter(|name| !name.is_empty()) {
            end += usize::from(end > 0) + name.len();
            let path = &directory[..end];
            here = match self.child(here, name) {
                Some(child) if self.kind(child) == EntryKind::Directory => child,
                Some(_) => return Err(WriteError::Clash { path: shown(path).into_owned() }),
                None => self.insert(here, name, path, Node::Directory(BTreeMap::new()))?,
            };
        }
        Ok(here)
    }

    /// Adds a new entry to a directory.
    fn insert(
        &mut self,
        directory: Number,
        name: &[u8],
        path: &[u8],
        node: Node,
    ) -> Result<Number, WriteError> {
        if name.len() > NAME_BYTES_MAX {
            return Err(too_long(path));
        }
        let max = self.max.min(u64::from(Number::MAX));
        let number = Number::try_from(self.nodes.len()).ok().filter(|number| u64::from(*number) <= max);
        let number = number.ok_or(WriteError::TooManyEntries { max, limit: Limit::TREE_ENTRIES_MAX })?;
        if let Node::Directory(children) = &mut self.nodes[directory as usize]
            && let Entry::Vacant(place) = children.entry(name.into())
        {
            place.insert(number);
            self.nodes.push(node);
            self.path_bytes += u64::try_from(path.len()).unwrap_or(u64::MAX);
        }
        Ok(number)
    }

    fn node(&self, number: Number) -> &Node {
        &self.nodes[number as usize]
    }

    fn kind(&self, number: Number) -> EntryKind {
        match self.node(number) {
            Node::Directory(_) => EntryKind::Directory,
            Node::File => EntryKind::File,
            Node::Link(_) => EntryKind::Link,
        }
    }

    /// Returns the entry with this name in a directory.
    fn child(&self, directory: Number, name: &[u8]) -> Option<Number> {
        match self.node(directory) {
            Node::Directory(children) => children.get(name).copied(),
            Node::File | Node::Link(_) => None,
        }
    }
}

fn check_length(path: &EntryPath<'_>, text: &[u8]) -> Result<(), WriteError> {
    if text.len() > PATH_BYTES_MAX { Err(too_long(path.as_bytes())) } else { Ok(()) }
}

/// Returns the error of the file system.
fn too_long(path: &[u8]) -> WriteError {
    WriteError::Io { path: to_path(path).to_path_buf(), source: Errno::NAMETOOLONG.into() }
}
