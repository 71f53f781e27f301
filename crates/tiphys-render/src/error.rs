//! Errors of rendering: the source, the step and the cause.

use tiphys_engine::{
    AmbiguousSource, BuildEnvironmentError, OverrideError, PreparationError, ReferenceError, SourceOf,
    SourcesError, TranslateError,
};
use tiphys_model::limits::Limit;
use tiphys_model::resources::ApplicationSource;
use tiphys_plugin::{ChooseError, PluginError};
use tiphys_tree::{PathError, ReadError, RepoPath};

use crate::directory::DirectoryError;
use crate::values::{UnreadVersions, UnresolvedParameters};

/// An application that could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The combination of its sources is invalid.
    #[error(transparent)]
    Sources(#[from] SourcesError),
    /// One of its sources failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Values of dynamic parameters are not available.
    #[error(transparent)]
    Values(#[from] UnresolvedParameters),
    /// The caller cancelled the request.
    #[error("interrupted")]
    Interrupted,
}

/// A source that could not be rendered.
#[derive(Debug, thiserror::Error)]
#[error("source {}{repository}, {place}", if *count > 1 { format!("{position} of {count}, ") } else { String::new() })]
pub struct SourceError {
    /// Position among the application's sources, from 1.
    pub position: usize,
    /// The number of sources.
    pub count: usize,
    /// Repository and revision, without credentials.
    pub repository: String,
    /// The path or chart.
    pub place: String,
    /// The cause.
    #[source]
    pub failure: Box<SourceFailure>,
}

/// The step that failed.
#[derive(Debug, thiserror::Error)]
pub enum SourceFailure {
    /// The source's path is invalid.
    #[error("spec.source.path")]
    Path(#[source] PathError),
    /// The repository or revision could not be fetched or read.
    #[error(transparent)]
    Repository(tiphys_source::SourceError),
    /// The application's directory does not exist, or leads out of the repository.
    #[error("path")]
    Read(#[source] ReadError),
    /// The application's path is not a directory.
    #[error("path: {path} is a file; the path of a source names a folder")]
    NoFolder {
        /// The path.
        path: RepoPath,
    },
    /// An override file is invalid.
    #[error(transparent)]
    Override(OverrideError),
    /// The destination's version is invalid.
    #[error("version of the destination cluster")]
    BuildEnvironment(#[source] BuildEnvironmentError),
    /// The destination's versions cannot be read.
    #[error(transparent)]
    Versions(UnreadVersions),
    /// More than one block names a type.
    #[error(transparent)]
    Ambiguous(AmbiguousSource),
    /// The source is invalid or unsupported.
    #[error(transparent)]
    Translate(#[from] TranslateError),
    /// A source's `ref` is invalid.
    #[error(transparent)]
    Reference(ReferenceError),
    /// No plugin could be chosen.
    #[error(transparent)]
    Choose(ChooseError),
    /// The plugin failed.
    #[error("plugin {name:?}")]
    Plugin {
        /// The plugin's name.
        name: String,
        /// The cause.
        #[source]
        source: PluginError,
    },
    /// Plain manifests could not be read.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The output contains a document that is not an object.
    #[error("{origin}: {problem}")]
    Normalize {
        /// `plugin "name"`, or `directory`.
        origin: String,
        /// The [`NormalizeError`](tiphys_engine::NormalizeError) with its position in the output, without values of dynamic parameters.
        problem: String,
    },
    /// More objects than are allowed.
    #[error("more than {max} objects")]
    TooManyObjects {
        /// The maximum number.
        max: usize,
        /// [`Limit::MANIFESTS_MAX`].
        #[source]
        limit: Limit,
    },
    /// A thread of this process failed.
    #[error("internal error: {0}")]
    Internal(String),
    /// The caller cancelled the request; see [`RenderError::Interrupted`].
    #[error("interrupted")]
    Interrupted,
}

impl RenderError {
    /// Returns whether the Application itself is invalid, independent of its repositories and plugins.
    pub fn is_of_the_document(&self) -> bool {
        match self {
            Self::Sources(_) => true,
            Self::Values(_) | Self::Interrupted => false,
            Self::Source(error) => matches!(
                *error.failure,
                SourceFailure::Path(_)
                    | SourceFailure::BuildEnvironment(_)
                    | SourceFailure::Ambiguous(_)
                    | SourceFailure::Reference(_)
                    | SourceFailure::Translate(
                        TranslateError::Parameter(_)
                            | TranslateError::Dynamic(_)
                            | TranslateError::HelmVersion { .. }
                    )
                    | SourceFailure::Plugin { source: PluginError::Parameters { .. }, .. }
            ),
        }
    }
}

impl RenderError {
    /// Returns the error of a source.
    pub(crate) fn of_source(of: SourceOf<'_>, failure: SourceFailure) -> Self {
        Self::at_position(of.position, of.sources.count(), of.source, failure)
    }

    /// Returns the error of the source at a position, from 1.
    pub(crate) fn at_position(
        position: usize,
        count: usize,
        source: &ApplicationSource,
        failure: SourceFailure,
    ) -> Self {
        if matches!(failure, SourceFailure::Interrupted) {
            return Self::Interrupted;
        }
        let place = match (source.chart.as_str(), source.path.as_str()) {
            ("", "") => "path .".to_owned(),
            ("", path) => format!("path {path}"),
            (chart, _) => format!("chart {chart}"),
        };
        let revision = if source.target_revision.is_empty() { "HEAD" } else { &source.target_revision };
        let repository = format!("{} at {revision}", source.shown_repository());
        Self::Source(SourceError { position, count, repository, place, failure: Box::new(failure) })
    }
}

impl From<PreparationError<Self>> for SourceFailure {
    fn from(error: PreparationError<Self>) -> Self {
        match error {
            PreparationError::Folder(failure) => failure,
            PreparationError::Override(error) => Self::Override(error),
            PreparationError::Ambiguous(error) => Self::Ambiguous(error),
        }
    }
}

impl SourceFailure {
    /// Returns the error of the plugin, if a plugin failed.
    pub fn of_plugin(&self) -> Option<&PluginError> {
        match self {
            Self::Plugin { source, .. } | Self::Choose(ChooseError::Failed { source, .. }) => Some(source),
            _ => None,
        }
    }

    /// Converts the error of reading the application's directory.
    pub(crate) fn of_folder(path: &RepoPath, error: ReadError) -> Self {
        match error {
            ReadError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotADirectory => {
                Self::NoFolder { path: path.clone() }
            }
            error => Self::Read(error),
        }
    }
}
