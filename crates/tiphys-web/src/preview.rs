//! What the page of a plugin's form is made of.

use tiphys_params::{Announcement, Parameter};

/// What a plugin says to one application, asked anew for each page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The plugin's name; its file where the name cannot be read.
    pub plugin: String,
    /// The application's folder, as a person would name it.
    pub folder: String,
    /// Name of the application, where a file says one.
    pub application: Option<String>,
    /// What is wrong with the plugin, or has no effect.
    pub findings: Vec<Finding>,
    /// What else a person should know.
    pub notes: Vec<String>,
    /// The form, or why there is none.
    pub outcome: Outcome,
}

/// The form, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What the form is made of.
    Announced(Announced),
    /// Why there is none.
    Failed(Failed),
}

/// What the form is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announced {
    /// What the plugin announces.
    pub announcements: Vec<Announcement>,
    /// What is set: by the application, and by those who try the plugin.
    pub parameters: Vec<Parameter>,
    /// What the application sets by itself.
    pub in_application: Vec<Parameter>,
}

/// Why there is no form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What failed, as the subject of "… failed".
    pub step: String,
    /// What happened, in the plugin's words where it has some.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What is set.
    pub parameters: Vec<Parameter>,
}

/// Something that is wrong with a plugin, or has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Name of the rule.
    pub rule: String,
    /// What, for people.
    pub message: String,
    /// `FILE:LINE:COLUMN`, or `FILE`.
    pub place: String,
    /// The page that explains the rule.
    pub page: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// People get no form.
    Error,
    /// It works otherwise than it reads.
    Warning,
    /// Nothing acts on it yet.
    Note,
}

impl Severity {
    /// The word for people.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}
