//! Errors of use cases: what kind, what happened, and what to do about it.

mod rendering;

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tiphys_model::limits::Limit;
pub(crate) use tiphys_plugin::chain;
use tiphys_source::SourceError;
use tiphys_store::{FileWriteError, Place, SelectError, StoredApplication};

use rendering::{source_kind, source_remedy};

/// The kind of an error. Front ends map it to exit codes or status codes. Later kinds are worse than earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorKind {
    /// Wrong usage or an invalid document.
    InvalidInput,
    /// An application, source or parameter does not exist.
    NotFound,
    /// A source or plugin failed.
    Rendering,
    /// A rule, or the server of a repository, does not permit it.
    Forbidden,
    /// A limit of size or number is exceeded.
    LimitExceeded,
    /// A server cannot be reached, or too many runs wait.
    Unavailable,
    /// A timeout or the request's deadline passed.
    DeadlineExceeded,
    /// The file or object changed since it was read.
    Conflict,
    /// A bug in tiphys.
    Bug,
    /// The caller cancelled.
    Interrupted,
}

/// The input that an error is about. Front ends name their option or field for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The setting of this key, behind a thin pointer that keeps errors small.
    Setting(&'static &'static str),
    /// The file with the Application of a trial.
    Application,
    /// The base revision of a comparison.
    Base,
    /// The directory that a plugin is tried on.
    Folder,
    /// The expected version of a file.
    IfVersion,
    /// Keeping the working directories of plugins.
    KeepWorkdir,
    /// An assignment of a parameter.
    Parameter,
    /// A variable of the environment of a plugin block.
    PluginVariable,
    /// The project file.
    ProjectFile,
    /// The label selector.
    Selector,
    /// Files of parameter values.
    Values,
}

/// Remedy of an error. Front ends name the option, the value of a chart or the field that does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Change a limit.
    ChangeLimit(Limit),
    /// Name the file or directory that has the Applications.
    ChooseStore,
    /// Name a directory with one document of each name, or leave the others out.
    LeaveOutCopies,
    /// Generate the Applications of ApplicationSets.
    GenerateSets,
    /// Ask other servers for the Applications of sets, or answer for them.
    IncludeSets,
    /// Use a local directory for the repository of a generator, named by its URL without credentials, or read it.
    ReadRepository(String),
    /// Give answers for the generators of a set.
    AnswerSets,
    /// Name the Secrets of Argo CD's clusters.
    NameClusterSecrets,
    /// Let the ApplicationSet controller record parameters.
    RecordParameters,
    /// Record the current results of a plugin's cases.
    RecordResults,
    /// Name the file with the token of a plugin service.
    NameToken,
    /// Name the cluster of each context.
    NameContexts,
    /// Render the chart in this directory, and pass its Applications.
    RenderChart(String),
    /// Choose one source of the Application.
    ChooseSource,
    /// Change an override file instead of the Application.
    WriteOverride,
    /// Change the inline values of a chart instead of its parameters.
    WriteValues,
    /// Ask the plugin for its announcements, or name it in the Application.
    AskPlugin,
    /// Take every name without asking the plugin.
    SkipAnnouncement,
    /// Give values.
    GiveValues,
    /// Pass the Applications of the cluster, which have no files.
    PassApplications,
    /// Use a local directory for the repository.
    AddRepository,
    /// Name the directory with the live objects of this cluster. None: the cluster of Argo CD itself.
    AddClusterState(Option<String>),
    /// Let live clusters answer references that only the working copy has.
    ResolveHeadReferences,
    /// Name the directory with all projects.
    NameProjects,
    /// Compare with live objects instead of a revision.
    CompareWithLive,
    /// Allow `file://` repositories below a directory.
    AllowFileRepositories,
    /// Have build variables in values replaced.
    ReplaceVariables,
    /// Use local directories, named as arguments `[URL@REV=]DIR`.
    UseRepositories(Vec<String>),
    /// Choose whose plugins and settings a comparison uses.
    ChoosePluginsFrom,
    /// Trust the settings of rendered repositories.
    TrustSettings,
    /// Use the plugins of the working copy.
    TrustChangedPlugins,
    /// Allow the network, or use a local copy of the repository.
    AllowNetwork,
    /// Render from the cache, without the network.
    UseCacheOnly,
    /// Fetch cached objects again.
    FetchAgain,
    /// Choose another cache directory.
    ChangeCacheDirectory,
    /// Install plugins, or name plugin servers.
    AddPlugins(Vec<PathBuf>),
    /// List the limits.
    ListLimits,
    /// Render the chart with the `helm` program, and report that the built-in engine differs.
    ReportEngine,
    /// Render the chart with the `helm` program.
    UseHelm,
    /// Check which programs plugins find.
    CheckTools,
    /// Consent to the content of the project file, or use none.
    AllowProjectFile,
    /// Name the project file, or use none.
    NameProjectFile,
    /// Name the base of the comparison, or the project file as a path.
    NameBase,
    /// Consent to the project file of a comparison's base, or use none.
    TrustBaseProjectFile,
    /// Use another project file than that of a comparison's base, which is invalid.
    ReplaceBaseProjectFile,
}

