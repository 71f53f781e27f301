//! The known repositories, and the choice of settings for an address.
//!
//! Repository Secrets have priority, in Argo CD's order: first the project's own, then global ones, never those of another project. A
//! Secret without credentials is completed by the template with the longest prefix. If there is no Secret, the template is used alone
//! (`getRepositorySecret`, `enrichCredsToRepo`). Mounted credentials are used last, if they are permitted.

use std::collections::BTreeMap;

use crate::access::mounted::{ChartProtocol, MountedLogins, MountedRepository, PemFiles, RegistryEntry};
use crate::access::repository::certificates_of;
use crate::access::{CredentialReach, RepoUrl, RepositoryAccess, RunContext};

/// Settings of repositories from all origins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KnownRepositories {
    /// Settings from repository Secrets, with complete addresses.
    pub repositories: Vec<RepositoryAccess>,
    /// Settings from credential templates, with prefixes of addresses.
    pub templates: Vec<RepositoryAccess>,
    /// CA certificates in PEM format by server name. Settings with their own CA certificates do not use them.
    pub certificates: BTreeMap<String, String>,
    /// Credentials from files on this machine; empty if they must not be used.
    pub mounted: MountedLogins,
}

/// The purpose of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryUse {
    /// A git repository: a source or a submodule. As in Argo CD, a Secret of any kind applies. Mounted credentials for charts do not.
    Git,
    /// A source that is a chart or an OCI artifact. As in Argo CD, a Secret of any kind applies.
    Chart,
    /// A dependency of a chart. Only Helm repositories and registries apply. An unknown registry gets the user name and password of a
    /// registry whose address is a prefix of its own, or the reverse.
    Dependency,
}

/// Access to an address. All fields are empty for an unknown address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundAccess {
    /// The connection settings.
    pub access: RepositoryAccess,
    /// Servers that get the credentials. This overrides other settings.
    pub credentials: CredentialReach,
    /// The origin of the credentials, if there are any.
    pub owner: LoginOwner,
    /// Further credentials for a registry.
    pub login: RegistryLogin,
    /// Files of certificates that are not in `access` yet.
    pub files: PemFiles,
}

/// The origin of credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoginOwner {
    /// A repository Secret or a credential template.
    #[default]
    Settings,
    /// The user who runs the program. Settings written by others must not change the connection over which these credentials are sent.
    Person,
}

/// Credentials for a registry whose settings have no user name and password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RegistryLogin {
    /// No credentials.
    #[default]
    None,
    /// An entry of a registry configuration.
    Entry(RegistryEntry),
    /// A credential helper.
    Helper {
        /// The helper's name without `docker-credential-`.
        name: String,
        /// The credentials to use if the helper has none.
        otherwise: Box<RegistryLogin>,
    },
}

impl KnownRepositories {
    /// Returns the repositories of a run context.
    pub fn of_context(context: &RunContext) -> Self {
        Self {
            repositories: context.repositories.clone(),
            templates: context.credential_templates.clone(),
            certificates: context.server_certificates.clone(),
            mounted: MountedLogins::default(),
        }
    }

    /// Returns the access of a project's application to an address. `oci://` is optional in addresses of registries.
    pub fn find(&self, project: &str, address: &str, repository_use: RepositoryUse) -> FoundAccess {
        let may = |one: &&RepositoryAccess| {
            one.is_for(project) && (repository_use != RepositoryUse::Dependency || one.has_charts())
        };
        let is_of_other_kind =
            |one: &RepositoryAccess| one.has_charts() == (repository_use == RepositoryUse::Git);
        let exact = self.repositories.iter().filter(may).filter(|one| one.is_at(address));
        let exact = exact.min_by_key(|one| (one.project.is_empty(), is_of_other_kind(one)));
        let template = RepositoryAccess::template_of(&self.templates, project, address);
        let other = || {
            let is_dependency =
                repository_use == RepositoryUse::Dependency && RepoUrl::new(address).names_registry();
            let mut other = self.repositories.iter().filter(|one| is_dependency && one.overlaps(address));
            other.find(may)
        };
        let access = match (exact, template) {
            (Some(exact), _) => exact.clone().completed(template),
            (None, Some(_)) => RepositoryAccess::default().completed(template),
            (None, None) => other().map(|other| self.completed(other, project).shared()).unwrap_or_default(),
        };
        self.without_secrets(access, address, repository_use)
    }

    /// Returns the chart repositories with a name: the project's own; if there are none, global ones; if there are none, mounted ones. The
    /// address of each is in its settings.
    pub fn named(&self, project: &str, name: &str) -> Vec<FoundAccess> {
        let of = |project: &str| {
            let named = move |one: &&RepositoryAccess| one.name == name && one.has_charts();
            let found: Vec<_> =
                self.repositories.iter().filter(named).filter(|one| one.project == project).collect();
            found
        };
        let found = Some(of(project)).filter(|found| !found.is_empty()).unwrap_or_else(|| of(""));
        if found.is_empty() {
            let mounted = self.mounted.repositories.iter().filter(|one| one.access.name == name);
            return mounted.map(|one| self.mounted_access(one)).collect();
        }
        let with_all = |one: &RepositoryAccess| self.with_mounted(self.completed(one, project), &one.url);
        found.into_iter().map(with_all).collect()
    }

    /// Returns the access for a mounted entry. CA certificates of the server replace those in the entry's file.
    fn mounted_access(&self, mounted: &MountedRepository) -> FoundAccess {
        let MountedRepository { access, credentials, mut files } = mounted.clone();
        let access = self.certified(access, &mounted.access.url);
        if !access.ca_data.is_empty() {
            files.authorities.clear();
        }
        FoundAccess { access, credentials, owner: LoginOwner::Person, login: RegistryLogin::None, files }
    }

    /// Completes settings, which may be empty, with everything that does not come from Secrets.
    pub fn without_secrets(
        &self,
        access: RepositoryAccess,
        address: &str,
        repository_use: RepositoryUse,
    ) -> FoundAccess {
        match repository_use {
            RepositoryUse::Git => {
                FoundAccess { access: self.certified(access, address), ..FoundAccess::default() }
            }
            RepositoryUse::Chart | RepositoryUse::Dependency => self.with_mounted(access, address),
        }
    }

    /// Adds the server's CA certificates and mounted credentials.
    fn with_mounted(&self, access: RepositoryAccess, address: &str) -> FoundAccess {
        let protocol = if RepoUrl::new(address).names_registry() {
            ChartProtocol::Registry
        } else {
            ChartProtocol::Index
        };
        self.mounted.fill_in(self.certified(access, address), address, protocol)
    }

    /// Adds the server's CA certificates if the settings have none.
    pub fn certified(&self, mut access: RepositoryAccess, address: &str) -> RepositoryAccess {
        if access.ca_data.is_empty()
            && let Some(pem) = certificates_of(&self.certificates, address)
        {
            pem.clone_into(&mut access.ca_data);
        }
        access
    }

    /// Completes settings with the template for their own URL.
    pub fn completed(&self, access: &RepositoryAccess, project: &str) -> RepositoryAccess {
        let template = RepositoryAccess::template_of(&self.templates, project, &access.url);
        access.clone().completed(template)
    }
}

#[cfg(test)]
pub(crate) mod tests;
