//! The two glob languages of plugin discovery.
//!
//! Both match in a [`Place`]: a tree on disk or its entries in memory, with the same results. As in Argo CD the pattern is the whole
//! absolute path, so special characters in the names of a repository's directories count. Names that are not UTF-8 are matched like in Go:
//! each invalid byte counts as U+FFFD.

mod file_name;
mod find;
mod mask;
mod place;
mod search;
#[cfg(test)]
mod tests;

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use tiphys_go::glob::MalformedPattern;
use tiphys_go::path::join;
use tiphys_model::limits::Limit;

pub use find::FindCache;
pub use place::{Folder, Listing, Place};

use search::Search;

use crate::path::{shown, to_path};

/// An invalid pattern, or an unreadable tree.
#[derive(Debug, thiserror::Error)]
pub enum GlobError {
    /// The pattern is malformed.
    #[error(transparent)]
    Pattern(#[from] MalformedPattern),
    /// The pattern of a `find` results in a regular expression that Go rejects; the message is Go's.
    #[error("error parsing regexp: {reason}")]
    Regexp {
        /// The error and the part of the expression.
        reason: String,
    },
    /// zglob's error for a missing literal path or static prefix.
    #[error("{}: file does not exist", shown(path.as_os_str().as_bytes()))]
    Missing {
        /// The path, relative to the tree's root if it is in the tree.
        path: PathBuf,
    },
    /// The file system failed.
    #[error("cannot read {}", shown(path.as_os_str().as_bytes()))]
    Io {
        /// The path, relative to the tree's root if it is in the tree.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The pattern visits too many names, usually because of links to parent directories.
    #[error(
        "more than {max} names would have to be looked at; use fewer wildcards for folders, or remove links that lead back to their own folder"
    )]
    TooManyLooks {
        /// The maximum number.
        max: u64,
        /// [`Limit::TREE_ENTRIES_MAX`].
        #[source]
        limit: Limit,
    },
    /// The search was stopped.
    #[error("the search was not carried to its end, because the call has ended")]
    Stopped,
}

/// `discover.fileName`: Go's `filepath.Glob(filepath.Join(base, pattern))`. Returns the matches relative to the tree's root in byte order,
/// without those outside the tree.
///
/// An unreadable directory has no matches; the only errors are [`GlobError::Pattern`] and [`GlobError::TooManyLooks`].
pub fn file_name(place: &Place<'_>, pattern: &str) -> Result<Vec<PathBuf>, GlobError> {
    let search = Search::new(place.tree.entries_max(), &|| false);
    let found = search::all(|hit| file_name::glob(place, &joined(place, pattern), &search, hit))?;
    Ok(inside(place, &found))
}

/// Whether [`file_name`] has a match. Stops at the first one, and calls `stop` repeatedly.
pub fn has_file_name(place: &Place<'_>, pattern: &str, stop: &dyn Fn() -> bool) -> Result<bool, GlobError> {
    let search = Search::new(place.tree.entries_max(), stop);
    search::any(
        |path| place.inside(path).is_some(),
        |hit| file_name::glob(place, &joined(place, pattern), &search, hit),
    )
}

/// `discover.find.glob`: go-zglob's `Glob(filepath.Join(base, pattern))`. `variable` resolves `$NAME` segments. Returns the matches
/// relative to the tree's root in byte order, without those outside the tree. Case-sensitive on all systems, as for plugin servers on
/// Linux.
pub fn find(
    place: &Place<'_>,
    pattern: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<PathBuf>, GlobError> {
    let found = find::glob(
        place,
        &joined(place, pattern),
        variable,
        &FindCache::default(),
        &Search::new(place.tree.entries_max(), &|| false),
    )?;
    Ok(inside(place, &found))
}

/// Whether [`find`] has a match. `compiled` is that of the same pattern in other directories. Calls `stop` repeatedly. Visits everything, because any unreadable directory is an error.
pub fn has_found(
    place: &Place<'_>,
    pattern: &str,
    variable: &dyn Fn(&str) -> Option<String>,
    compiled: &FindCache,
    stop: &dyn Fn() -> bool,
) -> Result<bool, GlobError> {
    let found = find::glob(
        place,
        &joined(place, pattern),
        variable,
        compiled,
        &Search::new(place.tree.entries_max(), stop),
    )?;
    Ok(found.iter().any(|path| place.inside(path).is_some()))
}

fn joined(place: &Place<'_>, pattern: &str) -> Vec<u8> {
    join(place.absolute_base().as_os_str().as_bytes(), pattern.as_bytes())
}

fn inside(place: &Place<'_>, found: &[Vec<u8>]) -> Vec<PathBuf> {
    let mut found: Vec<&[u8]> = found.iter().filter_map(|path| place.inside(path)).collect();
    found.sort_unstable();
    found.into_iter().map(|path| to_path(path).to_path_buf()).collect()
}
