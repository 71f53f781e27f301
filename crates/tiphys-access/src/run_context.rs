//! The run context: what a plugin needs beyond its parameters, and what Argo CD's plugin protocol does not carry (`design.md` section 2).
//!
//! Other sources with a `ref`, the repositories that the project may use and their credentials, the project's `sourceRepos`, the allowed
//! URL schemes. It is a JSON file, named by [`CONTEXT_FILE_VARIABLE`], that only this user can read; a plugin whose file says
//! `spec.runContext: true` gets it. Under Argo CD's own repo-server there is none.

mod json;

use std::collections::BTreeMap;
use std::path::PathBuf;

use tiphys_yaml::DecodeError;

use crate::{RepositoryAccess, Secret};

/// The variable with the absolute path of the file.
pub const CONTEXT_FILE_VARIABLE: &str = "TIPHYS_CONTEXT_FILE";

/// The version of the file's shape. Fields are added without a new one; readers leave out what they do not know.
pub const CONTEXT_VERSION: i64 = 1;

/// The schemes of value files that are allowed where no setting says otherwise (`helm.valuesFileSchemes` of `argocd-cm`).
pub const DEFAULT_VALUES_FILE_SCHEMES: [&str; 2] = ["https", "http"];

/// What a plugin is told about the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunContext {
    /// The source that is rendered.
    pub source: ContextSource,
    /// The application's sources with a `ref` that can be used, by that name.
    pub refs: BTreeMap<String, RefTree>,
    /// The others with a `ref`, and why each cannot be used, in Argo CD's words where it has some.
    pub ref_errors: BTreeMap<String, String>,
    /// The application's project.
    pub project: ContextProject,
    /// Schemes that URLs of value files may have; an empty list allows no URLs.
    pub values_file_schemes: Vec<String>,
    /// The repositories that the project may use, its own and everybody's: their addresses are whole.
    pub repositories: Vec<RepositoryAccess>,
    /// Credentials for all repositories whose address begins with theirs.
    pub credential_templates: Vec<RepositoryAccess>,
    /// The servers' own authorities, in PEM, by the server's name as [`server_name`] gives it: for all that is fetched from such a server and
    /// has no other (`argocd-tls-certs-cm`).
    pub server_certificates: BTreeMap<String, String>,
    /// Whether logins that the plugin finds on its machine fill in for what `repositories` and `credential_templates` do not know.
    pub mounted_credentials: MountedCredentials,
    /// Whether the plugin may fetch anything.
    pub network: NetworkUse,
}

/// Whether a plugin may fetch anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkUse {
    /// It may. It is so where there is no run context, and in one that does not say.
    #[default]
    Allowed,
    /// It may not (`--offline`): what it needs and does not have is an error.
    None,
}

/// What a plugin does with logins that helm, docker and others have left on its machine, in files or with their helpers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MountedCredentials {
    /// They fill in: whoever renders is the person to whom they belong, or mounted them for this plugin. It is so where there is no run
    /// context.
    Use,
    /// They are not even read: a server renders for many people, and uses what its own settings permit to each. It is so in a run context
    /// that does not say.
    #[default]
    Ignore,
}

/// The source that is rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextSource {
    /// Where its files come from.
    pub kind: SourceKind,
    /// The repository as the Application names it.
    pub repo_url: String,
    /// The chart's name in a Helm repository; empty for other kinds.
    pub chart: String,
    /// Whether the Application has a list of sources (`spec.sources`): only then `$name/…` can refer to one of them.
    pub multiple: bool,
    /// The proxy of its repository, which may hold a password. Argo CD fetches the dependencies of its charts through it, too.
    pub proxy: Secret,
    /// Hosts for which that proxy is not used.
    pub no_proxy: String,
    /// The absolute folder of its files, of which the application's is one or the same; `None` if nobody says it.
    pub root: Option<PathBuf>,
}

/// Where a source's files come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceKind {
    /// A git repository.
    Git,
    /// A chart of a Helm repository or of a registry (`source.chart`).
    Helm,
    /// An artefact of a registry (`repoURL: oci://…`).
    Oci,
    /// A folder.
    #[default]
    Folder,
}

/// The files of a source with a `ref`. Nobody else sees what is done to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefTree {
    /// The absolute folder.
    pub path: PathBuf,
    /// Its repository as the Application names it.
    pub repo_url: String,
    /// The revision that was resolved: a commit.
    pub revision: String,
}

/// The application's project.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContextProject {
    /// Its name.
    pub name: String,
    /// The repositories that it permits, patterns of Argo CD's; `!` in front forbids.
    pub source_repos: Vec<String>,
}

/// A file that is no run context.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// Not JSON. The text of the error holds nothing of the file.
    #[error("the run context is not JSON")]
    Json(#[source] tiphys_yaml::Error),
    /// A field has the wrong type or a value that it cannot have.
    #[error("the run context is not what this program reads")]
    Field(#[from] DecodeError),
    /// A later shape.
    #[error(
        "the run context has version {version}, and this program reads version {CONTEXT_VERSION}; take a newer release of it"
    )]
    Version {
        /// The version that was found.
        version: i64,
    },
}

impl Default for RunContext {
    fn default() -> Self {
        Self {
            source: ContextSource::default(),
            refs: BTreeMap::new(),
            ref_errors: BTreeMap::new(),
            project: ContextProject::default(),
            values_file_schemes: DEFAULT_VALUES_FILE_SCHEMES.map(str::to_owned).to_vec(),
            repositories: Vec::new(),
            credential_templates: Vec::new(),
            server_certificates: BTreeMap::new(),
            mounted_credentials: MountedCredentials::default(),
            network: NetworkUse::default(),
        }
    }
}

impl Default for ContextProject {
    /// The project that an Application without one is in, permitting everything.
    fn default() -> Self {
        Self { name: "default".to_owned(), source_repos: vec!["*".to_owned()] }
    }
}

#[cfg(test)]
mod tests;
