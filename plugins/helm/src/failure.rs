//! Failures of commands: one message on standard error, in the words of Argo CD's native Helm support.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use tiphys_model::params::{ABOVE_LIMIT_STATUS, ENGINES_DIFFER_STATUS, ONLY_HELM_STATUS};
pub(crate) use tiphys_process::chain;
use tiphys_process::{FailureCause, NOT_FOUND_CODE, escape_text};

use crate::redaction::Redactor;

/// Exit code of invalid usage.
pub(crate) const USAGE_CODE: u8 = 2;

/// Exit code after a termination signal: the shell's code of SIGTERM.
pub(crate) const INTERRUPTED_CODE: u8 = 143;

/// Exit code of all other failures.
const FAILED_CODE: u8 = 1;

/// A failed command, with the final message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// A failure whose message contains no path and no secret.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: FAILED_CODE }
    }

    /// An error with its causes, redacted.
    pub(crate) fn of(error: &dyn Error, redactor: &Redactor) -> Self {
        Self::new(redactor.redact(&chain(error)))
    }

    /// Marks the failure as caused by a limit of announcements.
    pub(crate) fn above_limit(self) -> Self {
        Self { code: ABOVE_LIMIT_STATUS, ..self }
    }

    /// Puts the cause before the message, which tiphys prints with `-v` only.
    pub(crate) fn because(self, cause: FailureCause<'_>) -> Self {
        Self { message: cause.with_details(&self.message), ..self }
    }

    /// Marks the failure as a difference between the engines.
    pub(crate) fn engines_differ(self) -> Self {
        Self { code: ENGINES_DIFFER_STATUS, ..self }
    }

    /// Marks the failure of a chart that only the program can render.
    pub(crate) fn only_helm(self) -> Self {
        Self { code: ONLY_HELM_STATUS, ..self }
    }

    /// Marks the failure as caused by a missing program.
    pub(crate) fn not_found(self) -> Self {
        Self { code: NOT_FOUND_CODE, ..self }
    }

    /// Prints the failure and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        // stderr may be closed.
        drop(writeln!(io::stderr().lock(), "{}", escape_text(&self.message)));
        ExitCode::from(self.code)
    }
}

impl<E: Error> From<E> for Failure {
    /// An error without paths or secrets.
    fn from(error: E) -> Self {
        Self::of(&error, &Redactor::default())
    }
}

/// Prints a note.
pub(crate) fn note(text: &str) {
    // stderr may be closed.
    drop(writeln!(io::stderr().lock(), "note: {}", escape_text(text)));
}

/// Prints a warning, which tiphys reports.
pub(crate) fn warn(text: &str) {
    // stderr may be closed.
    drop(writeln!(io::stderr().lock(), "warning: {}", escape_text(text)));
}

/// Formats an error of the system as Go does: `no such file or directory`.
pub(crate) fn go_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error ").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests;
