//! Comparing the files of two sources without writing them, by their git object ids.

use std::collections::HashMap;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gix_hash::{Kind, ObjectId};
use gix_object::tree::EntryKind;
use tiphys_model::access::ContextProject;
use tiphys_tree::{DirectoryEntry, RepoPath, TreeLimits, look_at_files};

use crate::SourceError;

/// Changed when the input of the hash changes.
const DOMAIN: &str = "tiphys 2026-11 files of a source";

/// The identity of a source's files. Equal values mean equal files. Comparable among the [`Sources`](crate::Sources) of one command and
/// those that [`Sources::at`](crate::Sources::at) returns for them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FilesIdentity(pub(crate) Identity);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// A remote repository at a revision, which a command resolves once per project.
    Remote { repository: String, revision: String, project: Arc<ContextProject> },
    /// A hash of the files.
    Content([u8; 32]),
}

/// A file or symbolic link and its blob id.
pub(crate) type FileId = (RepoPath, EntryKind, ObjectId);

impl Identity {
    /// Returns the identity of these files. Their order does not matter.
    pub(crate) fn of_files(mut files: Vec<FileId>) -> Self {
        files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        for (path, kind, id) in &files {
            let path = path.as_str().as_bytes();
            hasher.update(&u64::try_from(path.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(path);
            hasher.update(match kind {
                EntryKind::BlobExecutable => b"x",
                EntryKind::Link => b"l",
                EntryKind::Blob | EntryKind::Tree | EntryKind::Commit => b"f",
            });
            hasher.update(id.as_slice());
        }
        Self::Content(*hasher.finalize().as_bytes())
    }
}

/// The blob ids of a directory's files, each computed once.
#[derive(Default)]
pub(crate) struct FileIds {
    known: Mutex<HashMap<RepoPath, Option<(EntryKind, ObjectId)>>>,
}

impl FileIds {
    /// Adds ids of files that need not be read.
    pub(crate) fn add(&self, files: Vec<FileId>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(files.into_iter().map(|(path, kind, id)| (path, Some((kind, id)))));
    }

    /// Returns the ids of some files. Deleted files are left out.
    pub(crate) fn of(
        &self,
        dir: &Path,
        files: &[RepoPath],
        limits: TreeLimits,
    ) -> Result<Vec<FileId>, SourceError> {
        let unknown: Vec<RepoPath> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            files.iter().filter(|file| !known.contains_key(*file)).cloned().collect()
        };
        let read = look_at_files(dir, &unknown, limits, blob_id)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (file, id) in read {
            known.insert(file.clone(), Some(id));
        }
        for file in &unknown {
            known.entry(file.clone()).or_default();
        }
        Ok(files
            .iter()
            .filter_map(|file| {
                let (kind, id) = (*known.get(file)?)?;
                Some((file.clone(), kind, id))
            })
            .collect())
    }
}

/// Returns the git id of a blob with this content.
pub(crate) fn blob_id(entry: DirectoryEntry<'_>) -> io::Result<(EntryKind, ObjectId)> {
    let (kind, bytes, content): (_, _, &mut dyn Read) = match entry {
        DirectoryEntry::Link { target } => {
            (EntryKind::Link, target.len() as u64, &mut io::Cursor::new(target))
        }
        DirectoryEntry::File { executable, bytes, content } => {
            (if executable { EntryKind::BlobExecutable } else { EntryKind::Blob }, bytes, content)
        }
    };
    let mut writer = gix_hash::io::Write::new(io::sink(), Kind::Sha1);
    write!(writer, "blob {bytes}\0")?;
    io::copy(content, &mut writer)?;
    // Fails for content that attacks SHA-1, as git does.
    let id = writer.hash.try_finalize().map_err(|error| io::Error::other(error.to_string()))?;
    Ok((kind, id))
}
