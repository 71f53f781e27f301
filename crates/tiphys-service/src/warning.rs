//! Warnings of use cases.

use std::fmt::Display;

use tiphys_store::StoredApplication;

use crate::error::Remedy;

/// Something that the user should know about a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    message: String,
    remedy: Option<Remedy>,
}

impl Warning {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: None }
    }

    /// Creates a warning about an application.
    pub(crate) fn of_application(stored: &StoredApplication, message: impl Display) -> Self {
        Self::new(format!("{}: {message}", stored.full_name()))
    }

    /// Creates the warnings of rendering an application, or of changing or comparing it.
    pub(crate) fn all_of_application<T: Display>(
        stored: &StoredApplication,
        messages: impl IntoIterator<Item = T>,
    ) -> impl Iterator<Item = Self> {
        messages.into_iter().map(|message| Self::of_application(stored, message))
    }

    #[must_use]
    pub(crate) fn with_remedy(self, remedy: impl Into<Option<Remedy>>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns what resolves it, if that depends on the front end.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.remedy.as_ref()
    }
}

impl From<String> for Warning {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}
