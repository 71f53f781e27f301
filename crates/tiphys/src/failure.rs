//! Failures at the edge: what kind, which exit code, and one way to print them.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

pub(crate) use tiphys_plugin::chain;

/// What kind of failure; fixes the exit code (`design.md` section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Usage, a document that does not hold, an unknown name.
    BadInput,
    /// Source, plugin, forbidden or unresolved parameter.
    Rendering,
    /// A bug in tiphys.
    Bug,
    /// After `^C`.
    Interrupted,
}

impl Kind {
    /// The exit code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::BadInput => 2,
            Self::Rendering => 3,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }
}

/// A failed command: a kind, what happened with all causes, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// Bad input.
    pub(crate) fn bad_input(message: impl Into<String>) -> Self {
        Self { kind: Kind::BadInput, message: message.into(), hint: None }
    }

    /// Bad input, with its causes.
    pub(crate) fn bad_input_from(error: &dyn Error) -> Self {
        Self::bad_input(chain(error))
    }

    /// A failed rendering.
    pub(crate) fn rendering(message: impl Into<String>) -> Self {
        Self { kind: Kind::Rendering, ..Self::bad_input(message) }
    }

    /// Something that cannot happen did.
    pub(crate) fn bug(message: impl Into<String>) -> Self {
        Self { kind: Kind::Bug, ..Self::bad_input(message) }
    }

    /// `^C`, or SIGTERM.
    pub(crate) fn interrupted() -> Self {
        Self { kind: Kind::Interrupted, ..Self::bad_input("interrupted") }
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the failure.
    pub(crate) fn tell(&self) {
        let mut out = std::io::stderr().lock();
        // Nobody is left to tell if stderr is closed.
        drop(writeln!(out, "error: {}", self.message));
        if let Some(hint) = &self.hint {
            drop(writeln!(out, "hint: {hint}"));
        }
    }

    /// Prints the failure and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        self.tell();
        ExitCode::from(self.kind.code())
    }
}
