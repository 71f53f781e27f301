//! The two glob languages of plugin discovery.
//!
//! Both look at a [`Place`]: a tree on disk or its entries in memory, which give the same answers. They take the whole absolute path
//! for the pattern, so that special characters in the names of a repository's directories count (`spec/cmp.md` 3.1). Names that are not UTF-8 are matched as Go does: each byte that cannot be read counts as U+FFFD.

mod file_name;
mod find;
mod go_match;
mod go_path;
mod go_regexp;
mod mask;
mod place;
mod search;
#[cfg(test)]
mod tests;

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use tiphys_limits::Limit;

pub use place::{Folder, Listing, Place};

use search::Search;

use crate::path::{shown, to_path};

/// A pattern that cannot be used, or a tree that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GlobError {
    /// The pattern is malformed.
    #[error("syntax error in pattern")]
    Pattern,
    /// The pattern of a `find` gives a regular expression that Go refuses; the text is Go's.
    #[error("error parsing regexp: {reason}")]
    Regexp {
        /// What, and the part of the expression.
        reason: String,
    },
    /// zglob's answer for a missing literal path or static prefix.
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
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The pattern leads to too many names, most often by links that lead back.
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
    /// Nobody waits for the answer any more.
    #[error("the search was not carried to its end, because the call has ended")]
    Stopped,
}

/// `discover.fileName`: Go's `filepath.Glob(filepath.Join(base, pattern))` (`spec/cmp.md` 3.2 and 14). The hits, relative to the
/// tree's root and sorted by bytes; hits outside of the tree do not count.
///
/// A directory that cannot be read has no hits; the only errors are [`GlobError::Pattern`] and [`GlobError::TooManyLooks`].
pub fn file_name(place: &Place<'_>, pattern: &str) -> Result<Vec<PathBuf>, GlobError> {
    let search = Search::new(place.tree.entries_max(), &|| false);
    let found = search::all(|hit| file_name::glob(place, &joined(place, pattern), &search, hit))?;
    Ok(inside(place, &found))
}

/// Whether [`file_name`] has a hit. Looks no further than to the first one, and asks `stop` as it goes.
pub fn has_file_name(place: &Place<'_>, pattern: &str, stop: &dyn Fn() -> bool) -> Result<bool, GlobError> {
    let search = Search::new(place.tree.entries_max(), stop);
    search::any(
        |path| place.inside(path).is_some(),
        |hit| file_name::glob(place, &joined(place, pattern), &search, hit),
    )
}

/// `discover.find.glob`: go-zglob's `Glob(filepath.Join(base, pattern))` (`spec/cmp.md` 3.3 and 14). `variable` looks up `$NAME`
/// segments. The hits, relative to the tree's root and sorted by bytes; hits outside of the tree do not count. Letter case counts on
/// every system, as it does for plugin servers on Linux.
pub fn find(
    place: &Place<'_>,
    pattern: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<PathBuf>, GlobError> {
    let found = find::glob(
        place,
        &joined(place, pattern),
        variable,
        &Search::new(place.tree.entries_max(), &|| false),
    )?;
    Ok(inside(place, &found))
}

/// Whether [`find`] has a hit. Asks `stop` as it goes. Looks at everything, since what cannot be read is an error wherever it is.
pub fn has_found(
    place: &Place<'_>,
    pattern: &str,
    variable: &dyn Fn(&str) -> Option<String>,
    stop: &dyn Fn() -> bool,
) -> Result<bool, GlobError> {
    let found =
        find::glob(place, &joined(place, pattern), variable, &Search::new(place.tree.entries_max(), stop))?;
    Ok(found.iter().any(|path| place.inside(path).is_some()))
}

/// Go's `filepath.Match` on Linux.
pub fn go_match(pattern: &str, name: &str) -> Result<bool, GlobError> {
    go_match::matches(pattern.as_bytes(), name.as_bytes())
}

fn joined(place: &Place<'_>, pattern: &str) -> Vec<u8> {
    go_path::join(place.absolute_base().as_os_str().as_bytes(), pattern.as_bytes())
}

fn inside(place: &Place<'_>, found: &[Vec<u8>]) -> Vec<PathBuf> {
    let mut found: Vec<&[u8]> = found.iter().filter_map(|path| place.inside(path)).collect();
    found.sort_unstable();
    found.into_iter().map(|path| to_path(path).to_path_buf()).collect()
}
