//! Changing files of a store: what a file was when it was read, and what it shall be.

mod write;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_yaml::{Change, EditError, Target};

use crate::files::read_bounded;
use crate::{FILE_BYTES_MAX, FileName, StoredApplication};

pub use write::FileWriteError;

/// What the bytes of a file were. People see and give the first 16 hexadecimal digits of their BLAKE3 digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileVersion([u8; blake3::OUT_LEN]);

/// How many bytes of a version are shown.
const SHOWN_BYTES: usize = 8;

/// A file with changes that are not yet written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    path: PathBuf,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

/// Why a file cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum FileEditError {
    /// What was read is no file that is there now.
    #[error("{name} is no file that can be changed; give the file itself as the store")]
    NoFile {
        /// What it is called.
        name: FileName,
    },
    /// The file is not what it was when the store was loaded, or it is gone.
    #[error("{} was changed by somebody else after it was read; nothing was written, try again", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
    },
    /// The file system does not give the file.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The file is too large.
    #[error("{} is larger than {FILE_BYTES_MAX} bytes, the most that a store's file may have", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The changes do not fit the text.
    #[error("cannot change {}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: EditError,
    },
}

impl FileVersion {
    /// The version that has these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for FileVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(SHOWN_BYTES).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl StoredApplication {
    /// What its file was when it was read; `None` if it does not come from a file that is there now.
    pub fn version(&self) -> Option<FileVersion> {
        self.version
    }

    /// Its file with changes, the paths of which begin at the Application. Nothing is written. The file is read again: if it is not
    /// what it was, that is a [`FileEditError::Conflict`].
    pub fn edit(&self, changes: &[Change]) -> Result<FileEdit, FileEditError> {
        let name = &self.place.file;
        let (Some(path), Some(version)) = (name.path(), self.version) else {
            return Err(FileEditError::NoFile { name: name.clone() });
        };
        let before = match read(path) {
            Ok(before) if FileVersion::of(&before) == version => before,
            Err(FileEditError::Read { source, .. }) if source.kind() != io::ErrorKind::NotFound => {
                return Err(FileEditError::Read { path: path.to_owned(), source });
            }
            _ => return Err(FileEditError::Conflict { path: path.to_owned() }),
        };
        FileEdit::from_bytes(path, before, Target::At(self.node.position), changes)
    }
}

impl FileEdit {
    /// An existing file, read now, with changes.
    pub fn of(path: impl Into<PathBuf>, target: Target, changes: &[Change]) -> Result<Self, FileEditError> {
        let path = path.into();
        let before = read(&path)?;
        Self::from_bytes(&path, before, target, changes)
    }

    /// A file that is not there yet. Writing it fails if it is there by then.
    pub fn create(path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), before: None, after: text.into() }
    }

    fn from_bytes(
        path: &Path,
        before: Vec<u8>,
        target: Target,
        changes: &[Change],
    ) -> Result<Self, FileEditError> {
        match tiphys_yaml::edit(&before, target, changes) {
            Ok(after) => Ok(Self { path: path.to_owned(), before: Some(before), after }),
            Err(source) => Err(FileEditError::Edit { path: path.to_owned(), source }),
        }
    }

    /// The file, as people call it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it was; `None` if it is new.
    pub fn before(&self) -> Option<&[u8]> {
        self.before.as_deref()
    }

    /// What it becomes.
    pub fn after(&self) -> &[u8] {
        &self.after
    }

    /// Whether writing would change nothing.
    pub fn is_unchanged(&self) -> bool {
        self.before.as_ref() == Some(&self.after)
    }
}

/// Reads a file of a store.
fn read(path: &Path) -> Result<Vec<u8>, FileEditError> {
    match read_bounded(path) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(FileEditError::TooLarge { path: path.to_owned() }),
        Err(source) => Err(FileEditError::Read { path: path.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests;
