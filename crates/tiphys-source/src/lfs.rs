//! Git LFS pointers: small text files that refer to content on an LFS server.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use tiphys_tree::RepoPath;

use crate::SourceError;
use crate::narrowing::holds;

/// Maximum size of a pointer in bytes, by its specification.
pub(crate) const POINTER_BYTES_MAX: u64 = 1024;

/// The beginning of a pointer.
const POINTER_START: &[u8] = b"version https://git-lfs";

/// Whether the content of a file is a pointer.
pub(crate) fn is_pointer(content: &[u8]) -> bool {
    let is_small = u64::try_from(content.len()).is_ok_and(|length| length <= POINTER_BYTES_MAX);
    is_small && content.starts_with(POINTER_START)
}

/// Returns the pointers in a tree below a path, sorted. Symbolic links are not followed.
pub(crate) fn find(root: &Path, path: &RepoPath) -> Result<Vec<RepoPath>, SourceError> {
    let mut found = Vec::new();
    let mut waiting = vec![path.clone()];
    while let Some(path) = waiting.pop() {
        let place = path.below(root);
        let failed = |source| SourceError::Read { path: place.clone(), source };
        let Ok(metadata) = fs::symlink_metadata(&place) else { continue };
        if metadata.is_dir() {
            for entry in fs::read_dir(&place).map_err(failed)? {
                let name = entry.map_err(failed)?.file_name();
                waiting.push(path.join(&name.to_string_lossy())?);
            }
        } else if metadata.is_file() && metadata.len() <= POINTER_BYTES_MAX {
            let mut start = Vec::with_capacity(POINTER_START.len());
            let length = u64::try_from(POINTER_START.len()).unwrap_or(u64::MAX);
            fs::File::open(&place)
                .and_then(|file| file.take(length).read_to_end(&mut start))
                .map_err(failed)?;
            if start == POINTER_START {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Fails if a pointer is below the application's path.
pub(crate) fn refuse(
    pointers: &[RepoPath],
    app_path: &RepoPath,
    repository: &str,
) -> Result<(), SourceError> {
    let mut below = pointers.iter().filter(|pointer| holds(app_path, pointer));
    let Some(file) = below.next() else { return Ok(()) };
    let others = match below.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Err(SourceError::LfsPointer { repository: repository.to_owned(), file: file.clone(), others })
}
