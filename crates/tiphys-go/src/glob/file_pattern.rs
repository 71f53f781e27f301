//! Patterns of files in a repository, as the `git` generator of `ApplicationSets` has them.

use regex::bytes::Regex;

/// A pattern of the paths of a repository's files.
#[derive(Clone, Debug)]
pub struct FilePattern {
    /// A path: the file, or all files below the directory.
    literal: Option<String>,
    /// None: the pattern is malformed, and matches nothing.
    regex: Option<Regex>,
}

/// A pattern that git refuses, or that tiphys does not support.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilePatternError {
    /// Magic of git's pathspecs.
    #[error("pattern {0:?} starts with `:`; the magic of git's pathspecs is not supported")]
    Magic(String),
    /// An absolute path, or one with `..`.
    #[error("pattern {0:?} leads out of the repository")]
    Outside(String),
}

impl FilePattern {
    /// Parses a pattern of `git ls-files`: `*` and `?` match slashes, too, `?` one byte; a path of a directory matches all files below it.
    pub fn of_git(pattern: &str) -> Result<Self, FilePatternError> {
        if pattern.starts_with(':') {
            return Err(FilePatternError::Magic(pattern.to_owned()));
        }
        let path = inside(pattern)?;
        let regex = regex(&path, Syntax { crosses_slashes: true });
        Ok(Self { literal: Some(path.trim_end_matches('/').to_owned()), regex })
    }

    /// Parses a pattern with `**`, for `--git-file-globbing new`: `*` and `?` match no slash, `**` as a part of the path matches any number
    /// of directories, `{a,b}` matches either.
    pub fn with_double_star(pattern: &str) -> Result<Self, FilePatternError> {
        let path = inside(pattern)?;
        Ok(Self { literal: None, regex: regex(&path, Syntax { crosses_slashes: false }) })
    }

    /// Returns whether the pattern matches the path of a file.
    pub fn matches(&self, path: &str) -> bool {
        let is_below = |literal: &String| {
            path.strip_prefix(literal.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || literal.is_empty())
        };
        self.literal.as_ref().is_some_and(is_below)
            || self.regex.as_ref().is_some_and(|regex| regex.is_match(path.as_bytes()))
    }
}

/// Differences between the two kinds of patterns.
#[derive(Clone, Copy)]
struct Syntax {
    /// Whether `*` and `?` match slashes. If not, `**` and `{a,b}` are special.
    crosses_slashes: bool,
}

/// Returns a pattern without `.` and empty parts. The last slash stays.
fn inside(pattern: &str) -> Result<String, FilePatternError> {
    let mut parts = pattern.split('/').filter(|part| *part != ".").peekable();
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Err(FilePatternError::Outside(pattern.to_owned()));
    }
    let mut path = String::with_capacity(pattern.len());
    while let Some(part) = parts.next() {
        path.push_str(part);
        if parts.peek().is_some() && !part.is_empty() {
            path.push('/');
        }
    }
    Ok(path)
}

/// Translates a pattern; none if it is malformed.
fn regex(pattern: &str, syntax: Syntax) -> Option<Regex> {
    let (any, one) = if syntax.crosses_slashes { (".*", ".") } else { ("[^/]*", "[^/]") };
    let mut text = String::from(if syntax.crosses_slashes { "(?s-u)^" } else { "(?s)^" });
    let mut depth = 0_usize;
    let mut rest = pattern;
    let mut is_at_part = true;
    while let Some(first) = rest.chars().next() {
        let mut after = &rest[first.len_utf8()..];
        match first {
            '*' => {
                let end = rest.len() - rest.trim_start_matches('*').len();
                after = &rest[end..];
                let is_part = end == 2 && is_at_part && (after.is_empty() || after.starts_with('/'));
                if is_part && !syntax.crosses_slashes {
                    let directories = if after.is_empty() { ".*" } else { "(?:.*/)?" };
                    after = after.strip_prefix('/').unwrap_or(after);
                    text.push_str(directories);
                } else {
                    text.push_str(any);
                }
            }
            '?' => text.push_str(one),
            '[' => after = class(after, syntax, &mut text)?,
            '{' if !syntax.crosses_slashes => {
                depth += 1;
                text.push_str("(?:");
            }
            '}' if depth > 0 => {
                depth -= 1;
                text.push(')');
            }
            ',' if depth > 0 => text.push('|'),
            '\\' => {
                let escaped = after.chars().next()?;
                after = &after[escaped.len_utf8()..];
                text.push_str(&regex::escape(escaped.encode_utf8(&mut [0; 4])));
            }
            other => text.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
        is_at_part = after.len() < rest.len() && rest[..rest.len() - after.len()].ends_with('/');
        rest = after;
    }
    text.push('$');
    Regex::new(&text).ok()
}

/// Translates a class of characters, whose `[` is read already. Returns what follows; none if the class has no end.
fn class<'a>(pattern: &'a str, syntax: Syntax, text: &mut String) -> Option<&'a str> {
    let negated = pattern.strip_prefix(['!', '^']);
    let mut rest = negated.unwrap_or(pattern);
    let mut is_first = true;
    text.push_str(if negated.is_some() { "[^" } else { "[" });
    if negated.is_some() && !syntax.crosses_slashes {
        text.push('/');
    }
    loop {
        let first = rest.chars().next()?;
        let after = &rest[first.len_utf8()..];
        rest = match first {
            ']' if !is_first => {
                text.push(']');
                return Some(after);
            }
            '[' if after.starts_with(':') => {
                let end = after.find(":]")? + 2;
                text.push('[');
                text.push_str(&after[..end]);
                &after[end..]
            }
            '-' => {
                text.push('-');
                after
            }
            '\\' => {
                let escaped = after.chars().next()?;
                text.push_str(&regex::escape(escaped.encode_utf8(&mut [0; 4])));
                &after[escaped.len_utf8()..]
            }
            other => {
                text.push_str(&regex::escape(other.encode_utf8(&mut [0; 4])));
                after
            }
        };
        is_first = false;
    }
}

#[cfg(test)]
mod tests;
