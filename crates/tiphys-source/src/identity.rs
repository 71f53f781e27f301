//! Telling the files of two sources apart without writing them: by the ids that git has or would have for them.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gix_hash::{Kind, ObjectId};
use gix_object::tree::EntryKind;
use tiphys_access::ContextProject;
use tiphys_tree::{DirectoryEntry, RepoPath, TreeLimits, look_at_files};

use crate::SourceError;

/// Changes when the meaning of what is hashed changes.
const DOMAIN: &str = "tiphys 2026-11 files of a source";

/// Bytes that are read from a file at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// What the files of a source are. Equal values mean equal files; sources of one command can be compared, and those that
/// [`Sources::at`](crate::Sources::at) made of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FilesIdentity(pub(crate) Identity);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// What a remote repository has at a revision, which is looked up once for all applications of a command that are in this project.
    Remote { repository: String, revision: String, project: Arc<ContextProject> },
    /// These files.
    Content { digest: [u8; 32], links: bool },
}

impl FilesIdentity {
    /// Whether other files than these may be reached from them, over a link. Not known, and so taken for granted, of a remote repository.
    pub fn may_lead_elsewhere(&self) -> bool {
        match &self.0 {
            Identity::Remote { .. } => true,
            Identity::Content { links, .. } => *links,
        }
    }
}

/// A file or link and its id.
pub(crate) type Named = (RepoPath, EntryKind, ObjectId);

impl Identity {
    /// The identity of these files, in whatever order they come.
    pub(crate) fn of_files(mut files: Vec<Named>) -> Self {
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
        let links = files.iter().any(|(_, kind, _)| *kind == EntryKind::Link);
        Self::Content { digest: *hasher.finalize().as_bytes(), links }
    }
}

/// The ids that git would give to files of a folder, each worked out once.
#[derive(Default)]
pub(crate) struct FileIds {
    known: Mutex<HashMap<RepoPath, Option<(EntryKind, ObjectId)>>>,
}

impl FileIds {
    /// The ids of some files. What is not there any more has none.
    pub(crate) fn of(
        &self,
        dir: &Path,
        files: &[RepoPath],
        limits: TreeLimits,
    ) -> Result<Vec<Named>, SourceError> {
        let unknown: Vec<RepoPath> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            files.iter().filter(|file| !known.contains_key(*file)).cloned().collect()
        };
        let read = look_at_files(dir, &unknown, limits, id_of)?;
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

/// The id of a blob with this content.
fn id_of(entry: DirectoryEntry<'_>) -> io::Result<(EntryKind, ObjectId)> {
    let (kind, bytes, content): (_, _, &mut dyn Read) = match entry {
        DirectoryEntry::Link { target } => {
            (EntryKind::Link, target.len() as u64, &mut io::Cursor::new(target))
        }
        DirectoryEntry::File { executable, bytes, content } => {
            (if executable { EntryKind::BlobExecutable } else { EntryKind::Blob }, bytes, content)
        }
    };
    let mut hasher = gix_hash::hasher(Kind::Sha1);
    hasher.update(format!("blob {bytes}\0").as_bytes());
    let mut buffer =
        vec![0; CHUNK_BYTES.min(usize::try_from(bytes).unwrap_or(CHUNK_BYTES).saturating_add(1))];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => hasher.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // A file that was made to collide with another one is none of git's.
    let id = hasher.try_finalize().map_err(|error| io::Error::other(error.to_string()))?;
    Ok((kind, id))
}