/// A failed use case: a kind, a message, the error that caused it, and an optional hint or remedy.
#[derive(Clone, Debug)]
pub struct ServiceError {
    kind: ErrorKind,
    input: Option<Input>,
    /// The failure, without its cause. Empty if the cause says all.
    message: Box<str>,
    source: Option<Arc<dyn Error + Send + Sync>>,
    hint: Option<Box<str>>,
    remedy: Option<Remedy>,
    cause: Option<Box<ApplicationCause>>,
    details: Option<Box<Details>>,
}

/// The output of a plugin about a failure, besides its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// Lines of the file that failed.
    pub excerpt: Option<String>,
    /// The message with the place of the application, the command of the plugin and all that it printed.
    pub message: String,
}

/// Why an application failed. Several applications may fail for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationCause {
    /// The application's full name.
    pub application: String,
    /// The reason without the application, and for a repository without the path in it.
    pub reason: String,
}

impl ServiceError {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            input: None,
            message: message.into().into(),
            source: None,
            hint: None,
            remedy: None,
            cause: None,
            details: None,
        }
    }

    /// Creates an error that another one caused.
    pub fn caused(kind: ErrorKind, error: impl Error + Send + Sync + 'static) -> Self {
        Self::new(kind, "").because(error)
    }

    /// Creates an error of [`ErrorKind::InvalidInput`].
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    /// Creates an error of [`ErrorKind::InvalidInput`] that another one caused.
    pub fn invalid_input_from(error: impl Error + Send + Sync + 'static) -> Self {
        Self::caused(ErrorKind::InvalidInput, error)
    }

    /// Creates an error of [`ErrorKind::Forbidden`].
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, message)
    }

    /// Creates an error of [`ErrorKind::LimitExceeded`].
    pub(crate) fn limit_exceeded(message: impl Into<String>, limit: Limit) -> Self {
        Self::new(ErrorKind::LimitExceeded, message).because(limit).with_remedy(Remedy::ChangeLimit(limit))
    }

    /// Creates an error of [`ErrorKind::NotFound`].
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Creates the error of an application that cannot be selected.
    pub(crate) fn selection(error: &SelectError) -> Self {
        let kind = match error {
            SelectError::Unknown { .. } => ErrorKind::NotFound,
            _ => ErrorKind::InvalidInput,
        };
        let is_repeated = matches!(error, SelectError::Duplicate { .. });
        Self::new(kind, chain(error)).with_remedy(is_repeated.then_some(Remedy::LeaveOutCopies))
    }

    /// Creates the error of a repository.
    pub(crate) fn repository(error: SourceError) -> Self {
        let remedy = source_remedy(&error);
        Self::caused(source_kind(&error), error).with_remedy(remedy)
    }

    /// Creates an error of [`ErrorKind::Rendering`].
    pub fn rendering(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Rendering, message)
    }

    /// Creates an error of [`ErrorKind::Conflict`].
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// Creates an error of [`ErrorKind::Bug`].
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Bug, message)
    }

    /// Creates an error of [`ErrorKind::Interrupted`].
    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }

    /// Adds the application that the error is about, and its place. Others may fail for the same reason.
    pub(crate) fn in_application(self, stored: &StoredApplication, place: &Place) -> Self {
        let (application, reason) = (stored.full_name(), self.message());
        self.about(&format!("application {application} ({place})")).shared(application, reason)
    }

    /// Adds what the error is about.
    pub(crate) fn about(self, subject: &str) -> Self {
        let message = if self.message.is_empty() {
            subject.into()
        } else {
            format!("{subject}: {}", self.message).into()
        };
        Self { message, ..self }
    }

    /// Returns why an application failed, if other applications can fail for the same reason.
    pub fn cause(&self) -> Option<&ApplicationCause> {
        self.cause.as_deref()
    }

    /// Returns what a plugin printed besides the cause that is the message.
    pub fn details(&self) -> Option<&Details> {
        self.details.as_deref()
    }

    /// Returns the input that the error is about.
    pub fn input(&self) -> Option<Input> {
        self.input
    }

    /// Returns the message, with all causes unless a plugin has named the one that counts. It does not name the input.
    pub fn message(&self) -> String {
        if self.details.is_some() { self.message.to_string() } else { chain(self) }
    }

    /// Returns what to do about the error.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns what resolves the error, if it depends on the front end.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.remedy.as_ref()
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn because(self, error: impl Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Arc::new(error)), ..self }
    }

    /// Adds what resolves the error.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<Option<Remedy>>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    /// Adds the input that the error is about.
    #[must_use]
    pub(crate) fn of_input(self, input: Input) -> Self {
        Self { input: Some(input), ..self }
    }

    /// Adds what to do about the error.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into().into());
        self
    }
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) if self.message.is_empty() => source.fmt(f),
            _ => f.write_str(&self.message),
        }
    }
}

impl Error for ServiceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_deref()?;
        if self.message.is_empty() { source.source() } else { Some(source) }
    }
}

impl ServiceError {
    /// Creates the error of a file that was not written.
    pub(crate) fn not_written(error: FileWriteError) -> Self {
        let kind = match &error {
            FileWriteError::Conflict { .. } | FileWriteError::Exists { .. } => ErrorKind::Conflict,
            FileWriteError::ReadOnly { .. } | FileWriteError::NotAFile { .. } => ErrorKind::InvalidInput,
            FileWriteError::Folder { .. } | FileWriteError::Write { .. } => ErrorKind::Rendering,
        };
        Self::caused(kind, error)
    }
}

#[cfg(test)]
mod tests;
