//! Failures at the edge: what kind, which exit code, and one way to print them.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use tiphys_plugin::PluginError;
pub(crate) use tiphys_plugin::chain;
use tiphys_render::RenderError;
use tiphys_store::StoredApplication;

use crate::findings::place_of;
use crate::terminal::message;

/// What kind of failure; fixes the exit code (`design.md` section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Usage, a document that does not hold, an unknown name.
    BadInput,
    /// Source, plugin, forbidden or unresolved parameter.
    Rendering,
    /// Somebody else changed what was to be changed.
    Conflict,
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
            Self::Conflict => 4,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }
}

/// A failed command: a kind, what happened with all causes, and what to do about it.
#[derive(Clone, Debug)]
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

    /// Something changed meanwhile.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self { kind: Kind::Conflict, ..Self::bad_input(message) }
    }

    /// An application that could not be rendered, with the causes.
    pub(crate) fn of_application(stored: &StoredApplication, error: &RenderError) -> Self {
        let kind = if error.is_of_the_document() { Kind::BadInput } else { Kind::Rendering };
        let place = place_of(stored, error);
        let message = format!("application {} ({place}): {}", stored.full_name(), chain(error));
        Self { kind, hint: remedy(error).map(str::to_owned), ..Self::bad_input(message) }
    }

    /// An application that could be rendered on neither of two sides; what is wrong with both is told once.
    pub(crate) fn of_both(
        (past, error_past): (&StoredApplication, &RenderError),
        (now, error_now): (&StoredApplication, &RenderError),
    ) -> Self {
        let kind = |error: &RenderError| {
            if error.is_of_the_document() { Kind::BadInput } else { Kind::Rendering }
        };
        let (place_past, place_now) = (place_of(past, error_past), place_of(now, error_now));
        let (cause_past, cause_now) = (chain(error_past), chain(error_now));
        let what = if cause_past == cause_now {
            format!("({place_past} and {place_now}): {cause_now}")
        } else {
            format!("({place_past}): {cause_past}; and ({place_now}): {cause_now}")
        };
        let hint = remedy(error_now).or_else(|| remedy(error_past)).map(str::to_owned);
        let message = format!("application {} {what}", now.full_name());
        Self { kind: kind(error_past).max(kind(error_now)), message, hint }
    }

    /// A plugin that could not be tried on a folder. What stands for the repository there is nothing that a person has named.
    pub(crate) fn of_trial(folder: &Path, error: &RenderError) -> Self {
        let kind = if error.is_of_the_document() { Kind::BadInput } else { Kind::Rendering };
        let cause = match error {
            RenderError::Source(error) => chain(&*error.failure),
            RenderError::Sources(_) | RenderError::DeadlineExceeded => chain(error),
        };
        let message = format!("{}: {cause}", folder.display());
        Self { kind, hint: remedy(error).map(str::to_owned), ..Self::bad_input(message) }
    }

    /// What happened, with all causes.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub(crate) fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// What kind of failure this is.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Something that cannot happen did.
    pub(crate) fn bug(message: impl Into<String>) -> Self {
        Self { kind: Kind::Bug, ..Self::bad_input(message) }
    }

    /// `^C`, or SIGTERM.
    pub(crate) fn interrupted() -> Self {
        Self { kind: Kind::Interrupted, ..Self::bad_input("interrupted") }
    }

    /// The same, with where it was found before it.
    pub(crate) fn below(self, place: &str) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
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
        drop(writeln!(out, "error: {}", message(&self.message)));
        if let Some(hint) = &self.hint {
            drop(writeln!(out, "hint: {}", message(hint)));
        }
    }

    /// Prints the failure and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        self.tell();
        ExitCode::from(self.kind.code())
    }
}

/// The option that a bound of this program has.
fn remedy(error: &RenderError) -> Option<&'static str> {
    let RenderError::Source(error) = error else { return None };
    match error.failure.of_plugin()? {
        PluginError::DeadlineExceeded { .. } => Some("--plugin-timeout gives plugins more seconds"),
        PluginError::OutputTooLarge { .. } => Some("--plugin-output-max allows more bytes"),
        _ => None,
    }
}
