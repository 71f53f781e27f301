//! Where dependencies come from, and what opens these places: found as Argo CD finds it (`spec/helm-parity.md` 2.3).

use std::collections::BTreeMap;

use tiphys_params::context::{RepositoryAccess, RunContext, Secret, same_address, without_oci};

use super::DependencyError;
use crate::address::Address;
use crate::options::Credentials;

/// Scheme of registries.
pub(super) const OCI: &str = "oci://";

/// What the field `repository` of a dependency means. Schemes may be written in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place<'a> {
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

impl<'a> Place<'a> {
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

/// What is known of repositories, from the run context or from mounted files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Whole addresses.
    pub(crate) repositories: Vec<KnownRepository>,
    /// Beginnings of addresses.
    pub(crate) templates: Vec<RepositoryAccess>,
    /// Logins to registries by host: JSON as helm and docker write it.
    pub(crate) logins: BTreeMap<String, Secret>,
    /// Programs that know logins to registries, by host: the part of their names behind `docker-credential-`.
    pub(crate) helpers: BTreeMap<String, String>,
    /// The program for all other registries.
    pub(crate) helper: Option<String>,
}

/// A repository, and who gets its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownRepository {
    /// How it is reached.
    pub(crate) access: RepositoryAccess,
    /// Who gets the credentials, whatever the parameter says.
    pub(crate) credentials: Credentials,
    /// Where certificates are that `access` does not have.
    pub(crate) files: PemFiles,
}

/// Paths of files in PEM, empty ones for none. They are read for places that are fetched from, and for no other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PemFiles {
    /// Certificates of authorities to trust.
    pub(crate) authorities: String,
    /// A client certificate.
    pub(crate) certificate: String,
    /// The key of the client certificate.
    pub(crate) key: String,
}

/// A place that helm fetches from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    /// Helm repository or registry.
    pub(crate) kind: RemoteKind,
    /// Its URL; a registry's address has no `oci://`.
    pub(crate) address: Address,
    /// The name by which the chart refers to it; empty if it does not.
    pub(crate) name: String,
    /// How it is reached. Nothing in it is set for a place that nobody knows.
    pub(crate) access: RepositoryAccess,
    /// Who gets the credentials.
    pub(crate) credentials: Credentials,
    /// What else opens a registry.
    pub(crate) login: Login,
    /// Where certificates are that are not in `access` yet.
    pub(crate) files: PemFiles,
}

/// What opens a registry whose settings have no user and password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Login {
    /// Nothing.
    #[default]
    None,
    /// An entry of a registry configuration: JSON as helm and docker write it.
    Entry(Secret),
    /// A program that knows the login: the part of its name behind `docker-credential-`.
    Helper(String),
}

/// How helm fetches from a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoteKind {
    /// Through an index over HTTP.
    Web,
    /// By the distribution protocol.
    Registry,
    /// By a plugin of helm, which has its own ways to log in.
    Plugin,
}

impl Remote {
    /// A place of which nothing but its address is known.
    pub(crate) fn unknown(address: &str, kind: RemoteKind) -> Self {
        Self {
            kind,
            address: Address::new(address),
            name: String::new(),
            access: RepositoryAccess::default(),
            credentials: Credentials::OwnHost,
            login: Login::None,
            files: PemFiles::default(),
        }
    }

    /// The registry's key in files with logins: its host, and docker's own an odd one.
    pub(crate) fn login_name(&self) -> &str {
        match self.address.expose().split('/').next().unwrap_or_default() {
            "docker.io" | "index.docker.io" | "registry-1.docker.io" => "https://index.docker.io/v1/",
            host => host,
        }
    }

    /// Whether its settings have a user and a password.
    pub(crate) fn has_password(&self) -> bool {
        !self.access.username.is_empty() && !self.access.password.is_empty()
    }
}

impl Known {
    /// What the run context says.
    pub(crate) fn of_context(context: &RunContext) -> Self {
        let known = |access: &RepositoryAccess| KnownRepository {
            access: access.clone(),
            credentials: Credentials::OwnHost,
            files: PemFiles::default(),
        };
        Self {
            repositories: context.repositories.iter().map(known).collect(),
            templates: context.credential_templates.clone(),
            ..Self::default()
        }
    }

