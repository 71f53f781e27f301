//! The names, kinds and link targets of a tree in memory, so that questions about them are answered before a file is written.

mod lookup;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rustix::io::Errno;
use tiphys_limits::Limit;

use crate::path::{is_slash, parent, shown, to_path};
use crate::{EntryPath, WriteError};

pub use lookup::Final;
pub(crate) use lookup::Lost;

/// Bytes of one name at most, as on every file system of Linux.
const NAME_BYTES_MAX: usize = 255;
/// Bytes of a path, and of a link's target, at most, as Linux has it.
const PATH_BYTES_MAX: usize = 4095;

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link, wherever it leads.
    Link,
}

/// The entries of one tree, without the bytes of its files. Each takes about 70 bytes and the last name of its path.
///
/// Entries are refused as [`TreeWriter`](crate::TreeWriter) refuses them; parents are made on demand, and count. After an error the
/// list is not complete, and nothing should be asked of it.
#[derive(Clone, Debug)]
pub struct Entries {
    /// The root first. A flat list, since trees of somebody else's making may be deep.
    nodes: Vec<Node>,
    /// Entries at most.
    max: u64,
    /// Bytes of the whole paths of all entries.
    path_bytes: u64,
}

#[derive(Clone, Debug)]
enum Node {
    /// What is in it, in the order of the names' bytes.
    Directory(BTreeMap<Box<[u8]>, Number>),
    File,
    /// A link with its target, as it is written.
    Link(Box<[u8]>),
}

/// An entry's position in [`Entries::nodes`].
type Number = u32;

const ROOT: Number = 0;

impl Entries {
    /// An empty tree that takes so many entries: files, directories and links.
    pub fn new(entries_max: u64) -> Self {
        Self { nodes: vec![Node::Directory(BTreeMap::new())], max: entries_max, path_bytes: 0 }
    }

    /// Entries that it takes.
    pub fn entries_max(&self) -> u64 {
        self.max
    }

    /// Adds a directory (which may be there already).
    pub fn directory<'p>(&mut self, path: impl Into<EntryPath<'p>>) -> Result<(), WriteError> {
        let path = path.into();
        check_length(&path, path.as_bytes())?;
        self.enter(path.as_bytes()).map(drop)
    }

    /// Adds a file.
    pub fn file<'p>(&mut self, path: impl Into<EntryPath<'p>>) -> Result<(), WriteError> {
        self.add(&path.into(), Node::File)
    }

    /// Adds a link with its target as it is written. Where it leads is not looked at; what leads out of the tree leads nowhere.
    pub fn link<'p>(
        &mut self,
        path: impl Into<EntryPath<'p>>,
        target: impl AsRef<[u8]>,
    ) -> Result<(), WriteError> {
        let (path, target) = (path.into(), target.as_ref());
        check_length(&path, target)?;
        self.add(&path, Node::Link(target.into()))
    }

    /// How many entries there are, the root not among them.
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether there is nothing but the root.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the whole paths of all entries, though prefixes are shared here.
    pub(crate) fn path_bytes(&self) -> u64 {
        self.path_bytes
    }

    /// The paths of all directories but the root, in no order.
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

    /// The number of a directory, which is made with its parents where it is not there.
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

    /// Adds what is not there yet to a directory.
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

    /// What has this name in a directory.
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

/// What the file system would say.
fn too_long(path: &[u8]) -> WriteError {
    WriteError::Io { path: to_path(path).to_path_buf(), source: Errno::NAMETOOLONG.into() }
}
