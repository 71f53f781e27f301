//! Atomic writing of changed files.

use std::fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, PersistError};

use super::FileEdit;

/// Name prefix of temporary files. They do not have the extension of a document, so stores ignore them.
const TEMPORARY_PREFIX: &str = ".tiphys-";

/// The mode of a new file, before the umask is applied.
const NEW_FILE_MODE: u32 = 0o666;

/// The permission bit that is cleared on read-only files.
const OWNER_WRITES: u32 = 0o200;

/// The reason why a file was not written. It is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum FileWriteError {
    /// The file was changed or deleted after it was read.
    #[error("{} was changed by another process in the meantime; nothing was written, try again", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
    },
    /// The file that should be created exists.
    #[error("{} was created by another process in the meantime; nothing was written, try again", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is read-only.
    #[error("{} is read-only; nothing was written (`chmod u+w` permits it)", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The path is not a regular file.
    #[error("{} is not a regular file and cannot be replaced; nothing was written", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The temporary file cannot be created beside the old one.
    #[error("cannot create a file in {}, which is required to replace {} atomically; nothing was written", folder.display(), path.display())]
    Folder {
        /// The file.
        path: PathBuf,
        /// Its directory.
        folder: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
    /// Writing failed.
    #[error("cannot write {}; the file is unchanged", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
}

impl FileEdit {
    /// Writes the file atomically: a temporary file in the same directory is renamed to it, so that readers never see a part of it. Mode
    /// and owner are preserved as far as the process is permitted to. A symbolic link that the caller
    /// named stays and its target is replaced. Of several hard
    /// links, only this one gets the new content. Extended attributes are lost.
    ///
    /// Directly before the rename, the file is read once more. If it changed, nothing is written. Of several concurrent callers, one
    /// succeeds and the others get a conflict. Editors do not take this lock.
    pub fn write(self) -> Result<(), FileWriteError> {
        if self.is_unchanged() {
            return Ok(());
        }
        match &self.before {
            Some(before) => self.replace(before),
            None => self.create_new(),
        }
    }

    /// Fails if [`FileEdit::write`] would fail now, except for lack of space.
    pub fn require_writable(&self) -> Result<(), FileWriteError> {
        match &self.before {
            Some(before) => {
                let (target, _, opened) = self.open()?;
                self.require_same(&opened, &target, before)?;
                self.temporary(directory_of(&target))?;
            }
            None if self.path.symlink_metadata().is_ok() => {
                return Err(FileWriteError::Exists { path: self.path.clone() });
            }
            None => drop(self.temporary(directory_of(&self.path))?),
        }
        Ok(())
    }

    /// Opens the file that is replaced. Returns its path without links.
    fn open(&self) -> Result<(PathBuf, Metadata, File), FileWriteError> {
        let target = fs::canonicalize(&self.path).map_err(|source| self.lost_or(source))?;
        let metadata = fs::metadata(&target).map_err(|source| self.lost_or(source))?;
        if !metadata.is_file() {
            return Err(FileWriteError::NotAFile { path: self.path.clone() });
        }
        // The rename only needs permission for the directory, but a cleared write bit is meant for the file.
        if metadata.mode() & OWNER_WRITES == 0 {
            return Err(FileWriteError::ReadOnly { path: self.path.clone() });
        }
        let opened = OpenOptions::new().write(true).open(&target).map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                FileWriteError::ReadOnly { path: self.path.clone() }
            }
            _ => self.lost_or(source),
        })?;
        Ok((target, metadata, opened))
    }

    fn replace(&self, before: &[u8]) -> Result<(), FileWriteError> {
        let (target, metadata, opened) = self.open()?;
        self.lock(&opened)?;
        let folder = directory_of(&target);
        let temporary = self.temporary(folder)?;
        copy_permissions(temporary.as_file(), &metadata).map_err(|source| self.failed(source))?;
        self.fill(&temporary)?;
        // A change by an editor, which takes no lock, is lost if it happens between this check and the rename.
        self.require_same(&opened, &target, before)?;
        temporary.persist(&target).map_err(|PersistError { error, .. }| self.failed(error))?;
        sync_directory(folder);
        Ok(())
    }

    /// Locks the file against concurrent calls until it is closed. A second caller gets a conflict instead of waiting, because the content
    /// that it has read is about to be replaced.
    fn lock(&self, opened: &File) -> Result<(), FileWriteError> {
        match opened.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(FileWriteError::Conflict { path: self.path.clone() }),
            // On a file system without locks, only the comparison of the bytes remains.
            Err(TryLockError::Error(source)) if source.kind() == io::ErrorKind::Unsupported => Ok(()),
            Err(TryLockError::Error(source)) => Err(self.failed(source)),
        }
    }

    /// Rejects a file that was replaced or has other bytes. A lock on a replaced file protects nothing.
    fn require_same(&self, opened: &File, target: &Path, before: &[u8]) -> Result<(), FileWriteError> {
        let current = File::open(target).map_err(|source| self.lost_or(source))?;
        let identity = |file: &File| file.metadata().map(|metadata| (metadata.dev(), metadata.ino()));
        let (locked, found) = (identity(opened), identity(&current));
        let is_same =
            locked.map_err(|source| self.failed(source))? == found.map_err(|source| self.failed(source))?;
        let mut bytes = Vec::new();
        // One byte more than before shows that the file is longer.
        let length_max = before.len() as u64 + 1;
        current.take(length_max).read_to_end(&mut bytes).map_err(|source| self.failed(source))?;
        if is_same && bytes == before {
            Ok(())
        } else {
            Err(FileWriteError::Conflict { path: self.path.clone() })
        }
    }

    fn create_new(&self) -> Result<(), FileWriteError> {
        let folder = directory_of(&self.path);
        let temporary = self.temporary(folder)?;
        self.fill(&temporary)?;
        temporary.persist_noclobber(&self.path).map_err(|PersistError { error, .. }| match error.kind() {
            io::ErrorKind::AlreadyExists => FileWriteError::Exists { path: self.path.clone() },
            _ => self.failed(error),
        })?;
        sync_directory(folder);
        Ok(())
    }

    /// Creates an empty temporary file beside the target. It is deleted unless it is renamed.
    fn temporary(&self, folder: &Path) -> Result<NamedTempFile, FileWriteError> {
        tempfile::Builder::new()
            .prefix(TEMPORARY_PREFIX)
            .permissions(Permissions::from_mode(NEW_FILE_MODE))
            .tempfile_in(folder)
            .map_err(|source| FileWriteError::Folder {
                path: self.path.clone(),
                folder: folder.to_owned(),
                source,
            })
    }

    fn fill(&self, temporary: &NamedTempFile) -> Result<(), FileWriteError> {
        let mut file = temporary.as_file();
        file.write_all(&self.after).and_then(|()| file.sync_all()).map_err(|source| self.failed(source))
    }

    /// Converts an I/O error. A missing file is a conflict.
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

/// Copies owner and mode of the replaced file to a new one. If the group cannot be preserved, its members get no more permissions than
/// others.
fn copy_permissions(file: &File, old: &Metadata) -> io::Result<()> {
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

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Syncs the directory. An error is ignored, because the rename has already succeeded.
fn sync_directory(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        drop(folder.sync_all());
    }
}
