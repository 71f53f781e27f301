//! Resources of a store with their locations, and the documents that were skipped or are invalid.

use std::fmt;
use std::path::PathBuf;

use tiphys_model::resources::{
    AppProject, Application, ArgoCdSecret, ArgoCdSettings, Findings, Metadata, ObjectRef, ResourceError,
    SecretError, TlsCertificates,
};
use tiphys_yaml::{DecodeError, Node, Position};

use crate::files::{FILE_BYTES_MAX, FileVersion};
use crate::place::Place;

/// An Application of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredApplication {
    /// The application.
    pub application: Application,
    /// Ignored fields, and suspicious parameters.
    pub findings: Findings,
    /// The location of its document.
    pub place: Place,
    /// Its document, for the positions of its fields.
    pub node: Node,
    /// The `ApplicationSet` that generated it. Its place is then that of the set's document, and the positions of its
    /// fields are those of the template.
    pub generated_by: Option<SetId>,
    pub(crate) version: Option<FileVersion>,
    /// The file that its path leads to, if a directory of the store contains a symbolic link to it.
    pub(crate) link_target: Option<PathBuf>,
}

/// An `ApplicationSet` of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSet {
    /// Name, namespace, labels, annotations.
    pub metadata: Metadata,
    /// Its document.
    pub node: Node,
    /// The location of its document.
    pub place: Place,
}

/// The identity of an `ApplicationSet`, printed as `namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetId {
    /// The namespace: that of the control plane if the document has none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// A file or document that was skipped. This is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its location.
    pub place: Place,
    /// Kind and name, if they could be read.
    pub object: Option<ObjectRef>,
    /// The reason.
    pub reason: SkipReason,
}

/// The reason why a file or document was skipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// A template, not YAML.
    #[error("a template, not YAML")]
    Template,
    /// A template of a chart, which may be YAML as it is.
    #[error("a template of a chart")]
    TemplateOfChart,
    /// Invalid YAML without resources of Argo CD.
    #[error("not YAML: {}", .0.message)]
    Syntax(tiphys_yaml::Error),
    /// A part of an object.
    #[error("only a part of an object: {0}")]
    Partial(&'static str),
    /// Larger than a file of a store may be.
    #[error("larger than {FILE_BYTES_MAX} bytes")]
    TooLarge,
    /// Reading failed.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}

/// An invalid document of Argo CD.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {}{}", object.as_ref().map(|object| format!("{object}: ")).unwrap_or_default(), reason.message())]
pub struct Broken {
    /// The location of the error.
    pub place: Place,
    /// The object, if kind and name could be read.
    pub object: Option<ObjectRef>,
    /// The error.
    pub reason: BrokenReason,
}

/// The error of an invalid document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenReason {
    /// Invalid YAML.
    #[error("not YAML")]
    Syntax(#[source] tiphys_yaml::Error),
    /// A resource with a field of the wrong type.
    #[error(transparent)]
    Resource(ResourceError),
    /// A `ConfigMap` or Secret with a field of the wrong type.
    #[error(transparent)]
    Field(#[from] DecodeError),
}

/// A project and the location of its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProject {
    /// The project.
    pub project: AppProject,
    /// The location of its document.
    pub place: Place,
}

/// Argo CD's settings (`argocd-cm`) and the location of their document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSettings {
    /// The settings.
    pub settings: ArgoCdSettings,
    /// The location of the document.
    pub place: Place,
}

/// CA certificates of servers (`argocd-tls-certs-cm`) and the location of their document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredCertificates {
    pub(crate) certificates: TlsCertificates,
    pub(crate) place: Place,
}

/// A Secret that Argo CD reads and the location of its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSecret {
    /// The Secret.
    pub secret: ArgoCdSecret,
    /// The location of its document.
    pub place: Place,
}

impl StoredSet {
    /// Returns the identity. Documents that only differ in leaving out the namespace of the control plane are one set.
    pub fn id(&self, control_plane: &str) -> SetId {
        SetId { namespace: self.namespace(control_plane).to_owned(), name: self.metadata.name.clone() }
    }

    /// Returns the namespace of the set and of its applications: that of the control plane if its document has none.
    pub fn namespace<'a>(&'a self, control_plane: &'a str) -> &'a str {
        match self.metadata.namespace.as_str() {
            "" => control_plane,
            namespace => namespace,
        }
    }

    /// Returns an application that this set, whose identity is `id`, generates. The document's positions are those of the set's template.
    pub fn generated(&self, node: Node, id: SetId) -> Result<StoredApplication, ResourceError> {
        let place = Place { position: Some(node.position), ..self.place.clone() };
        let stored = StoredApplication::detached(node, place)?;
        Ok(StoredApplication { generated_by: Some(id), ..stored })
    }
}

impl fmt::Display for SetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl StoredApplication {
    /// Returns an application that was not read from a file.
    pub fn detached(node: Node, place: Place) -> Result<Self, ResourceError> {
        let decoded = Application::decode(&node)?;
        let (application, findings) = (decoded.value, decoded.findings);
        Ok(Self { application, findings, place, node, generated_by: None, version: None, link_target: None })
    }
}

impl From<SecretError> for BrokenReason {
    fn from(error: SecretError) -> Self {
        match error {
            SecretError::Metadata(error) => Self::Resource(error),
            SecretError::Field(error) => Self::Field(error),
        }
    }
}

impl BrokenReason {
    /// Returns the position in the file, if known.
    pub(crate) fn position(&self) -> Option<Position> {
        match self {
            Self::Syntax(error) => error.position,
            Self::Resource(error) => Some(error.position()),
            Self::Field(error) => Some(error.position),
        }
    }

    /// Returns the message without the location.
    fn message(&self) -> String {
        let field = |error: &DecodeError| format!("{}: {}", error.path, error.message);
        match self {
            Self::Syntax(error) => error.message.clone(),
            Self::Resource(error) => field(&error.source),
            Self::Field(error) => field(error),
        }
    }
}
