//! Where dependencies come from, and what opens these repositories: found as Argo CD finds it (its `getHelmRepos`).

use tiphys_access::{
    CredentialReach, FoundAccess, KnownRepositories, LoginOwner, PemFiles, RegistryLogin, RepoUrl,
    RepositoryAccess, RepositoryUse, RunContext, same_address,
};

use super::DependencyError;

/// Scheme of registries.
pub(super) const OCI: &str = "oci://";

/// What the field `repository` of a dependency means. Schemes may be written in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DependencyRepository<'a> {
    /// The chart's own folder `charts`.
    Vendored,
    /// A folder, as the path behind `file://`.
    Folder(&'a str),
    /// A repository of this name.
    Named(&'a str),
    /// A Helm repository's URL.
    Web(&'a str),
    /// A registry's address, without `oci://`.
    Registry(&'a str),
    /// An address of another scheme, for which helm may have a plugin.
    Plugin(&'a str),
    /// Anything else; helm says what is wrong with it.
    Other,
}

impl<'a> DependencyRepository<'a> {
    /// Reads the field.
    pub(crate) fn of(repository: &'a str) -> Self {
        let behind = |prefix| repository.strip_prefix(prefix);
        if repository.is_empty() {
            return Self::Vendored;
        }
        // Helm knows this one in small letters only; in others it is a scheme for which it looks for a plugin.
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

/// The scheme of an address, as URLs have it.
fn scheme_of(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once(':')?;
    let is_part = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    (scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.chars().all(is_part))
        .then_some(scheme)
}

/// An address with its scheme in small letters.
fn with_small_scheme(address: &str) -> String {
    let length = scheme_of(address).map_or(0, str::len);
    let (scheme, rest) = address.split_at(length);
    [&scheme.to_ascii_lowercase(), rest].concat()
}

/// What is known of repositories, looked up for a project.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectRepositories {
    /// The application's project.
    pub(crate) project: String,
    /// What is known, from the run context and from mounted files.
    pub(crate) repositories: KnownRepositories,
}

/// A repository that helm fetches from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteRepository {
    /// Helm repository or registry.
    pub(crate) kind: RemoteKind,
    /// Its URL; a registry's address has no `oci://`.
    pub(crate) address: RepoUrl,
    /// The name by which the chart refers to it; empty if it does not.
    pub(crate) name: String,
    /// How it is reached. Nothing in it is set for one that nobody knows.
    pub(crate) access: RepositoryAccess,
    /// Who gets the credentials.
    pub(crate) credentials: CredentialReach,
    /// Whose login opens it.
    pub(crate) owner: LoginOwner,
    /// What else opens a registry.
    pub(crate) login: RegistryLogin,
    /// Where certificates are that are not in `access` yet.
    pub(crate) files: PemFiles,
}

/// How helm fetches from a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoteKind {
    /// Through an index over HTTP.
    Web,
    /// By the distribution protocol.
    Registry,
    /// By a plugin of helm, which has its own ways to log in.
    Plugin,
}

impl RemoteRepository {
    /// One of which nothing but its address is known.
    pub(crate) fn unknown(address: &str, kind: RemoteKind) -> Self {
        Self::found(address, kind, FoundAccess::default())
    }

    fn found(address: &str, kind: RemoteKind, found: FoundAccess) -> Self {
        let FoundAccess { access, credentials, owner, login, files } = found;
        let (address, name) = (RepoUrl::new(address), String::new());
        Self { kind, address, name, access, credentials, owner, login, files }
    }

    /// The registry's key in files with logins.
    pub(crate) fn login_name(&self) -> &str {
        self.address.registry_key()
    }

    /// Whether a login of the person who runs the program is sent to it.
    pub(crate) fn has_own_login(&self) -> bool {
        self.owner == LoginOwner::Person
            && (self.access.has_credentials()
                || self.login != RegistryLogin::None
                || !self.files.key.is_empty())
    }
}

impl ProjectRepositories {
    /// What the run context says.
    pub(crate) fn of_context(context: &RunContext) -> Self {
        Self { project: context.project.name.clone(), repositories: KnownRepositories::of_context(context) }
    }

    /// The repositories that dependencies come from, each once, in order. A name is looked up first, an address may be unknown.
    pub(crate) fn remotes<'a>(
        &self,
        repositories: impl IntoIterator<Item = &'a str>,
        credentials: CredentialReach,
    ) -> Result<Vec<RemoteRepository>, DependencyError> {
        let mut remotes: Vec<RemoteRepository> = Vec::new();
        for repository in repositories {
            let mut remote = match DependencyRepository::of(repository) {
                DependencyRepository::Web(url) => self.by_address(&with_small_scheme(url), RemoteKind::Web),
                DependencyRepository::Registry(address) => self.by_address(address, RemoteKind::Registry),
                DependencyRepository::Plugin(url) => {
                    RemoteRepository::unknown(&with_small_scheme(url), RemoteKind::Plugin)
                }
                DependencyRepository::Named(name) => self.by_name(repository, name)?,
                DependencyRepository::Vendored
                | DependencyRepository::Folder(_)
                | DependencyRepository::Other => continue,
            };
            if credentials == CredentialReach::EveryServer {
                remote.credentials = credentials;
            }
            let same = |one: &&mut RemoteRepository| {
                one.kind == remote.kind && same_address(one.address.expose(), remote.address.expose())
            };
            match remotes.iter_mut().find(same) {
                Some(found) if found.name.is_empty() => found.name = remote.name,
                // Helm knows a repository by one name in one file.
                Some(found) if !remote.name.is_empty() && found.name != remote.name => remotes.push(remote),
                Some(_) => {}
                None => remotes.push(remote),
            }
        }
        Ok(remotes)
    }

    /// The addresses of the repositories of a name.
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
        Ok(RemoteRepository {
            name: name.to_owned(),
            ..RemoteRepository::found(&address, RemoteKind::Web, first)
        })
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