    /// Adds what is known from elsewhere, behind what is known already: an address or a name that is known stays as it is.
    pub(crate) fn fill_in(&mut self, other: Self) {
        for mut repository in other.repositories {
            let is_named = |one: &KnownRepository| one.access.name == repository.access.name;
            if self.repositories.iter().any(is_named) {
                repository.access.name.clear();
            }
            self.repositories.push(repository);
        }
        self.templates.extend(other.templates);
        self.logins.extend(other.logins);
        self.helpers.extend(other.helpers);
        self.helper = self.helper.take().or(other.helper);
    }

    /// The places that dependencies come from, each once, in order. A name is looked up first, an address may be unknown.
    pub(crate) fn remotes<'a>(
        &self,
        repositories: impl IntoIterator<Item = &'a str>,
        credentials: Credentials,
    ) -> Result<Vec<Remote>, DependencyError> {
        let mut remotes: Vec<Remote> = Vec::new();
        for repository in repositories {
            let mut remote = match Place::of(repository) {
                Place::Web(url) => self.by_address(&with_small_scheme(url), RemoteKind::Web),
                Place::Registry(address) => self.by_address(address, RemoteKind::Registry),
                Place::Plugin(url) => Remote::unknown(&with_small_scheme(url), RemoteKind::Plugin),
                Place::Named(name) => self.by_name(repository, name)?,
                Place::Vendored | Place::Folder(_) | Place::Other => continue,
            };
            if credentials == Credentials::AllHosts {
                remote.credentials = credentials;
            }
            let same = |one: &&mut Remote| {
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
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &str> {
        self.repositories
            .iter()
            .filter(move |one| one.access.name == name && one.access.has_charts())
            .map(|one| one.access.url.as_str())
    }

    fn by_name(&self, repository: &str, name: &str) -> Result<Remote, DependencyError> {
        let mut found =
            self.repositories.iter().filter(|one| one.access.name == name && one.access.has_charts());
        let first = found.next().filter(|_| !name.is_empty() && !name.contains('/'));
        let Some(first) = first else {
            return Err(DependencyError::UnknownName { repository: repository.to_owned() });
        };
        if let Some(second) = found.find(|one| !same_address(&one.access.url, &first.access.url)) {
            return Err(DependencyError::AmbiguousName {
                repository: repository.to_owned(),
                first: Address::new(&first.access.url),
                second: Address::new(&second.access.url),
            });
        }
        if first.access.is_registry() {
            return Err(DependencyError::NamedRegistry {
                repository: repository.to_owned(),
                address: Address::new(without_oci(&first.access.url)),
            });
        }
        Ok(Remote {
            kind: RemoteKind::Web,
            address: Address::new(&first.access.url),
            name: name.to_owned(),
            access: first.access.clone(),
            credentials: first.credentials,
            login: Login::None,
            files: first.files.clone(),
        })
    }

    /// The exact address among the repositories, else the template whose address is the longest beginning, else, of a registry, any that
    /// is a part of it or that it is a part of.
    fn by_address(&self, address: &str, kind: RemoteKind) -> Remote {
        let exact = self.repositories.iter().find(|one| one.access.is_at(address));
        let mut remote = Remote::unknown(address, kind);
        if let Some(exact) = exact {
            remote.credentials = exact.credentials;
            remote.files.clone_from(&exact.files);
        }
        let found = exact
            .map(|one| &one.access)
            .or_else(|| RepositoryAccess::template_of(&self.templates, address))
            .or_else(|| match kind {
                RemoteKind::Web | RemoteKind::Plugin => None,
                RemoteKind::Registry => {
                    self.repositories.iter().map(|one| &one.access).find(|one| one.is_around(address))
                }
            });
        if let Some(access) = found {
            remote.access = access.clone();
        }
        if kind == RemoteKind::Registry && !remote.has_password() {
            remote.login = self.login(remote.login_name());
        }
        remote
    }

    fn login(&self, name: &str) -> Login {
        if let Some(entry) = self.logins.get(name) {
            return Login::Entry(entry.clone());
        }
        let helper = self.helpers.get(name).or(self.helper.as_ref());
        helper.map_or(Login::None, |helper| Login::Helper(helper.clone()))
    }
}

#[cfg(test)]
mod tests;
