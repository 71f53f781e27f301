//! What people see when a command fails: one text on standard error, in the words of Argo CD's native Helm support.

use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit code of bad usage.
pub(crate) const USAGE_CODE: u8 = 2;

/// Exit code of `announce` where a chart has more than is announced: it may render all the same, and its values may be set.
const PAST_BOUND_CODE: u8 = 3;

/// Exit code after a signal that asked the process to end, as shells have it for SIGTERM.
pub(crate) const INTERRUPTED_CODE: u8 = 143;

/// Exit code of everything else.
const FAILED_CODE: u8 = 1;

/// What stands for the folder of a repository in texts, as in Argo CD's.
pub(crate) const SOURCE_PLACEHOLDER: &str = "<path to cached source>";

/// Options whose value is not shown.
const SECRET_OPTIONS: [&str; 2] = ["--username", "--password"];

/// What stands for a secret.
const MASK: &str = "******";

/// A path of this machine, and what stands for it in texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownPath {
    /// The path.
    pub(crate) path: PathBuf,
    /// The text in its place.
    pub(crate) shown: &'static str,
}

/// A failed command, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// A failure whose text names no path and no secret.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: FAILED_CODE }
    }

    /// An error with its causes, without this machine's paths.
    pub(crate) fn of(error: &dyn Error, paths: &[ShownPath]) -> Self {
        Self::new(without_paths(&chain(error), paths))
    }

    /// The same, because of a bound of announcements.
    pub(crate) fn past_bound(self) -> Self {
        Self { code: PAST_BOUND_CODE, ..self }
    }

    /// Prints the failure and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        // Nobody is left to tell if stderr is closed.
        drop(writeln!(io::stderr().lock(), "{}", self.message));
        ExitCode::from(self.code)
    }
}

impl<E: Error> From<E> for Failure {
    /// An error whose text names nothing of this machine.
    fn from(error: E) -> Self {
        Self::of(&error, &[])
    }
}

/// An error and its causes as one sentence.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// An error of the system in Go's words: `no such file or directory`.
pub(crate) fn go_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error ").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// A text of a command, or of what it printed, without the values of options that carry secrets.
pub(crate) fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let found = SECRET_OPTIONS
            .iter()
            .filter_map(|option| {
                let at =
                    rest.match_indices(option).find(|(at, _)| rest[at + option.len()..].starts_with(' '))?.0;
                Some((at, at + option.len() + 1))
            })
            .min();
        let Some((_, value)) = found else { break };
        out.push_str(&rest[..value]);
        out.push_str(MASK);
        let end = rest[value..].find(' ').map_or(rest.len(), |length| value + length);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// A text with each run of `--api-versions VERSION ` replaced, as Argo CD does: the version ends at the next blank, whatever it is.
pub(crate) fn without_api_versions(text: &str) -> String {
    const OPTION: &str = "--api-versions ";
    let one = |text: &str| -> Option<usize> {
        let version = text.strip_prefix(OPTION)?.find(' ').filter(|length| *length > 0)?;
        Some(OPTION.len() + version + 1)
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(OPTION) {
        let (before, run) = rest.split_at(at);
        out.push_str(before);
        let mut end = 0;
        while let Some(length) = one(&run[end..]) {
            end += length;
        }
        if end == 0 {
            out.push_str(OPTION);
            end = OPTION.len();
        } else {
            out.push_str("<api versions removed> ");
        }
        rest = &run[end..];
    }
    out.push_str(rest);
    out
}

/// A text with paths replaced, longer ones first. The root of the file system and relative paths are left alone.
pub(crate) fn without_paths(text: &str, paths: &[ShownPath]) -> String {
    let is_worth = |path: &Path| path.is_absolute() && path.parent().is_some();
    let mut known: Vec<(&str, &str)> = paths
        .iter()
        .filter(|path| is_worth(&path.path))
        .filter_map(|path| Some((path.path.to_str()?, path.shown)))
        .collect();
    known.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    known.iter().fold(text.to_owned(), |text, (path, shown)| text.replace(path, shown))
}

#[cfg(test)]
mod tests;
