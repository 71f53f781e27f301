//! Patterns of value files, as the library `doublestar` takes them, which Argo CD uses.
//!
//! `*`, `?` and `[a-z]` match within a name, hidden names too; `**` as a whole part is any number of folders, and at the end everything below
//! as well; `{a,b}` stands for each of the two; a backslash takes a sign's meaning away. Links are followed.
//!
//! Only the repository is looked at: a part of a pattern that is absolute or has `..` matches nothing, as in `doublestar`, and so does
//! everything behind a link that leads out of the repository.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;
use tiphys_tree::ContainmentError;

use super::path::real;

/// What one pattern may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Names and parts of the pattern that are looked at. Links to folders above make as many as one likes of a few.
    pub(crate) looks_max: usize,
    /// Files that match; helm gets each as an argument.
    pub(crate) matches_max: usize,
}

/// Bytes of a pattern; they bound how many folders it names, too.
const PATTERN_BYTES_MAX: usize = 1_024;

/// Braces in braces.
const BRACES_DEPTH_MAX: usize = 16;

/// Patterns without braces that one with braces stands for.
const ALTERNATIVES_MAX: usize = 1_000;

/// Why a pattern cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GlobError {
    /// It is not one.
    #[error("syntax error in pattern")]
    Syntax,
    /// It is too long.
    #[error("it has {bytes} bytes, more than {PATTERN_BYTES_MAX}; write several patterns")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Its braces multiply.
    #[error("its braces stand for more than {ALTERNATIVES_MAX} patterns; write several patterns")]
    TooManyAlternatives,
    /// Its braces nest.
    #[error("it has more than {BRACES_DEPTH_MAX} braces in each other; write several patterns")]
    TooDeep,
    /// A folder could not be read.
    #[error("cannot read {path}", path = path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// It leads to too much.
    #[error(
        "more than {max} names were looked at; write it more narrowly, or raise TIPHYS_HELM_GLOB_LOOKS_MAX"
    )]
    TooManyLooks {
        /// The bound.
        max: usize,
    },
    /// It matches too much.
    #[error("more than {max} files match; write it more narrowly, or raise TIPHYS_HELM_GLOB_FILES_MAX")]
    TooManyMatches {
        /// The bound.
        max: usize,
    },
}

/// What is kept of what matches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Files and folders.
    All,
    /// Folders, of which a later part of the pattern is looked for.
    Folders,
}

/// The paths below a folder of a repository that a pattern matches. Files of a folder come before what is in its subfolders, names in the
/// order of their bytes.
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
    let mut found = search.glob(folder, pattern.as_bytes(), Wanted::All)?;
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    Ok(found)
}

struct Search<'a> {
    /// The repository, outside of which nothing is looked at.
    root: &'a Path,
    looks: usize,
    bounds: Bounds,
}

