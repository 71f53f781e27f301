//! What people see when a command fails: one text on standard error, in the words of Argo CD's native Helm support.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use tiphys_process::escape_text;

use crate::shown::Cleaner;

/// Exit code of bad usage.
pub(crate) const USAGE_CODE: u8 = 2;

/// Exit code of `announce` where a chart has more than is announced: it may render all the same, and its values may be set.
const PAST_BOUND_CODE: u8 = 3;

/// Exit code after a signal that asked the process to end, as shells have it for SIGTERM.
pub(crate) const INTERRUPTED_CODE: u8 = 143;

/// Exit code of everything else.
const FAILED_CODE: u8 = 1;

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

    /// An error with its causes, cleaned.
    pub(crate) fn of(error: &dyn Error, cleaner: &Cleaner) -> Self {
        Self::new(cleaner.cleaned(&chain(error)))
    }

    /// The same, because of a bound of announcements.
    pub(crate) fn past_bound(self) -> Self {
        Self { code: PAST_BOUND_CODE, ..self }
    }

    /// Prints the failure and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        // Nobody is left to tell if stderr is closed.
        drop(writeln!(io::stderr().lock(), "{}", escape_text(&self.message)));
        ExitCode::from(self.code)
    }
}

impl<E: Error> From<E> for Failure {
    /// An error whose text names nothing of this machine.
    fn from(error: E) -> Self {
        Self::of(&error, &Cleaner::default())
    }
}

/// Prints something that is no failure.
pub(crate) fn note(text: &str) {
    // Nobody is left to tell if stderr is closed.
    drop(writeln!(io::stderr().lock(), "note: {}", escape_text(text)));
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

#[cfg(test)]
mod tests;
