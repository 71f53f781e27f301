//! The trees that patterns are matched in: on disk or in memory, at an absolute path.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::entries::{Entries, EntryKind, Final, Lost};
use crate::path::to_path;

/// A tree that can be listed. Paths are relative to its root and clean; the empty path is the root. Links in the path are followed. Errors
/// are those of the system.
pub trait Listing: std::fmt::Debug {
    /// Returns the maximum number of entries, which limits the search.
    fn entries_max(&self) -> u64;

    /// Returns the kind of an entry.
    fn kind(&self, path: &[u8], last: Final) -> io::Result<EntryKind>;

    /// Calls `each` with the name and kind of every entry of a directory, links as links, in no order.
    fn list(&self, path: &[u8], each: &mut dyn FnMut(&[u8], EntryKind)) -> io::Result<()>;
}

/// A directory on disk. Everything except directories and links is treated as a file.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    root: &'a Path,
    entries_max: u64,
}

impl<'a> Folder<'a> {
    /// Creates a listing of a directory with a maximum number of entries.
    pub fn new(root: &'a Path, entries_max: u64) -> Self {
        Self { root, entries_max }
    }

    /// Returns its path.
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

/// A path that leads out of a tree in memory does not exist.
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

/// A directory of a tree, and the tree's absolute path. Outside the tree only its parent directories exist.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The tree.
    pub tree: &'a dyn Listing,
    /// The apparent absolute path of the tree. Patterns are matched with it, so its special characters count.
    pub seen_at: &'a Path,
    /// The directory that patterns are relative to, relative to the tree's root.
    pub base: &'a Path,
}

impl Place<'_> {
    /// Returns the absolute path of the base directory.
    pub(super) fn absolute_base(&self) -> PathBuf {
        self.seen_at.join(self.base)
    }

    /// Returns a path relative to the tree's root; `None` if it is outside.
    pub(super) fn inside<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        // go-zglob's walk of the file system's root puts two slashes in front.
        let path = if path.starts_with(b"//") { &path[1..] } else { path };
        let rest = path.strip_prefix(self.seen_at.as_os_str().as_bytes())?;
        match rest {
            [] => Some(rest),
            [b'/', inner @ ..] => Some(inner),
            // Only the file system's root ends in a slash.
            _ if self.seen_at == Path::new("/") => Some(rest),
            _ => None,
        }
    }

    /// Returns the path for messages: relative to the tree's root if it is inside.
    pub(super) fn shown(&self, path: &[u8]) -> PathBuf {
        to_path(self.inside(path).unwrap_or(path)).to_path_buf()
    }

    /// Returns the kind of an entry at an absolute path.
    pub(super) fn kind(&self, path: &[u8], last: Final) -> io::Result<EntryKind> {
        match self.inside(path) {
            Some(inside) => self.tree.kind(inside, last),
            None => self.below(path).map(|_| EntryKind::Directory).ok_or_else(|| Errno::NOENT.into()),
        }
    }

    /// Calls `each` with the entries of the directory at an absolute path.
    pub(super) fn list(&self, path: &[u8], each: &mut dyn FnMut(&[u8], EntryKind)) -> io::Result<()> {
        if let Some(inside) = self.inside(path) {
            return self.tree.list(inside, each);
        }
        each(self.below(path).ok_or(Errno::NOENT)?, EntryKind::Directory);
        Ok(())
    }

    /// Returns the only name in a directory above the tree; `None` for any other path.
    fn below(&self, path: &[u8]) -> Option<&[u8]> {
        let rest = self.seen_at.strip_prefix(to_path(path)).ok()?;
        rest.components().next().map(|name| name.as_os_str().as_bytes())
    }
}
