//! Patterns of value files, in the syntax of Go's `doublestar`, which Argo CD uses.
//!
//! `*`, `?` and `[a-z]` match within a name, hidden names included. `**` as a whole component is any number of directories, and at the end
//! everything below. `{a,b}` is an alternative; a backslash escapes a character. Links are followed.
//!
//! Only the repository is searched. An absolute component or `..` in a pattern matches nothing, as in `doublestar`, and neither does
//! anything behind a link that leads out of the repository.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;
use tiphys_tree::ContainmentError;

use super::path::real;

/// Limits of one pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Names and pattern components that are examined. Links to parent directories multiply them without end.
    pub(crate) looks_max: usize,
    /// Matching files; helm gets each as an argument.
    pub(crate) matches_max: usize,
}

/// Maximum bytes of a pattern; also limits the number of its directories.
const PATTERN_BYTES_MAX: usize = 1_024;

/// Maximum nesting of braces.
const BRACES_DEPTH_MAX: usize = 16;

/// Maximum number of patterns without braces that one with braces expands to.
const ALTERNATIVES_MAX: usize = 1_000;

/// Errors of patterns.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GlobError {
    /// Invalid syntax.
    #[error("syntax error in pattern")]
    Syntax,
    /// The pattern is too long.
    #[error("it has {bytes} bytes, more than {PATTERN_BYTES_MAX}; write several patterns")]
    TooLong { bytes: usize },
    /// The braces expand to too many patterns.
    #[error("its braces expand to more than {ALTERNATIVES_MAX} patterns; write several patterns")]
    TooManyAlternatives,
    /// The braces are nested too deeply.
    #[error("its braces are nested more than {BRACES_DEPTH_MAX} deep; write several patterns")]
    TooDeep,
    /// A directory could not be read.
    #[error("cannot read {path}", path = path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Too many names were examined.
    #[error("more than {max} names were examined; narrow it, or increase TIPHYS_HELM_GLOB_LOOKS_MAX")]
    TooManyLooks { max: usize },
    /// There are too many matches.
    #[error("more than {max} files match; narrow it, or increase TIPHYS_HELM_GLOB_FILES_MAX")]
    TooManyMatches { max: usize },
}

/// The type of matches to collect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Select {
    /// Files and directories.
    All,
    /// Directories, in which the rest of the pattern is searched.
    Folders,
}

/// Returns the paths below a directory of a repository that a pattern matches. Files precede the content of subdirectories; names are in
/// byte order.
pub(super) fn find(
    root: &Path,
    folder: &Path,
    pattern: &str,
    bounds: Bounds,
) -> Result<Vec<PathBuf>, GlobError> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(GlobError::TooLong { bytes: pattern.len() });
    }
    if !is_valid(pattern.as_bytes()) {
        return Err(GlobError::Syntax);
    }
    if alternatives(pattern.as_bytes())? > ALTERNATIVES_MAX {
        return Err(GlobError::TooManyAlternatives);
    }
    let mut search = Search { root, looks: 0, bounds };
    let mut found = search.glob(folder, pattern.as_bytes(), Select::All)?;
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    Ok(found)
}

struct Search<'a> {
    /// The repository, which limits the search.
    root: &'a Path,
    looks: usize,
    bounds: Bounds,
}

