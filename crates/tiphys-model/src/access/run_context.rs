//! The run context: what a plugin needs beyond its parameters and what Argo CD's plugin protocol does not carry.
//!
//! It has the other sources with a `ref`, the repositories that the project may use with their credentials, the project's `sourceRepos` and
//! the allowed URL schemes. It is a JSON file that only the current user can read, named by [`CONTEXT_FILE_VARIABLE`]. A plugin with
//! `spec.runContext: true` gets it. Argo CD's own repo-server does not provide it.

mod json;

use std::collections::BTreeMap;
use std::path::PathBuf;

use strum::{EnumString, IntoStaticStr, VariantNames};
use tiphys_yaml::DecodeError;

use crate::access::{RepositoryAccess, Secret};

/// Environment variable with the absolute path of the file.
pub const CONTEXT_FILE_VARIABLE: &str = "TIPHYS_CONTEXT_FILE";

/// Version of the file format. New fields do not change it; readers ignore unknown fields.
pub const CONTEXT_VERSION: i64 = 1;

/// URL schemes of value files that are allowed by default (`helm.valuesFileSchemes` of `argocd-cm`).
pub const DEFAULT_VALUES_FILE_SCHEMES: [&str; 2] = ["https", "http"];

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunContext {
    /// The source that is rendered.
    pub source: ContextSource,
    /// The application's usable sources with a `ref`, by that name.
    pub refs: BTreeMap<String, RefTree>,
    /// The other sources with a `ref`, with the reason why each cannot be used. The messages are Argo CD's where it has one.
    pub ref_errors: BTreeMap<String, String>,
    /// The application's project.
    pub project: ContextProject,
    /// Allowed URL schemes of value files; an empty list allows no URLs.
    pub values_file_schemes: Vec<String>,
    /// The repositories that the project may use, its own and global ones, with complete addresses.
    pub repositories: Vec<RepositoryAccess>,
    /// Credentials for all repositories whose address has a given prefix.
    pub credential_templates: Vec<RepositoryAccess>,
    /// CA certificates in PEM format by [`crate::access::RepoUrl::server_name`]. They apply to servers without other CA certificates
    /// (`argocd-tls-certs-cm`).
    pub server_certificates: BTreeMap<String, String>,
    /// The charts of directories that replace Helm repositories and registries, by the URL of the repository. Nothing is fetched from these.
    pub local_charts: BTreeMap<String, Vec<LocalChart>>,
    /// Whether credentials on the plugin's machine apply to repositories that are not in `repositories` and `credential_templates`.
    pub mounted_credentials: MountedCredentials,
    /// Whether the plugin may use the network.
    pub network: NetworkUse,
}

/// Whether a plugin may use the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum NetworkUse {
    /// Allowed. The default without a run context, and in one without this field.
    #[default]
    Allowed,
    /// Not allowed (`--offline`): missing content is an error.
    None,
}

/// Whether a plugin uses the credentials that Helm, Docker and other tools have stored on its machine, in files or credential helpers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum MountedCredentials {
    /// They are used, because they belong to the user who renders or were mounted for this plugin. The default without a run context.
    Use,
    /// They are not read, because a server renders for many users and uses what its own settings permit to each. The default in a run
    /// context without this field.
    #[default]
    Ignore,
}

/// The source that is rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextSource {
    /// The origin of its files.
    pub kind: SourceKind,
    /// The source's `repoURL` as in the Application.
    pub repo_url: String,
    /// The chart name in a Helm repository; empty for other kinds.
    pub chart: String,
    /// Whether the Application has a list of sources (`spec.sources`). Only then, `$name/…` can refer to one of them.
    pub multiple: bool,
    /// The proxy of its repository, which may contain a password. As in Argo CD, it is also used for the dependencies of its charts.
    pub proxy: Secret,
    /// Hosts that are reached without that proxy.
    pub no_proxy: String,
    /// The absolute path of the root directory of its files, which contains the application's directory. `None` if unknown.
    pub root: Option<PathBuf>,
}

/// The origin of a source's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum SourceKind {
    /// A git repository.
    Git,
    /// A chart of a Helm repository or an OCI registry (`source.chart`).
    Helm,
    /// An OCI artifact (`repoURL: oci://…`).
    Oci,
    /// A local directory.
    #[default]
    Folder,
}

/// The files of a source with a `ref`: a private copy for this plugin run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefTree {
    /// The absolute path of the directory.
    pub path: PathBuf,
    /// The source's `repoURL` as in the Application.
    pub repo_url: String,
    /// The resolved commit.
    pub revision: String,
}

/// A chart of a directory that replaces a Helm repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalChart {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The absolute path of its directory, or of its archive `NAME-VERSION.tgz`.
    pub path: PathBuf,
}

/// The application's project.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContextProject {
    /// Its name.
    pub name: String,
    /// The permitted repositories: Argo CD's patterns, where a leading `!` denies.
    pub source_repos: Vec<String>,
}

/// An error in a run context file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// The file is not JSON. The error does not quote the file.
    #[error("the run context is not JSON")]
    Json(#[source] tiphys_yaml::Error),
    /// A field has a wrong type or an invalid value.
    #[error("the run context has an unexpected structure")]
    Field(#[from] DecodeError),
    /// The file has a later version.
    #[error(
        "the run context has version {version}, but this program reads version {CONTEXT_VERSION}; update this program"
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
            local_charts: BTreeMap::new(),
            mounted_credentials: MountedCredentials::default(),
            network: NetworkUse::default(),
        }
    }
}

impl Default for ContextProject {
    /// The project of an Application that names none. It permits everything.
    fn default() -> Self {
        Self { name: "default".to_owned(), source_repos: vec!["*".to_owned()] }
    }
}

#[cfg(test)]
mod tests;
