//! Small trees with new files: each file is written directly into the tree, and linked to the store's files in the background. A link costs
//! half as much as the file itself, and the call does not need it.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, open};

use super::contents::{Contents, FileKey, FileNumber, Ledger};
use super::places::{Linked, Places, takes_no_link};

/// Files to be written into a tree that is being created. Others wait for them; those that were not passed on become missing on drop.
pub(super) struct NewFiles<'a> {
    ledger: Arc<Ledger>,
    places: Arc<Places>,
    files: HashMap<FileNumber, OneFile<'a>>,
}

struct OneFile<'a> {
    key: FileKey,
    content: &'a [u8],
    /// Its first path below the tree's root.
    path: Option<Box<[u8]>>,
}

/// A location in a tree: an open directory and a name in it.
pub(super) struct Place<'a, D> {
    /// The tree's root.
    pub(super) tree: &'a OwnedFd,
    /// The full path below the root.
    pub(super) path: &'a [u8],
    pub(super) directory: D,
    pub(super) name: &'a [u8],
}

/// Files of a tree that are not linked to the store's files. Others wait for them; those without a link become missing on drop, so that the
/// next user writes them.
#[derive(Debug)]
pub(super) struct Unnamed {
    ledger: Arc<Ledger>,
    places: Arc<Places>,
    tree: PathBuf,
    files: Vec<(FileKey, FileNumber, Box<[u8]>)>,
}

impl<'a> NewFiles<'a> {
    pub(super) fn of(
        ledger: Arc<Ledger>,
        places: Arc<Places>,
        files: impl Iterator<Item = (FileKey, FileNumber, &'a [u8])>,
    ) -> Self {
        let files = files.map(|(key, number, content)| (number, OneFile { key, content, path: None }));
        Self { ledger, places, files: files.collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Writes a file, or links it to its first path; `None` if it is none of these files.
    pub(super) fn put(
        &mut self,
        number: FileNumber,
        at: &Place<'_, impl AsFd>,
    ) -> Option<io::Result<Linked>> {
        let file = self.files.get_mut(&number)?;
        let write = || self.places.write_at(&at.directory, at.name, file.key, file.content);
        let Some(path) = &file.path else {
            let written = write();
            if written.is_ok() {
                file.path = Some(at.path.into());
            }
            return Some(written.map(|()| Linked::Shared));
        };
        Some(match self.places.link_untouched(at.tree, path, &at.directory, at.name) {
            Ok(()) => Ok(Linked::Shared),
            Err(error) if takes_no_link(&error) => {
                let bytes = u64::try_from(file.content.len()).unwrap_or(u64::MAX);
                write().map(|()| Linked::Copied { bytes })
            }
            Err(error) => Err(error),
        })
    }

    /// Returns the written files, to be linked.
    pub(super) fn into_unnamed(mut self, tree: &Path) -> Unnamed {
        let files = std::mem::take(&mut self.files);
        let files = files.into_iter().filter_map(|(number, file)| Some((file.key, number, file.path?)));
        Unnamed {
            ledger: Arc::clone(&self.ledger),
            places: Arc::clone(&self.places),
            tree: tree.to_path_buf(),
            files: files.collect(),
        }
    }
}

impl Drop for NewFiles<'_> {
    fn drop(&mut self) {
        let files = self.files.drain().map(|(number, file)| (file.key, number));
        self.ledger.settle(files, Contents::missing);
    }
}

impl Unnamed {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Links the files to the store if possible, and wakes waiting threads.
    pub(super) fn name(mut self) {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Without the tree, or without another link, they are missing.
        let Ok(tree) = open(&self.tree, flags, Mode::empty()) else { return };
        let files = std::mem::take(&mut self.files);
        let (named, missing): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(_, number, path)| self.places.take_name(*number, &tree, path));
        let numbered = |files: Vec<(FileKey, FileNumber, Box<[u8]>)>| {
            files.into_iter().map(|(key, number, _)| (key, number))
        };
        let unwanted = {
            let mut contents = self.ledger.lock();
            let unwanted = named.iter().filter(|(key, number, _)| contents.number(*key) != Some(*number));
            let unwanted: Vec<FileNumber> = unwanted.map(|(_, number, _)| *number).collect();
            numbered(named).for_each(|(key, number)| contents.written(key, number));
            unwanted
        };
        // Reported after the missing ones, for threads that wait for both.
        self.ledger.settle(numbered(missing), Contents::missing);
        // They were released before they had a link.
        for number in unwanted {
            self.places.remove(number);
        }
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        let files = self.files.drain(..).map(|(key, number, _)| (key, number));
        self.ledger.settle(files, Contents::missing);
    }
}
