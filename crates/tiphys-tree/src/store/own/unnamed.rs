//! Small trees with new files: each is written where it belongs, in the tree, and gets its name among the store's files behind the caller's
//! back. A name costs half as much as the file itself, and the call that brings the file has no use for it.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, open};

use super::contents::{Contents, FileKey, FileNumber, Ledger};
use super::places::{Linked, Places, takes_no_link};

/// Files that are to be written into a tree that is being made. Others wait for them; those that were not handed over on drop are missing.
pub(super) struct NewFiles<'a> {
    ledger: Arc<Ledger>,
    places: Arc<Places>,
    files: HashMap<FileNumber, OneFile<'a>>,
}

struct OneFile<'a> {
    key: FileKey,
    content: &'a [u8],
    /// Where it was written first, below the tree's root.
    path: Option<Box<[u8]>>,
}

/// A place in a tree: a directory that is open, and the name in it.
pub(super) struct Place<'a, D> {
    /// The tree's root.
    pub(super) tree: &'a OwnedFd,
    /// The whole path below the root.
    pub(super) path: &'a [u8],
    pub(super) directory: D,
    pub(super) name: &'a [u8],
}

/// Files of a tree without names among the store's files. Others wait for them; those that have none on drop are missing, so that whoever
/// needs one next writes it.
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

    /// Writes a file, or links it to where it was written before; nothing if it is none of these.
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

    /// The files that were written, for whoever names them.
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

    /// Gives the files their names, as far as that can be, and tells those who wait.
    pub(super) fn name(mut self) {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Without the tree, or without a second name, they are missing.
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
        // Told after the missing ones, for those who were written, too.
        self.ledger.settle(numbered(missing), Contents::missing);
        // Who needed them has let them go before they had a name.
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
