//! Editing files of a store: the content that was read and the new content.

mod write;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tiphys_yaml::{Change, EditError, Target};

use crate::files::{FILE_BYTES_MAX, FileVersion, read_bounded};
use crate::place::FileName;
use crate::resources::StoredApplication;

pub use write::FileWriteError;

/// A file with changes that are not written yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    path: PathBuf,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

/// The reason why a file cannot be edited.
#[derive(Debug, thiserror::Error)]
pub enum FileEditError {
    /// The document does not come from an existing file.
    #[error("{name} is not a file that can be changed; name the file itself as the store")]
    NoFile {
        /// Its name in messages.
        name: FileName,
    },
    /// A directory of the store contains a symbolic link instead of the file.
    #[error("{} is a symbolic link in the store; nothing was written; to change {}, name it as the store", path.display(), target.display())]
    Link {
        /// The link.
        path: PathBuf,
        /// The file that it leads to.
        target: PathBuf,
    },
    /// The file was changed or deleted after the store was loaded.
    #[error("{} was changed by another process after it was read; nothing was written, try again", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
    },
    /// Reading failed.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
    /// The file is too large.
    #[error("{} is larger than {FILE_BYTES_MAX} bytes, the limit for files of the store", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The changes do not fit the content.
    #[error("cannot change {}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// The error of the edit.
        #[source]
        source: EditError,
    },
    /// Two edits of a file change the same part of it.
    #[error("{} would be changed twice at the same place, for different applications; change them one after another", path.display())]
    Overlap {
        /// The file.
        path: PathBuf,
    },
}

impl StoredApplication {
    /// Returns the version of its file when it was read; `None` if it does not come from an existing file.
    pub fn version(&self) -> Option<FileVersion> {
        self.version
    }

    /// Returns its file with changes, whose paths start at the Application. Nothing is written. The file is read again; if it changed, that
    /// is a [`FileEditError::Conflict`].
    pub fn edit(&self, changes: &[Change]) -> Result<FileEdit, FileEditError> {
        let name = &self.place.file;
        let (Some(path), Some(version)) = (name.path(), self.version) else {
            return Err(FileEditError::NoFile { name: name.clone() });
        };
        if let Some(target) = &self.link_target {
            return Err(FileEditError::Link { path: path.to_owned(), target: target.clone() });
        }
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
    /// Reads an existing file and applies changes to it.
    pub fn of(path: impl Into<PathBuf>, target: Target, changes: &[Change]) -> Result<Self, FileEditError> {
        let path = path.into();
        let before = read(&path)?;
        Self::from_bytes(&path, before, target, changes)
    }

    /// Returns the edit that creates a file. Writing it fails if the file exists by then.
    pub fn create(path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), before: None, after: text.into() }
    }

    /// Returns the edit that gives a file other content. Writing it fails if the file changed by then.
    pub fn with_content(path: impl Into<PathBuf>, before: Vec<u8>, after: Vec<u8>) -> Self {
        Self { path: path.into(), before: Some(before), after }
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

    /// Joins the edits of each file to one, whatever path leads to it. All were made from the content that the file has now. Equal ones count
    /// once.
    pub fn join(edits: impl IntoIterator<Item = Self>) -> Result<Vec<Self>, FileEditError> {
        let mut by_file: BTreeMap<PathBuf, Vec<Self>> = BTreeMap::new();
        for edit in edits {
            let file = edit.path.canonicalize().unwrap_or_else(|_| edit.path.clone());
            let of_file = by_file.entry(file).or_default();
            if !of_file.iter().any(|other| (&other.before, &other.after) == (&edit.before, &edit.after)) {
                of_file.push(edit);
            }
        }
        by_file.into_values().map(|edits| Self::joined(&edits)).collect()
    }

    /// Joins the edits of one file.
    fn joined(edits: &[Self]) -> Result<Self, FileEditError> {
        if let [only] = edits {
            return Ok(only.clone());
        }
        let path = edits.first().map(|edit| edit.path.clone()).unwrap_or_default();
        let before = edits.first().and_then(|edit| edit.before.clone());
        if edits.iter().any(|edit| edit.before != before) {
            return Err(FileEditError::Conflict { path });
        }
        let text = before.as_deref().unwrap_or_default();
        let replaced = edits.iter().map(|edit| replacement(text, &edit.after));
        let mut replaced: Vec<(Range<usize>, &[u8])> = replaced.collect();
        replaced.sort_by_key(|(range, _)| (range.start, range.end));
        let (mut after, mut end, mut inserted_at) = (Vec::new(), 0, None);
        for (range, new) in replaced {
            let is_second_insertion =
                range.is_empty() && inserted_at.replace(range.start) == Some(range.start);
            let Some(kept) = text.get(end..range.start).filter(|_| !is_second_insertion) else {
                return Err(FileEditError::Overlap { path });
            };
            after.extend_from_slice(kept);
            after.extend_from_slice(new);
            end = range.end;
        }
        after.extend_from_slice(&text[end..]);
        Ok(Self { path, before, after })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the old content; `None` if the file is new.
    pub fn before(&self) -> Option<&[u8]> {
        self.before.as_deref()
    }

    /// Returns the new content.
    pub fn after(&self) -> &[u8] {
        &self.after
    }

    /// Returns whether writing would change nothing.
    pub fn is_unchanged(&self) -> bool {
        self.before.as_ref() == Some(&self.after)
    }
}

/// Returns the range of the old content that an edit replaces, and its replacement.
fn replacement<'a>(before: &[u8], after: &'a [u8]) -> (Range<usize>, &'a [u8]) {
    let equal = |(one, other): &(&u8, &u8)| one == other;
    let start = before.iter().zip(after).take_while(equal).count();
    let rest = before[start..].iter().rev().zip(after[start..].iter().rev()).take_while(equal).count();
    (start..before.len() - rest, &after[start..after.len() - rest])
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
