//! Where patterns look: a tree on disk or in memory, seen at an absolute path.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::entries::{Entries, EntryKind, Final, Lost};
use crate::path::to_path;

/// A tree whose directories can be looked at. Paths are relative to its root and clean; empty is the root. Links on the way to what
/// is asked for are followed. Errors are those that the system gives for files.
pub trait Listing: std::fmt::Debug {
    /// Entries that it may have, which say how much is looked at for one pattern.
    fn entries_max(&self) -> u64;

    /// What stands at a path.
    fn kind(&self, path: &[u8], last: Final) -> io::Result<EntryKind>;

    /// Calls `each` with the name and the kind of everything in a directory, links as links, in no order.
    fn list(&self, path: &[u8], each: &mut dyn FnMut(&[u8], EntryKind)) -> io::Result<()>;
}

/// A folder on disk. Whatever is neither directory nor link counts as a file.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    root: &'a Path,
    entries_max: u64,
}

impl<'a> Folder<'a> {
    /// The folder at a path, which may have so many entries.
    pub fn new(root: &'a Path, entries_max: u64) -> Self {
        Self { root, entries_max }
    }

    /// Its path.
    pub fn root(&self) -> &'a Path {
        self.root
    }

    fn place(&self, path: &[u8]) -> PathBuf {
        if path.is_empty() { self.root.to_path_buf() } else { self.root.join(to_path(path)) }
    }
}

impl Listing for Folder<'_> {
    fn entries_max(&self) -> u64 {
        self.entries_max
    }

    fn kind(&self, path: &[u8], last: Final) -> io::Result<EntryKind> {
        let place = self.place(path);
        let metadata = match last {
            Final::Follow => fs::metadata(place),
            Final::Keep => fs::symlink_metadata(place),
        };
        Ok(kind(metadata?.file_type()))
    }

    fn list(&self, path: &[u8], each: &mut dyn FnMut(&[u8], EntryKind)) -> io::Result<()> {
        for entry in fs::read_dir(self.place(path))? {
            let entry = entry?;
            each(entry.file_name().as_bytes(), kind(entry.file_type()?));
        }
        Ok(())
    }
}

impl Listing for Entries {
    fn entries_max(&self) -> u64 {
        self.entries_max()
    }

    fn kind(&self, path: &[u8], last: Final) -> io::Result<EntryKind> {
        self.look_at(path, last).map_err(|lost| system_error(&lost))
    }

    fn list(&self, path: &[u8], each: &mut dyn FnMut(&[u8], EntryKind)) -> io::Result<()> {
        for (name, kind) in self.children(path).map_err(|lost| system_error(&lost))? {
            each(name, kind);
        }
        Ok(())
    }
}

/// What leads out of a tree in memory leads to nothing.
fn system_error(lost: &Lost) -> io::Error {
    let errno = match lost {
        Lost::Missing | Lost::Outside(_) => Errno::NOENT,
        Lost::NotADirectory => Errno::NOTDIR,
        Lost::TooManyLinks => Errno::LOOP,
    };
    errno.into()
}

fn kind(kind: fs::FileType) -> EntryKind {
    if kind.is_dir() {
        EntryKind::Directory
    } else if kind.is_symlink() {
        EntryKind::Link
    } else {
        EntryKind::File
    }
}

/// A directory of a tree, and the tree's place in the world. Nothing else is in that world but the directories above the tree.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The tree.
    pub tree: &'a dyn Listing,
    /// The absolute path at which the tree seems to be. Patterns are matched with it, so that special characters in it count.
    pub seen_at: &'a Path,
    /// The directory from which a pattern is meant, relative to the tree's root.
    pub base: &'a Path,
}

impl Place<'_> {
    /// The whole path of the base directory.
    pub(super) fn absolute_base(&self) -> PathBuf {
        self.seen_at.join(self.base)
    }

    /// A path relative to the tree's root; `None` if it is outside.
    pub(super) fn inside<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        // go-zglob's walk of the file system's root puts two slashes in front.
        let path = if path.starts_with(b"//") { &path[1..] } else { path };
        let rest = path.strip_prefix(self.seen_at.as_os_str().as_bytes())?;
        match rest {
            [] => Some(rest),
            [b'/', inner @ ..] => Some(inner),
            // The file system's root is the one path that ends in a slash.
            _ if self.seen_at == Path::new("/") => Some(rest),
            _ => None,
        }
    }

    /// The path as a message names it: relative to the tree's root where it is inside.
    pub(super) fn shown(&self, path: &[u8]) -> PathBuf {
        to_path(self.inside(path).unwrap_or(path)).to_path_buf()
    }

    /// What stands at an absolute path.
    pub(super) fn kind(&self, path: &[u8], last: Final) -> io::Result<EntryKind> {
        match self.inside(path) {
            Some(inside) => self.tree.kind(inside, last),
            None => self.below(path).map(|_| EntryKind::Directory).ok_or_else(|| Errno::NOENT.into()),
        }
    }

    /// Calls `each` with what is in the directory at an absolute path.
    pub(super) fn list(&self, path: &[u8], each: &mut dyn FnMut(&[u8], EntryKind)) -> io::Result<()> {
        if let Some(inside) = self.inside(path) {
            return self.tree.list(inside, each);
        }
        each(self.below(path).ok_or(Errno::NOENT)?, EntryKind::Directory);
        Ok(())
    }

    /// The one name that is in a directory above the tree; `None` for any other path.
    fn below(&self, path: &[u8]) -> Option<&[u8]> {
        let rest = self.seen_at.strip_prefix(to_path(path)).ok()?;
        rest.components().next().map(|name| name.as_os_str().as_bytes())
    }
}
