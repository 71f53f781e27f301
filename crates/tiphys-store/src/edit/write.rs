//! Writing a changed file as a whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, PersistError};

use super::FileEdit;

/// What the names of unfinished files begin with. Without the extension of a document no store takes them for one.
const UNFINISHED_PREFIX: &str = ".tiphys-";

/// The mode of a new file, before the process's mask.
const NEW_FILE_MODE: u32 = 0o666;

/// The bit without which the owner declared a file as not to be written.
const OWNER_WRITES: u32 = 0o200;

/// Why a file was not written. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum FileWriteError {
    /// The file is not what it was when it was read, or it is gone.
    #[error("{} was changed by somebody else in the meantime; nothing was written, try again", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
    },
    /// The new file is there already.
    #[error("{} was made by somebody else in the meantime; nothing was written, try again", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file may not be written.
    #[error("{} is read-only; nothing was written (`chmod u+w` permits it)", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It is no regular file.
    #[error("{} is no regular file, so that it cannot be replaced; nothing was written", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The new file cannot be made beside the old one.
    #[error("cannot make a file in {}, which is needed to replace {} as a whole; nothing was written", folder.display(), path.display())]
    Folder {
        /// The file.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The file system refused it.
    #[error("cannot write {}; it is as it was", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

impl FileWriteError {
    /// Whether the file is not what it was when it was read.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::Exists { .. })
    }
}

impl FileEdit {
    /// Writes the file: a new one in the same folder takes its place in one step, so that nobody ever reads a part of it. Mode and
    /// owner are kept as far as this process may; a symbolic link stays and its target is replaced. Of a file with several names
    /// (hard links) only this one gets the new text. Extended attributes are not kept.
    ///
    /// Just before that the file is read once more: if it is not what it was, nothing happens. Of several that write in this way at
    /// once one succeeds, and the others have a conflict; editors take no such lock.
    pub fn write(self) -> Result<(), FileWriteError> {
        if self.is_unchanged() {
            return Ok(());
        }
        match &self.before {
            Some(before) => self.replace(before),
            None => self.create_new(),
        }
    }

    fn replace(&self, before: &[u8]) -> Result<(), FileWriteError> {
        let target = fs::canonicalize(&self.path).map_err(|source| self.lost_or(source))?;
        let metadata = fs::metadata(&target).map_err(|source| self.lost_or(source))?;
        if !metadata.is_file() {
            return Err(FileWriteError::NotAFile { path: self.path.clone() });
        }
        // Replacing needs a right on the folder only; who took the bit away from the file meant the file.
        if metadata.mode() & OWNER_WRITES == 0 {
            return Err(FileWriteError::ReadOnly { path: self.path.clone() });
        }
        let opened = OpenOptions::new().write(true).open(&target).map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                FileWriteError::ReadOnly { path: self.path.clone() }
            }
            _ => self.lost_or(source),
        })?;
        self.claim(&opened)?;
        let folder = folder_of(&target);
        let unfinished = self.unfinished(folder)?;
        keep_rights(unfinished.as_file(), &metadata).map_err(|source| self.failed(source))?;
        self.fill(&unfinished)?;
        // From here to the rename the change of an editor that takes no lock would be lost; it is two calls of the system.
        self.require_same(&opened, &target, before)?;
        unfinished.persist(&target).map_err(|PersistError { error, .. }| self.failed(error))?;
        sync_folder(folder);
        Ok(())
    }

    /// Keeps others who write in this way from the file until it is closed. Who comes second has a conflict and not to wait: what he
    /// read is about to be replaced.
    fn claim(&self, opened: &File) -> Result<(), FileWriteError> {
        match opened.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(FileWriteError::Conflict { path: self.path.clone() }),
            // A file system without locks: what is left is the comparison of the bytes.
            Err(TryLockError::Error(source)) if source.kind() == io::ErrorKind::Unsupported => Ok(()),
            Err(TryLockError::Error(source)) => Err(self.failed(source)),
        }
    }

    /// Refuses a file that is another one by now, or has other bytes. A lock on a file that was replaced guards nothing.
    fn require_same(&self, opened: &File, target: &Path, before: &[u8]) -> Result<(), FileWriteError> {
        let current = File::open(target).map_err(|source| self.lost_or(source))?;
        let identity = |file: &File| file.metadata().map(|metadata| (metadata.dev(), metadata.ino()));
        let (locked, found) = (identity(opened), identity(&current));
        let is_same =
            locked.map_err(|source| self.failed(source))? == found.map_err(|source| self.failed(source))?;
        let mut bytes = Vec::new();
        // One byte more than was there shows that it is longer.
        let bound = before.len() as u64 + 1;
        current.take(bound).read_to_end(&mut bytes).map_err(|source| self.failed(source))?;
        if is_same && bytes == before {
            Ok(())
        } else {
            Err(FileWriteError::Conflict { path: self.path.clone() })
        }
    }

    fn create_new(&self) -> Result<(), FileWriteError> {
        let folder = folder_of(&self.path);
        let unfinished = self.unfinished(folder)?;
        self.fill(&unfinished)?;
        unfinished.persist_noclobber(&self.path).map_err(|PersistError { error, .. }| {
            match error.kind() {
                io::ErrorKind::AlreadyExists => FileWriteError::Exists { path: self.path.clone() },
                _ => self.failed(error),
            }
        })?;
        sync_folder(folder);
        Ok(())
    }

    /// An empty file beside the target, which is removed on every way out but the last.
    fn unfinished(&self, folder: &Path) -> Result<NamedTempFile, FileWriteError> {
        tempfile::Builder::new()
            .prefix(UNFINISHED_PREFIX)
            .permissions(Permissions::from_mode(NEW_FILE_MODE))
            .tempfile_in(folder)
            .map_err(|source| FileWriteError::Folder {
                path: self.path.clone(),
                folder: folder.to_owned(),
                source,
            })
    }

    fn fill(&self, unfinished: &NamedTempFile) -> Result<(), FileWriteError> {
        let mut file = unfinished.as_file();
        file.write_all(&self.after).and_then(|()| file.sync_all()).map_err(|source| self.failed(source))
    }

    /// A file that is gone was changed by somebody.
    fn lost_or(&self, source: io::Error) -> FileWriteError {
        match source.kind() {
            io::ErrorKind::NotFound => FileWriteError::Conflict { path: self.path.clone() },
            _ => self.failed(source),
        }
    }

    fn failed(&self, source: io::Error) -> FileWriteError {
        FileWriteError::Write { path: self.path.clone(), source }
    }
}

/// Gives a new file the owner and the mode of the one that it replaces. Who is not allowed to keep the group gives its members no
/// more than everybody has.
fn keep_rights(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    let mut mode = old.mode() & 0o7777;
    if (new.uid() != old.uid() || new.gid() != old.gid())
        && fchown(file, Some(old.uid()), Some(old.gid())).is_err()
        && new.gid() != old.gid()
        && fchown(file, None, Some(old.gid())).is_err()
    {
        mode = (mode & 0o707) | ((mode & 0o007) << 3);
    }
    file.set_permissions(Permissions::from_mode(mode))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Has the new name written to the disk. The file is in its place in any case, so that a failure is none of the change.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        drop(folder.sync_all());
    }
}
