//! Files of a checkout that did not change since git wrote its index, which has the ids of their blobs. They are not read.
//!
//! `git ls-files --modified` knows them, too, but may run the filters of the repository's configuration.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use gix_hash::Kind;
use gix_index::entry::{Flags, Mode, Stage, Stat, stat};
use gix_index::fs::Metadata;
use gix_index::{Entry, File, decode};
use gix_object::tree::EntryKind;
use tiphys_tree::{DirectoryEntry, RepoPath, TreeLimits, look_at_files};

use crate::checkout::{ATTRIBUTES_FILE, attributes_convert};
use crate::identity::FileId;
use crate::local::LocalRepository;

/// Words of attributes that convert files on their way into a commit, beside those of a checkout.
const CONVERTING: [&str; 3] = ["eol", "filter", "text"];

/// Larger files of attributes count as such that convert files.
const ATTRIBUTES_BYTES_MAX: u64 = 1 << 20;

/// Entries with one of these are not compared by git.
const NOT_COMPARED: Flags =
    Flags::ASSUME_VALID.union(Flags::INTENT_TO_ADD).union(Flags::SKIP_WORKTREE).union(Flags::REMOVE);

/// Every field that identifies a file on its device.
const COMPARED: stat::Options =
    stat::Options { trust_ctime: true, check_stat: true, use_nsec: true, use_stdev: false };

/// Returns the unchanged files among `files`, with the ids in the index. None if git may convert files, or the index cannot be read.
pub(super) fn unchanged(
    repository: &LocalRepository,
    dir: &Path,
    files: &BTreeSet<RepoPath>,
    limits: TreeLimits,
) -> Vec<FileId> {
    let settings = &repository.source.settings;
    let converts = |attributes: &[u8]| {
        let text = String::from_utf8_lossy(attributes);
        attributes_convert(attributes) || CONVERTING.iter().any(|word| text.contains(word))
    };
    let attributes: Vec<RepoPath> =
        files.iter().filter(|file| file.file_name() == Some(ATTRIBUTES_FILE)).cloned().collect();
    // Git ignores a link.
    let file_converts = |entry: DirectoryEntry<'_>| match entry {
        DirectoryEntry::Link { .. } => Ok(false),
        DirectoryEntry::File { bytes, .. } if bytes > ATTRIBUTES_BYTES_MAX => Ok(true),
        DirectoryEntry::File { content, .. } => {
            let mut text = Vec::new();
            content.take(ATTRIBUTES_BYTES_MAX).read_to_end(&mut text)?;
            Ok(converts(&text))
        }
    };
    let Some(index) = &repository.index else { return Vec::new() };
    if settings.may_convert()
        || settings.attributes().into_iter().any(converts)
        || look_at_files(dir, &attributes, limits, file_converts)
            .map_or(true, |read| read.into_iter().any(|(_, converts)| converts))
    {
        return Vec::new();
    }
    let index = File::at(index, Kind::Sha1, false, decode::Options::default());
    let Ok(index) = index else { return Vec::new() };
    let unchanged = |entry: &Entry| {
        let path = RepoPath::new(std::str::from_utf8(entry.path(&index)).ok()?).ok()?;
        let metadata =
            files.contains(&path).then(|| Metadata::from_path_no_follow(&path.below(dir)).ok()).flatten()?;
        let kind = unchanged_kind(entry, &metadata, &index)?;
        Some((path, kind, entry.id))
    };
    index.entries().iter().filter_map(unchanged).collect()
}

/// Returns the kind of an entry's file, if the file is that of the entry.
fn unchanged_kind(entry: &Entry, metadata: &Metadata, index: &File) -> Option<EntryKind> {
    let (kind, is_of_kind) = match entry.mode {
        Mode::FILE => (EntryKind::Blob, metadata.is_file() && !metadata.is_executable()),
        Mode::FILE_EXECUTABLE => (EntryKind::BlobExecutable, metadata.is_file() && metadata.is_executable()),
        Mode::SYMLINK => (EntryKind::Link, metadata.is_symlink()),
        _ => return None,
    };
    let is_compared = entry.stage() == Stage::Unconflicted && !entry.flags.intersects(NOT_COMPARED);
    let is_same = is_of_kind
        && is_compared
        && !entry.stat.is_racy(index.timestamp(), COMPARED)
        && entry.stat.matches(&Stat::from_fs(metadata).ok()?, COMPARED);
    is_same.then_some(kind)
}

#[cfg(test)]
mod tests;
