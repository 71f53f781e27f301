//! go-zglob's `Glob`: one walk below the static part of the pattern, each path against one regular expression.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use regex::Regex;

use super::mask::Mask;
use super::{GlobError, go_path, go_regexp, to_path};

/// The paths that match a cleaned absolute pattern, in no order.
pub(super) fn glob(
    pattern: &[u8],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<Vec<u8>>, GlobError> {
    match Mask::new(pattern, variable) {
        Mask::Literal => match fs::metadata(to_path(pattern)) {
            Ok(_) => Ok(vec![pattern.to_vec()]),
            // Whatever keeps it from being seen, go-zglob says that it is not there.
            Err(_) => Err(GlobError::Missing { path: to_path(pattern).to_path_buf() }),
        },
        Mask::Search { root, prefix, regexp } => {
            let regexp = go_regexp::compile(&regexp)?;
            walk(&root, &prefix, &regexp)
        }
    }
}

/// Walks without following links; the root alone may be one. Entries are told apart by what the directory says of them.
fn walk(root: &[u8], prefix: &[u8], regexp: &Regex) -> Result<Vec<Vec<u8>>, GlobError> {
    let mut hits = Vec::new();
    let metadata = fs::metadata(to_path(root)).map_err(|error| failed(root, error))?;
    if !metadata.is_dir() {
        if is_match(regexp, root) {
            hits.push(root.to_vec());
        }
        return Ok(hits);
    }
    let mut todo = vec![root.to_vec()];
    while let Some(directory) = todo.pop() {
        let mut path = directory;
        let unreadable = |error| failed(&path, error);
        let entries = fs::read_dir(to_path(&path)).map_err(unreadable)?;
        let directory_length = path.len();
        for entry in entries {
            let entry = entry.map_err(|error| failed(&path[..directory_length], error))?;
            path.truncate(directory_length);
            // The file system's root ends in a slash already; go-zglob does not look, and nothing matches there.
            path.push(b'/');
            path.extend_from_slice(entry.file_name().as_bytes());
            let is_directory = entry.file_type().map_err(|error| failed(&path, error))?.is_dir();
            let hit = is_match(regexp, &path);
            if hit {
                hits.push(path.clone());
            }
            if is_directory && (hit || path.len() >= prefix.len() || leads_to(&path, prefix)) {
                todo.push(path.clone());
            }
        }
    }
    Ok(hits)
}

/// Whether a directory is on the way to the static part of the pattern.
fn leads_to(directory: &[u8], prefix: &[u8]) -> bool {
    prefix.strip_prefix(directory).is_some_and(|rest| rest.starts_with(b"/"))
}

fn is_match(regexp: &Regex, path: &[u8]) -> bool {
    let text = match std::str::from_utf8(path) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(go_path::chars(path).collect()),
    };
    regexp.is_match(&text)
}

fn failed(path: &[u8], source: io::Error) -> GlobError {
    let path = to_path(path).to_path_buf();
    if source.kind() == io::ErrorKind::NotFound {
        GlobError::Missing { path }
    } else {
        GlobError::Io { path, source }
    }
}