impl Search<'_> {
    fn glob(&mut self, folder: &Path, pattern: &[u8], select: Select) -> Result<Vec<PathBuf>, GlobError> {
        self.look()?;
        if pattern.is_empty() {
            return Ok(vec![folder.to_path_buf()]);
        }
        if !has_meta(pattern) {
            let rest = unescaped(pattern);
            let rest = Path::new(OsStr::from_bytes(&rest));
            let path = folder.join(rest);
            let is_there = is_below(rest)
                && match select {
                    Select::All => self.exists(&path),
                    Select::Folders => self.is_folder(&path),
                };
            return Ok(if is_there { vec![path] } else { Vec::new() });
        }
        let slash = last_unescaped(pattern, b'/');
        let closing = last_unescaped(pattern, b'}');
        if let Some(closing) = closing.filter(|closing| slash.is_none_or(|slash| slash < *closing))
            && let Some(opening) = opening_of(pattern, closing)
        {
            return self.alternatives(folder, pattern, opening, closing, select);
        }
        let (folders, name) = match slash {
            Some(slash) => (self.glob(folder, &pattern[..slash], Select::Folders)?, &pattern[slash + 1..]),
            None => (vec![folder.to_path_buf()], pattern),
        };
        let mut found = Vec::new();
        for folder in folders {
            self.names(&folder, name, select, &mut found)?;
            let max = self.bounds.matches_max;
            if found.len() > max {
                return Err(GlobError::TooManyMatches { max });
            }
        }
        Ok(found)
    }

    /// Expands the last `{a,b}` of a pattern: the matches of each alternative in turn, sorted and unique.
    fn alternatives(
        &mut self,
        folder: &Path,
        pattern: &[u8],
        opening: usize,
        closing: usize,
        select: Select,
    ) -> Result<Vec<PathBuf>, GlobError> {
        let prefix_end = last_unescaped(&pattern[..opening], b'/');
        let (folders, start) = match prefix_end {
            Some(slash) if last_unescaped(&pattern[..opening], b'}').is_none_or(|brace| brace < slash) => {
                (self.glob(folder, &pattern[..slash], Select::Folders)?, slash + 1)
            }
            _ => (vec![folder.to_path_buf()], 0),
        };
        let mut found = Vec::new();
        for folder in folders {
            let mut here = Vec::new();
            for alternative in split_alternatives(&pattern[opening + 1..closing]) {
                let whole = [&pattern[start..opening], alternative, &pattern[closing + 1..]].concat();
                here.extend(self.glob(&folder, &whole, select)?);
            }
            here.sort();
            here.dedup();
            found.extend(here);
        }
        Ok(found)
    }

    /// Returns the entries of a directory that match the last component of a pattern.
    fn names(
        &mut self,
        folder: &Path,
        pattern: &[u8],
        select: Select,
        found: &mut Vec<PathBuf>,
    ) -> Result<(), GlobError> {
        if pattern == b"**" {
            return self.below(folder, select, found);
        }
        if !has_meta(pattern) {
            found.extend(self.glob(folder, pattern, select)?);
            return Ok(());
        }
        for (path, is_folder) in self.list(folder)? {
            let name = path.file_name().map_or(&b""[..], OsStr::as_bytes);
            if (is_folder || select == Select::All) && is_match(pattern, name) {
                found.push(path);
            }
        }
        Ok(())
    }

    /// Collects a directory and everything below it.
    fn below(&mut self, folder: &Path, select: Select, found: &mut Vec<PathBuf>) -> Result<(), GlobError> {
        found.push(folder.to_path_buf());
        for (path, is_folder) in self.list(folder)? {
            if is_folder {
                self.below(&path, select, found)?;
            } else if select == Select::All {
                found.push(path);
            }
        }
        Ok(())
    }

    /// Lists a directory in name order, with whether each entry is a directory, links resolved. Empty for anything but a directory of the
    /// repository.
    fn list(&mut self, folder: &Path) -> Result<Vec<(PathBuf, bool)>, GlobError> {
        let failed = |source| GlobError::Io { path: folder.to_path_buf(), source };
        let entries = match self.real(folder).and_then(fs::read_dir) {
            Ok(entries) => entries,
            Err(error) if is_no_folder(&error) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            self.look()?;
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().map_err(failed)?;
            let is_folder = kind.is_dir() || (kind.is_symlink() && self.is_folder(&path));
            found.push((path, is_folder));
        }
        found.sort();
        Ok(found)
    }

    /// Whether a path exists, without following its last link.
    fn exists(&self, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        path == self.root || self.real(folder).is_ok_and(|real| real.join(name).symlink_metadata().is_ok())
    }

    /// Whether a path is a directory, links resolved.
    fn is_folder(&self, path: &Path) -> bool {
        self.real(path).is_ok_and(|real| real.is_dir())
    }

    /// Resolves all links of a path. Targets outside the repository count as missing.
    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        real(self.root, path).map_err(|error| match error {
            ContainmentError::Io { source, .. } => source,
            _ => Errno::NOENT.into(),
        })
    }

    /// Counts an examined name.
    fn look(&mut self) -> Result<(), GlobError> {
        self.looks += 1;
        let max = self.bounds.looks_max;
        if self.looks > max { Err(GlobError::TooManyLooks { max }) } else { Ok(()) }
    }
}

/// Whether a path is relative and without `..`.
fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The path is missing, a file, or a circle of links.
fn is_no_folder(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG)
    )
}

/// Whether a name matches a component without slashes and braces.
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    let (Ok(pattern), Ok(name)) = (std::str::from_utf8(pattern), std::str::from_utf8(name)) else {
        return is_match_of(&bytes(pattern), &bytes(name));
    };
    is_match_of(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
}

/// Names that are not UTF-8 are matched byte by byte.
fn bytes(text: &[u8]) -> Vec<char> {
    text.iter().map(|byte| char::from(*byte)).collect()
}

/// Backtracks to the last star only: it can match whatever an earlier one can.
fn is_match_of(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        if pattern.get(at) == Some(&'*') {
            at += 1;
            star = Some((at, read));
            continue;
        }
        if let Some(next) = one(&pattern[at..], name[read]) {
            at += next;
            read += 1;
        } else if let Some((after, from)) = star {
            (at, read) = (after, from + 1);
            star = Some((after, from + 1));
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|sign| *sign == '*')
}