impl Search<'_> {
    fn glob(&mut self, folder: &Path, pattern: &[u8], wanted: Wanted) -> Result<Vec<PathBuf>, GlobError> {
        self.look()?;
        if pattern.is_empty() {
            return Ok(vec![folder.to_path_buf()]);
        }
        if !has_meta(pattern) {
            let rest = unescaped(pattern);
            let rest = Path::new(OsStr::from_bytes(&rest));
            let path = folder.join(rest);
            let is_there = is_below(rest)
                && match wanted {
                    Wanted::All => self.exists(&path),
                    Wanted::Folders => self.is_folder(&path),
                };
            return Ok(if is_there { vec![path] } else { Vec::new() });
        }
        let slash = last_unescaped(pattern, b'/');
        let closing = last_unescaped(pattern, b'}');
        if let Some(closing) = closing.filter(|closing| slash.is_none_or(|slash| slash < *closing))
            && let Some(opening) = opening_of(pattern, closing)
        {
            return self.alternatives(folder, pattern, opening, closing, wanted);
        }
        let (folders, name) = match slash {
            Some(slash) => (self.glob(folder, &pattern[..slash], Wanted::Folders)?, &pattern[slash + 1..]),
            None => (vec![folder.to_path_buf()], pattern),
        };
        let mut found = Vec::new();
        for folder in folders {
            self.names(&folder, name, wanted, &mut found)?;
            let max = self.bounds.matches_max;
            if found.len() > max {
                return Err(GlobError::TooManyMatches { max });
            }
        }
        Ok(found)
    }

    /// The last `{a,b}` of a pattern: each alternative in turn, what they match sorted and once.
    fn alternatives(
        &mut self,
        folder: &Path,
        pattern: &[u8],
        opening: usize,
        closing: usize,
        wanted: Wanted,
    ) -> Result<Vec<PathBuf>, GlobError> {
        let prefix_end = last_unescaped(&pattern[..opening], b'/');
        let (folders, start) = match prefix_end {
            Some(slash) if last_unescaped(&pattern[..opening], b'}').is_none_or(|brace| brace < slash) => {
                (self.glob(folder, &pattern[..slash], Wanted::Folders)?, slash + 1)
            }
            _ => (vec![folder.to_path_buf()], 0),
        };
        let mut found = Vec::new();
        for folder in folders {
            let mut here = Vec::new();
            for alternative in split_alternatives(&pattern[opening + 1..closing]) {
                let whole = [&pattern[start..opening], alternative, &pattern[closing + 1..]].concat();
                here.extend(self.glob(&folder, &whole, wanted)?);
            }
            here.sort();
            here.dedup();
            found.extend(here);
        }
        Ok(found)
    }

    /// What is in a folder and matches the last part of a pattern.
    fn names(
        &mut self,
        folder: &Path,
        pattern: &[u8],
        wanted: Wanted,
        found: &mut Vec<PathBuf>,
    ) -> Result<(), GlobError> {
        if pattern == b"**" {
            return self.below(folder, wanted, found);
        }
        if !has_meta(pattern) {
            found.extend(self.glob(folder, pattern, wanted)?);
            return Ok(());
        }
        for (path, is_folder) in self.list(folder)? {
            let name = path.file_name().map_or(&b""[..], OsStr::as_bytes);
            if (is_folder || wanted == Wanted::All) && is_match(pattern, name) {
                found.push(path);
            }
        }
        Ok(())
    }

    /// A folder and what is below it.
    fn below(&mut self, folder: &Path, wanted: Wanted, found: &mut Vec<PathBuf>) -> Result<(), GlobError> {
        found.push(folder.to_path_buf());
        for (path, is_folder) in self.list(folder)? {
            if is_folder {
                self.below(&path, wanted, found)?;
            } else if wanted == Wanted::All {
                found.push(path);
            }
        }
        Ok(())
    }

    /// What is in a folder, in the order of names, and whether it is a folder, links followed. Nothing for what is no folder of the
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

    /// Whether something is at a path, the last link not followed.
    fn exists(&self, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        path == self.root || self.real(folder).is_ok_and(|real| real.join(name).symlink_metadata().is_ok())
    }

    /// Whether a folder is at a path, links followed.
    fn is_folder(&self, path: &Path) -> bool {
        self.real(path).is_ok_and(|real| real.is_dir())
    }

    /// Returns where a path leads with all links followed. What is behind a link that leads out of the repository does not exist.
    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        real(self.root, path).map_err(|error| match error {
            ContainmentError::Io { source, .. } => source,
            _ => Errno::NOENT.into(),
        })
    }

    /// Counts a look at a name.
    fn look(&mut self) -> Result<(), GlobError> {
        self.looks += 1;
        let max = self.bounds.looks_max;
        if self.looks > max { Err(GlobError::TooManyLooks { max }) } else { Ok(()) }
    }
}

/// Whether a path has names only: it is neither absolute nor climbs with `..`.
fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Nothing there, a file, or links that lead to each other.
fn is_no_folder(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG)
    )
}

/// Whether a name matches a part of a pattern that has no slash and no braces.
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

/// Goes back to the last star only: what an earlier one may take, the later one may, too.
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

/// How many signs of the pattern stand for this character, if they do.
fn one(pattern: &[char], char: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => class(pattern, char),
        '\\' => (pattern.get(1) == Some(&char)).then_some(2),
        sign => (*sign == char).then_some(1),
    }
}

/// `[a-z]`, `[!a]`, `[^a]`. It is closed: patterns were looked at before.
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

/// Whether classes and braces are closed and nothing ends in a backslash.
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

/// How many patterns without braces a valid one stands for: groups beside each other multiply, alternatives add up.
fn alternatives(pattern: &[u8]) -> Result<usize, GlobError> {
    // For each open group the patterns before it, and those of its alternatives that are complete.
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
    // Signs of classes may look like braces.
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

/// The `{` that belongs to a `}`.
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

/// What is between the commas, those in inner braces not counted.
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

/// Whether an odd number of backslashes stands before.
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
