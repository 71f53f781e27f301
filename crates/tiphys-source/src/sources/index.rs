//! The files of a revision in memory.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

use gix_object::tree::EntryKind;
use tiphys_tree::{DirectoryEntry, RepoPath, first_link_out, look_at_files, read_to_bound};
use tokio::sync::OnceCell;

use super::{Origin, RevisionFile, Sources, blocking};
use crate::identity::blob_id;
use crate::{ResolvedRevision, SourceError};

/// Maximum bytes of all contents of an index.
const CONTENTS_BYTES_MAX: u64 = 256 << 20;

/// The files of a revision, sorted by path, with the targets of all links and the content of the files that were asked for.
#[derive(Debug, Default)]
pub struct RevisionIndex {
    files: Vec<RevisionFile>,
    contents: BTreeMap<RepoPath, Vec<u8>>,
    link_out: OnceLock<Option<String>>,
}

/// The indexes of revisions, each made once.
pub(super) type Indexes = HashMap<Origin, Arc<OnceCell<Arc<RevisionIndex>>>>;

/// Chooses the files whose content is part of an index, by their names.
pub type HasContent = fn(&str) -> bool;

impl RevisionIndex {
    /// Returns the index of files in memory: each with its path, whether it is a link, and its content or target.
    pub fn of_memory<'f>(
        files: impl IntoIterator<Item = (&'f RepoPath, bool, &'f [u8])>,
        has_content: HasContent,
    ) -> io::Result<Self> {
        let mut index = Self::default();
        for (path, is_link, content) in files {
            let entry = if is_link {
                DirectoryEntry::Link { target: content }
            } else {
                let bytes = content.len() as u64;
                DirectoryEntry::File { executable: false, bytes, content: &mut &*content }
            };
            let (kind, id) = blob_id(entry)?;
            if is_link || path.file_name().is_some_and(has_content) {
                index.contents.insert(path.clone(), content.to_vec());
            }
            index.files.push(RevisionFile::new(path.clone(), kind, id));
        }
        index.files.sort();
        Ok(index)
    }

    /// Returns the file or link at a path.
    pub fn file(&self, path: &RepoPath) -> Option<&RevisionFile> {
        let index = self.files.binary_search_by(|file| file.path.cmp(path)).ok()?;
        self.files.get(index)
    }

    /// Returns the files below a directory; none if it does not exist.
    pub fn below(&self, directory: &RepoPath) -> &[RevisionFile] {
        if directory.is_root() {
            return &self.files;
        }
        // `0` is the byte after `/`.
        let (first, end) = (format!("{directory}/"), format!("{directory}0"));
        let position = |bound: &str| self.files.partition_point(|file| file.path.as_str() < bound);
        &self.files[position(&first)..position(&end)]
    }

    /// Returns the target of a link, or the content of a file that was asked for. None if the file, or
    /// all together, have more bytes than permitted.
    pub fn content(&self, path: &RepoPath) -> Option<&[u8]> {
        self.contents.get(path).map(Vec::as_slice)
    }

    /// Returns the first link for which the tree of the whole revision is rejected, because it leads out of it. All links are checked once,
    /// when this is first called.
    pub fn link_out(&self) -> Option<&str> {
        let find = || {
            let links = self.files.iter().filter(|file| file.is_link);
            // A target that is too large to be part of the index is not a path in the tree.
            let target = |link: &RevisionFile| self.content(&link.path).unwrap_or(b"/");
            first_link_out(links.map(|link| (link.path.as_str().as_bytes(), target(link))))
        };
        self.link_out.get_or_init(find).as_deref()
    }
}

impl Sources {
    /// Returns the files of a revision, with the content of those with a chosen name and at most `bytes_max` bytes. Within one request, the
    /// index of a revision is made once, so the same choice must be made for each.
    pub async fn index(
        &self,
        revision: &ResolvedRevision,
        has_content: HasContent,
        bytes_max: u64,
    ) -> Result<Arc<RevisionIndex>, SourceError> {
        let cell = {
            let mut known = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(revision.origin.clone()).or_default())
        };
        let making = || Box::pin(self.make_index(revision, has_content, bytes_max));
        cell.get_or_try_init(making).await.cloned()
    }

    async fn make_index(
        &self,
        revision: &ResolvedRevision,
        has_content: HasContent,
        bytes_max: u64,
    ) -> Result<Arc<RevisionIndex>, SourceError> {
        let limits = self.service.store.limits();
        let room = Room(AtomicU64::new(CONTENTS_BYTES_MAX));
        let is_read = move |path: &RepoPath, is_link| is_link || path.file_name().is_some_and(has_content);
        let index = if let Origin::Files(copy) = &revision.origin {
            let files = self.files(revision, None).await?;
            let dir = self.copy(*copy).await?.dir.clone();
            blocking(move || {
                let read = files.iter().filter(|file| is_read(&file.path, file.is_link));
                let read: Vec<RepoPath> = read.map(|file| file.path.clone()).collect();
                let found = look_at_files(&dir, &read, limits, |entry| content_of(entry, bytes_max, &room))?;
                let contents = found.into_iter().filter_map(|(path, content)| Some((path.clone(), content?)));
                let contents = contents.collect();
                Ok(RevisionIndex { files, contents, ..RevisionIndex::default() })
            })
            .await?
        } else {
            let listing = self.listing(&revision.origin, None).await?;
            blocking(move || {
                let mut contents = listing.contents();
                let mut index = RevisionIndex::default();
                for item in &listing.items {
                    if is_read(&item.path, item.kind == EntryKind::Link) {
                        let bytes = contents.bytes_of(item);
                        if bytes <= bytes_max && room.takes(bytes) {
                            index.contents.insert(item.path.clone(), contents.of(item)?.to_vec());
                        }
                    }
                    index.files.push(RevisionFile::new(item.path.clone(), item.kind, item.id));
                }
                index.files.sort();
                Ok(index)
            })
            .await?
        };
        Ok(Arc::new(index))
    }
}

/// The bytes that an index may still take.
struct Room(AtomicU64);

impl Room {
    /// Whether there is room for these bytes, which are then taken.
    fn takes(&self, bytes: u64) -> bool {
        let rest = |left: u64| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).is_ok()
    }
}

fn content_of(entry: DirectoryEntry<'_>, bytes_max: u64, room: &Room) -> io::Result<Option<Vec<u8>>> {
    match entry {
        DirectoryEntry::Link { target } => Ok(Some(target.to_vec())),
        DirectoryEntry::File { bytes, .. } if bytes > bytes_max || !room.takes(bytes) => Ok(None),
        DirectoryEntry::File { content, bytes, .. } => read_to_bound(content, bytes),
    }
}

#[cfg(test)]
mod tests;
