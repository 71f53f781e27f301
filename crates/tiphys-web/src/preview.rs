//! The content of the page of a plugin's form.

use tiphys_model::params::{Announcement, Parameter};

/// The result of a plugin's announcement for one application, created for each page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The plugin's name, or its file if the name cannot be read.
    pub plugin: String,
    /// The application's directory for display.
    pub folder: String,
    /// The application's name, if a file contains it.
    pub application: Option<String>,
    /// The findings about the plugin.
    pub findings: Vec<Finding>,
    /// Further notes for the user.
    pub notes: Vec<String>,
    /// The form, or the reason why there is none.
    pub outcome: Outcome,
}

/// The form, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The content of the form.
    Announced(Announced),
    /// The reason why there is no form.
    Failed(Failed),
}

/// The content of the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announced {
    /// The announcements of the plugin.
    pub announcements: Vec<Announcement>,
    /// The set parameters: those of the application and of `--param`.
    pub parameters: Vec<Parameter>,
    /// The parameters of the application alone.
    pub in_application: Vec<Parameter>,
}

/// The reason why there is no form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The failed step, as the subject of "… failed".
    pub step: String,
    /// The error message.
    pub message: String,
    /// A hint.
    pub hint: Option<String>,
    /// The set parameters.
    pub parameters: Vec<Parameter>,
}

/// A finding about a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its severity.
    pub severity: Severity,
    /// Name of the rule.
    pub rule: String,
    /// The message.
    pub message: String,
    /// `FILE:LINE:COLUMN`, or `FILE`.
    pub place: String,
    /// The page that explains the rule.
    pub page: String,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// There is no form.
    Error,
    /// A key has another effect than expected.
    Warning,
    /// A key has no effect yet.
    Note,
}

impl Severity {
    /// The displayed word.
    pub(crate) fn word(self) -> &'static str {
        self.into()
    }
}