/// Returns the length of the pattern element that matches this character.
fn one(pattern: &[char], char: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => class(pattern, char),
        '\\' => (pattern.get(1) == Some(&char)).then_some(2),
        sign => (*sign == char).then_some(1),
    }
}

/// Matches `[a-z]`, `[!a]` or `[^a]`. Validated patterns have closed classes.
fn class(pattern: &[char], char: char) -> Option<usize> {
    let is_negated = matches!(pattern.get(1), Some('!' | '^'));
    let mut at = if is_negated { 2 } else { 1 };
    let mut is_in = false;
    let next = |at: &mut usize| -> Option<char> {
        if pattern.get(*at) == Some(&'\\') {
            *at += 1;
        }
        let sign = pattern.get(*at).copied();
        *at += 1;
        sign
    };
    while pattern.get(at).is_some_and(|sign| *sign != ']') {
        let low = next(&mut at)?;
        let mut high = low;
        if pattern.get(at) == Some(&'-') && pattern.get(at + 1).is_some_and(|sign| *sign != ']') {
            at += 1;
            high = next(&mut at)?;
        }
        is_in |= (low..=high).contains(&char);
    }
    (is_in != is_negated).then_some(at + 1)
}

/// Whether classes and braces are closed and no backslash is last.
fn is_valid(pattern: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = pattern.get(at) {
        match byte {
            b'\\' => {
                at += 1;
                if at >= pattern.len() {
                    return false;
                }
            }
            b'[' => {
                at += 1;
                if matches!(pattern.get(at), Some(b'!' | b'^')) {
                    at += 1;
                }
                if matches!(pattern.get(at), None | Some(b']')) {
                    return false;
                }
                while pattern.get(at).is_some_and(|byte| *byte != b']') {
                    at += if pattern[at] == b'\\' { 2 } else { 1 };
                }
                if at >= pattern.len() {
                    return false;
                }
            }
            b'{' => depth += 1,
            b'}' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => {}
        }
        at += 1;
    }
    depth == 0
}

/// Counts the patterns without braces that a valid one expands to: adjacent groups multiply, alternatives add up.
fn alternatives(pattern: &[u8]) -> Result<usize, GlobError> {
    // For each open group: the patterns before it, and those of its complete alternatives.
    let mut groups: Vec<(usize, usize)> = Vec::new();
    let mut current = 1_usize;
    for (_, byte) in pattern.iter().enumerate().filter(|(at, _)| !is_escaped(pattern, *at)) {
        let depth = groups.len();
        match (byte, groups.last_mut()) {
            (b'{', _) if depth == BRACES_DEPTH_MAX => return Err(GlobError::TooDeep),
            (b'{', _) => groups.push((mem::replace(&mut current, 1), 0)),
            (b',', Some((_, complete))) => {
                *complete = complete.saturating_add(mem::replace(&mut current, 1));
            }
            (b'}', Some((before, complete))) => {
                current = complete.saturating_add(current).saturating_mul(*before);
                groups.pop();
            }
            _ => {}
        }
    }
    // Classes may contain braces.
    let whole = |current: usize, (before, complete): &(usize, usize)| {
        complete.saturating_add(current).saturating_mul(*before)
    };
    Ok(groups.iter().fold(current, whole))
}

fn has_meta(pattern: &[u8]) -> bool {
    (0..pattern.len()).any(|at| b"*?[{".contains(&pattern[at]) && !is_escaped(pattern, at))
}

fn last_unescaped(pattern: &[u8], sign: u8) -> Option<usize> {
    (0..pattern.len()).rev().find(|at| pattern[*at] == sign && !is_escaped(pattern, *at))
}

/// Returns the `{` that matches a `}`.
fn opening_of(pattern: &[u8], closing: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in (0..closing).rev() {
        match pattern[at] {
            b'}' if !is_escaped(pattern, at) => depth += 1,
            b'{' if !is_escaped(pattern, at) => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(at),
            },
            _ => {}
        }
    }
    None
}

/// Splits at commas outside inner braces.
fn split_alternatives(inner: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, byte) in inner.iter().enumerate() {
        if is_escaped(inner, at) {
            continue;
        }
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    parts
}

/// Whether an odd number of backslashes precedes.
fn is_escaped(pattern: &[u8], at: usize) -> bool {
    pattern[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

fn unescaped(pattern: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        out.push(if *byte == b'\\' { *bytes.next().unwrap_or(byte) } else { *byte });
    }
    out
}

#[cfg(test)]
mod tests;
