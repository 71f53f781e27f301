//! Why an application could not be rendered, naming the application, the source and the step.

use tiphys_engine::{
    BuildEnvironmentError, NormalizeError, OverrideError, ReferenceError, SourcesError, TranslateError,
};
use tiphys_plugin::{ChooseError, PluginError};
use tiphys_tree::{PathError, ReadError, RepoPath};

use crate::directory::DirectoryError;

/// An application that could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// Its sources cannot be used at all.
    #[error(transparent)]
    Sources(#[from] SourcesError),
    /// One of its sources failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The request's deadline passed.
    #[error("the deadline of the request was exceeded")]
    DeadlineExceeded,
}

/// A source that could not be rendered.
#[derive(Debug, thiserror::Error)]
#[error("source {}{description}", if *count > 1 { format!("{position} of {count}, ") } else { String::new() })]
pub struct SourceError {
    /// Place among the application's sources, from 1.
    pub position: usize,
    /// How many there are.
    pub count: usize,
    /// Repository and path, without credentials.
    pub description: String,
    /// Why.
    #[source]
    pub failure: Box<SourceFailure>,
}

/// What failed.
#[derive(Debug, thiserror::Error)]
pub enum SourceFailure {
    /// The source's path is not usable.
    #[error("spec.source.path")]
    Path(#[source] PathError),
    /// The repository or the revision could not be had.
    #[error(transparent)]
    Repository(tiphys_source::SourceError),
    /// The application's folder is not there, or leads out.
    #[error("path")]
    Read(#[source] ReadError),
    /// The application's path names something else than a folder.
    #[error("path: {path} is a file; the path of a source names a folder")]
    NoFolder {
        /// The path.
        path: RepoPath,
    },
    /// An override file is wrong.
    #[error(transparent)]
    Override(OverrideError),
    /// The destination's version is wrong.
    #[error("version of the destination cluster")]
    BuildEnvironment(#[source] BuildEnvironmentError),
    /// The source cannot be run.
    #[error(transparent)]
    Translate(#[from] TranslateError),
    /// A source's `ref` cannot be one.
    #[error(transparent)]
    Reference(ReferenceError),
    /// No plugin could be chosen.
    #[error(transparent)]
    Choose(ChooseError),
    /// The plugin failed.
    #[error("plugin {name:?}")]
    Plugin {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: PluginError,
    },
    /// Plain manifests could not be read.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The output holds something that is no object.
    #[error("{origin}")]
    Normalize {
        /// `plugin "name"`, or `directory`.
        origin: String,
        /// What, and where in the output.
        #[source]
        source: NormalizeError,
    },
    /// More objects than are allowed.
    #[error("more than {max} objects; see --manifests-max")]
    TooManyObjects {
        /// The bound.
        max: usize,
    },
    /// A thread of ours failed.
    #[error("internal error: {0}")]
    Internal(String),
}

impl RenderError {
    /// Whether the Application itself cannot hold, whatever its repositories and plugins are.
    pub fn is_of_the_document(&self) -> bool {
        match self {
            Self::Sources(_) => true,
            Self::DeadlineExceeded => false,
            Self::Source(error) => matches!(
                *error.failure,
                SourceFailure::Path(_)
                    | SourceFailure::BuildEnvironment(_)
                    | SourceFailure::Reference(_)
                    | SourceFailure::Translate(
                        TranslateError::Ambiguous(_)
                            | TranslateError::Parameter(_)
                            | TranslateError::HelmVersion { .. }
                    )
                    | SourceFailure::Plugin { source: PluginError::Parameters { .. }, .. }
            ),
        }
    }
}

impl SourceFailure {
    /// What the plugin answered, if it was asked and gave no good answer.
    pub fn of_plugin(&self) -> Option<&PluginError> {
        match self {
            Self::Plugin { source, .. } | Self::Choose(ChooseError::Failed { source, .. }) => Some(source),
            _ => None,
        }
    }

    /// What a failed look at the application's folder means.
    pub(crate) fn of_folder(path: &RepoPath, error: ReadError) -> Self {
        match error {
            ReadError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotADirectory => {
                Self::NoFolder { path: path.clone() }
            }
            error => Self::Read(error),
        }
    }
}
