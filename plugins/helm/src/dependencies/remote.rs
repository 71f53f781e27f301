//! The repositories of dependencies and their credentials, looked up as in Argo CD's `getHelmRepos`.

use tiphys_model::access::{
    CredentialReach, FoundAccess, KnownRepositories, LoginOwner, PemFiles, RegistryLogin, RepoUrl,
    RepositoryAccess, RepositoryUse, RunContext,
};

use super::DependencyError;

/// Scheme of registries.
pub(super) const OCI: &str = "oci://";

/// The field `repository` of a dependency. Schemes are case-insensitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DependencyRepository<'a> {
    /// The chart's own directory `charts`.
    Vendored,
    /// A directory: the path after `file://`.
    Folder(&'a str),
    /// The name of a repository.
    Named(&'a str),
    /// A Helm repository's URL.
    Web(&'a str),
    /// A registry's address, without `oci://`.
    Registry(&'a str),
    /// An address of another scheme, for which helm may have a plugin.
    Plugin(&'a str),
    /// Anything else; helm reports the error.
    Other,
}

impl<'a> DependencyRepository<'a> {
    pub(crate) fn of(repository: &'a str) -> Self {
        let behind = |prefix| repository.strip_prefix(prefix);
        if repository.is_empty() {
            return Self::Vendored;
        }
        // Helm knows this scheme in lower case only; otherwise it looks for a plugin.
        if let Some(path) = behind("file://") {
            return Self::Folder(path);
        }
        if let Some(name) = behind("@").or_else(|| behind("alias:")) {
            return Self::Named(name);
        }
        let Some(scheme) = scheme_of(repository) else { return Self::Other };
        let is_one_of = |known: &[&str]| known.iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let address = repository[scheme.len()..].strip_prefix("://");
        match address {
            Some(address) if is_one_of(&["oci"]) => Self::Registry(address),
            Some(_) if is_one_of(&["https", "http"]) => Self::Web(repository),
            _ => Self::Plugin(repository),
        }
    }
}

/// Returns the scheme of a URL.
fn scheme_of(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once(':')?;
    let is_part = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    (scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.chars().all(is_part))
        .then_some(scheme)
}

/// Converts the scheme of an address to lower case.
fn with_small_scheme(address: &str) -> String {
    let length = scheme_of(address).map_or(0, str::len);
    let (scheme, rest) = address.split_at(length);
    [&scheme.to_ascii_lowercase(), rest].concat()
}

/// The repositories that are available to a project.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectRepositories {
    /// The application's project.
    pub(crate) project: String,
    /// Repositories from the run context and from mounted files.
    pub(crate) repositories: KnownRepositories,
}

/// A repository with the chart of a dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteRepository {
    pub(crate) kind: RemoteKind,
    /// Its URL; a registry's address has no `oci://`.
    pub(crate) address: RepoUrl,
    /// Connection settings; empty for an unknown repository.
    pub(crate) access: RepositoryAccess,
    /// The servers that get the credentials.
    pub(crate) credentials: CredentialReach,
    /// The owner of the credentials.
    pub(crate) owner: LoginOwner,
    /// Other credentials of a registry.
    pub(crate) login: RegistryLogin,
    /// Files of certificates that are not in `access` yet.
    pub(crate) files: PemFiles,
}

/// How charts are fetched from a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoteKind {
    /// Through an index over HTTP.
    Web,
    /// By the OCI distribution protocol.
    Registry,
    /// By a helm plugin, which has its own credentials.
    Plugin,
}

impl RemoteRepository {
    /// Something that only a helm plugin may know.
    pub(crate) fn of_plugin(address: &str) -> Self {
        Self::found(&with_small_scheme(address), RemoteKind::Plugin, FoundAccess::default())
    }

    fn found(address: &str, kind: RemoteKind, found: FoundAccess) -> Self {
        let FoundAccess { access, credentials, owner, login, files } = found;
        let address = RepoUrl::new(address);
        Self { kind, address, access, credentials, owner, login, files }
    }

    /// Whether the caller's own credentials are sent to it.
    pub(crate) fn has_own_login(&self) -> bool {
        self.owner == LoginOwner::Person
            && (self.access.has_credentials()
                || self.login != RegistryLogin::None
                || !self.files.key.is_empty())
    }
}

impl ProjectRepositories {
    /// Returns the repositories of the run context.
    pub(crate) fn of_context(context: &RunContext) -> Self {
        Self { project: context.project.name.clone(), repositories: KnownRepositories::of_context(context) }
    }

    /// Returns the repository of a dependency, which is one of these kinds. A name must be known; an address need not.
    pub(crate) fn remote(
        &self,
        repository: &str,
        credentials: CredentialReach,
    ) -> Result<RemoteRepository, DependencyError> {
        let mut remote = match DependencyRepository::of(repository) {
            DependencyRepository::Named(name) => self.by_name(repository, name)?,
            DependencyRepository::Registry(address) => self.by_address(address, RemoteKind::Registry),
            _ => self.by_address(&with_small_scheme(repository), RemoteKind::Web),
        };
        if remote.address.is_ambiguous() {
            return Err(DependencyError::Ambiguous { repository: remote.address });
        }
        if credentials == CredentialReach::EveryServer {
            remote.credentials = credentials;
        }
        Ok(remote)
    }

    /// Returns the addresses of the repositories with a name.
    pub(crate) fn named(&self, name: &str) -> Vec<String> {
        let found = self.repositories.named(&self.project, name);
        found.into_iter().map(|one| one.access.url).collect()
    }

    fn by_name(&self, repository: &str, name: &str) -> Result<RemoteRepository, DependencyError> {
        let is_name = !name.is_empty() && !name.contains('/');
        let mut found = self.repositories.named(&self.project, name).into_iter().filter(|_| is_name);
        let Some(first) = found.next() else {
            return Err(DependencyError::UnknownName { repository: repository.to_owned() });
        };
        let address = first.access.url.clone();
        if let Some(second) = found.find(|one| !one.access.is_at(&address)) {
            return Err(DependencyError::AmbiguousName {
                repository: repository.to_owned(),
                first: RepoUrl::new(address),
                second: RepoUrl::new(second.access.url),
            });
        }
        if first.access.is_registry() {
            return Err(DependencyError::NamedRegistry {
                repository: repository.to_owned(),
                address: RepoUrl::new(RepoUrl::new(&address).without_oci()),
            });
        }
        Ok(RemoteRepository::found(&address, RemoteKind::Web, first))
    }

    fn by_address(&self, address: &str, kind: RemoteKind) -> RemoteRepository {
        RemoteRepository::found(
            address,
            kind,
            self.repositories.find(&self.project, address, RepositoryUse::Dependency),
        )
    }
}

#[cfg(test)]
mod tests;
