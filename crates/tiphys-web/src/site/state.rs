//! The state of an application as of its last rendering.

/// The state of an application as of its last rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum ApplicationState {
    /// It was not rendered since its files changed.
    Unknown,
    /// It renders.
    Renders { objects: usize },
    /// It does not render.
    Fails,
    /// Parameters have problems.
    Problems { count: usize },
}

impl ApplicationState {
    /// The words of all states in URLs, and for people.
    pub(crate) const WORDS: [(&'static str, &'static str); 4] = [
        ("renders", "renders"),
        ("fails", "fails"),
        ("problems", "has problems"),
        ("unknown", "not looked at yet"),
    ];

    /// Returns the word in URLs.
    pub(crate) fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the words for people.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Unknown => "not looked at yet".to_owned(),
            Self::Renders { objects: 1 } => "renders · 1 object".to_owned(),
            Self::Renders { objects } => format!("renders · {objects} objects"),
            Self::Fails => "fails".to_owned(),
            Self::Problems { count: 1 } => "1 problem".to_owned(),
            Self::Problems { count } => format!("{count} problems"),
        }
    }

    /// Whether it does not render.
    pub(crate) fn fails(self) -> bool {
        self == Self::Fails
    }

    /// Returns the class of its chip.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Renders { .. } => "good",
            Self::Fails | Self::Problems { .. } => "bad",
        }
    }
}
