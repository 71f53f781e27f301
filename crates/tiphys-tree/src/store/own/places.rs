//! The files of the store on disk, each named by a number.

use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, linkat, openat, unlinkat};
use rustix::io::Errno;

use super::contents::{FileKey, FileNumber};
use super::untouched::{Inodes, mark};
use crate::StoreError;
use crate::modes::{MODE_EXECUTABLE, Umask, file_mode};

/// Number of directories for the files, so that threads rarely wait for each other.
const FOLDERS: u64 = 16;

/// The directories of the files.
#[derive(Debug)]
pub(super) struct Places {
    folders: Vec<OwnedFd>,
    pub(super) umask: Umask,
    pub(super) inodes: Inodes,
}

impl Places {
    /// Creates the directories in an empty one.
    pub(super) fn new(dir: &Path) -> Result<Self, StoreError> {
        let mut umask = Umask::Harmless;
        let mut folders = Vec::new();
        for number in 0..FOLDERS {
            let folder = dir.join(number.to_string());
            let made = DirBuilder::new().mode(MODE_EXECUTABLE).create(&folder).and_then(|()| {
                umask = Umask::seen_at(&folder)?;
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                Ok(rustix::fs::open(&folder, flags, Mode::empty())?)
            });
            folders.push(made.map_err(StoreError::io("make", &folder))?);
        }
        Ok(Self { folders, umask, inodes: Inodes::default() })
    }

    /// Whether all directories exist: a removed one has no links.
    pub(super) fn are_there(&self) -> bool {
        self.folders.iter().all(|folder| fstat(folder).is_ok_and(|found| found.st_nlink > 0))
    }

    /// Creates an empty file.
    pub(super) fn create(&self, number: FileNumber, executable: bool) -> io::Result<File> {
        let (folder, name) = self.place(number);
        self.create_at(folder, name.as_bytes(), executable)
    }

    fn create_at(&self, directory: impl AsFd, name: &[u8], executable: bool) -> io::Result<File> {
        let mode = file_mode(executable);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = File::from(openat(directory, name, flags, Mode::from_raw_mode(mode))?);
        self.umask.mend(mode, |mode| file.set_permissions(mode))?;
        Ok(file)
    }

    /// Creates a file with this content. It is removed after a failure.
    pub(super) fn write(&self, number: FileNumber, key: FileKey, content: &[u8]) -> io::Result<()> {
        let (folder, name) = self.place(number);
        self.write_at(folder, name.as_bytes(), key, content)
    }

    /// The same in a directory of a tree that is being created.
    pub(super) fn write_at(
        &self,
        directory: impl AsFd,
        name: &[u8],
        key: FileKey,
        content: &[u8],
    ) -> io::Result<()> {
        let written = self.create_at(&directory, name, key.executable).and_then(|mut file| {
            file.write_all(content)?;
            mark(&file, key.executable)?;
            self.inodes.written(&file, key.digest)
        });
        if written.is_err() {
            // Else trying again would find a file in the way.
            let _removed = unlinkat(&directory, name, AtFlags::empty());
        }
        written
    }

    /// Links a file of a tree to the store; `false` if that is impossible, or if the file has changed.
    pub(super) fn take_name(&self, number: FileNumber, tree: impl AsFd, path: &[u8]) -> bool {
        let (folder, name) = self.place(number);
        self.link_untouched(tree, path, folder, name.as_bytes()).is_ok()
    }

    /// Links a file to another path. A changed file is an error, as if it were missing: its content is unknown.
    pub(super) fn link_untouched(
        &self,
        from_folder: impl AsFd,
        from: &[u8],
        folder: impl AsFd,
        name: &[u8],
    ) -> io::Result<()> {
        if !self.inodes.is_untouched(&from_folder, from)? {
            return Err(io::ErrorKind::NotFound.into());
        }
        linkat(from_folder, from, &folder, name, AtFlags::empty())?;
        self.inodes.linked(folder, name)
    }

    /// Opens a file for reading.
    pub(super) fn open(&self, number: FileNumber) -> io::Result<File> {
        let (folder, name) = self.place(number);
        Ok(File::from(openat(folder, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// Links a file to another path. Copies it if it cannot have more links.
    pub(super) fn link(
        &self,
        number: FileNumber,
        executable: bool,
        directory: impl AsFd,
        name: &[u8],
    ) -> io::Result<Linked> {
        let (folder, from) = self.place(number);
        match self.link_untouched(folder, from.as_bytes(), &directory, name) {
            Ok(()) => Ok(Linked::Shared),
            Err(error) if takes_no_link(&error) => {
                Ok(Linked::Copied { bytes: self.copy(number, executable, directory, name)? })
            }
            Err(error) => Err(error),
        }
    }

    /// Copies a file, and returns its size. The copy is removed after a failure.
    pub(super) fn copy(
        &self,
        number: FileNumber,
        executable: bool,
        directory: impl AsFd,
        name: &[u8],
    ) -> io::Result<u64> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = file_mode(executable);
        let mut copy = File::from(openat(&directory, name, flags, Mode::from_raw_mode(mode))?);
        let mended = self.umask.mend(mode, |mode| copy.set_permissions(mode));
        let copied = mended.and_then(|()| {
            let mut original = self.open(number)?;
            let bytes = io::copy(&mut original, &mut copy)?;
            mark(&copy, executable)?;
            self.inodes.copied(&copy, &original)?;
            Ok(bytes)
        });
        if copied.is_err() {
            // Else trying again would find a file in the way.
            let _removed = unlinkat(&directory, name, AtFlags::empty());
        }
        copied
    }

    /// Whether a file exists and is unchanged.
    pub(super) fn is_untouched(&self, number: FileNumber) -> bool {
        let (folder, name) = self.place(number);
        self.inodes.is_untouched(folder, &*name).unwrap_or(false)
    }

    /// Removes a file, if it exists.
    pub(super) fn remove(&self, number: FileNumber) {
        let (folder, name) = self.place(number);
        self.inodes.forget(folder, &*name);
        // A failed removal is done with the session's directory.
        let _removed = unlinkat(folder, name, AtFlags::empty());
    }

    fn place(&self, FileNumber(number): FileNumber) -> (&OwnedFd, String) {
        let folder = usize::try_from(number % FOLDERS).unwrap_or_default();
        (&self.folders[folder], number.to_string())
    }
}

/// Whether the file system allows no more links of a file.
pub(super) fn takes_no_link(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MLINK | Errno::XDEV | Errno::PERM))
}

/// How a file was added to a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Linked {
    /// As a hard link.
    Shared,
    /// As a copy, because the file system allows no more links.
    Copied { bytes: u64 },
}
