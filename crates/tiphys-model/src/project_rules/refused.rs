//! Actions that a project does not permit, in Argo CD's words.

/// An action that the project does not permit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The repository of a source.
    #[error("application repo URL {url} is not permitted in project '{project}'")]
    Source {
        /// The URL, with redacted credentials.
        url: String,
        /// The project.
        project: String,
    },
    /// An Application in a namespace other than the control plane's.
    #[error("application '{name}' in namespace '{namespace}' is not permitted to use project '{project}'")]
    Application {
        /// The Application's name.
        name: String,
        /// The Application's namespace.
        namespace: String,
        /// The project.
        project: String,
    },
    /// The destination of an Application.
    #[error(
        "application destination {cluster} and namespace '{namespace}' do not match any of the allowed destinations in project '{project}'"
    )]
    Destination {
        /// The cluster: `server 'URL'` or `name 'NAME'`.
        cluster: String,
        /// The namespace.
        namespace: String,
        /// The project.
        project: String,
    },
    /// A kind.
    #[error("resource {group}:{kind} is not permitted in project {project}")]
    Kind {
        /// The API group; empty for the core group.
        group: String,
        /// The kind.
        kind: String,
        /// The project.
        project: String,
    },
    /// The namespace of an object.
    #[error("namespace {namespace} is not permitted in project '{project}'")]
    Namespace {
        /// The namespace.
        namespace: String,
        /// The project.
        project: String,
    },
    /// Reading an object for a dynamic parameter. The message is the same for every reason.
    #[error("reading {object} is not permitted in project '{project}'")]
    LookUp {
        /// The object: `KIND.GROUP NAMESPACE/NAME`.
        object: String,
        /// The project.
        project: String,
    },
}
