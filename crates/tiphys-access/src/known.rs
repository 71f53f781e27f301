//! Everything that is known of repositories, and what of it is for an address.
//!
//! Secrets come first, as Argo CD chooses among them: the project's own before everybody's, another project's never; one without credentials
//! is completed by the longest template; where there is none, the template stands alone (`getRepositorySecret`, `enrichCredsToRepo`). What
//! is left without credentials gets those that lie on this machine, if they may be used.

use std::collections::BTreeMap;

use crate::mounted::{ChartProtocol, MountedLogins, MountedRepository, PemFiles, RegistryEntry};
use crate::repository::{certificates_of, is_of_registry};
use crate::{CredentialReach, RepositoryAccess, RunContext};

/// What is known of repositories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownRepositories {
    /// Those of repository Secrets: their addresses are whole.
    pub repositories: Vec<RepositoryAccess>,
    /// Those of credential templates: beginnings of addresses.
    pub templates: Vec<RepositoryAccess>,
    /// The servers' own authorities, in PEM, by the server's name. Settings that have some keep them.
    pub certificates: BTreeMap<String, String>,
    /// What lies on this machine; nothing where it must not be used.
    pub mounted: MountedLogins,
}

/// What an address is looked up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryUse {
    /// A git repository: the source of an application, or a submodule. Argo CD takes a Secret of any kind for it. What lies on this machine
    /// for charts is not for it.
    Git,
    /// The source of an application that is a chart or an artefact of a registry. Argo CD takes a Secret of any kind for it, too.
    Chart,
    /// A dependency of a chart: only Helm repositories and registries count, and a registry that nobody knows gets user and password of
    /// a part of it, or of a whole that it is part of.
    Dependency,
}

/// How an address is reached. Nothing is set for one that nobody knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundAccess {
    /// Its settings.
    pub access: RepositoryAccess,
    /// Who gets the credentials, whatever else says.
    pub credentials: CredentialReach,
    /// Whose login there is, if there is one.
    pub owner: LoginOwner,
    /// What else opens a registry.
    pub login: RegistryLogin,
    /// Where certificates are that are not in `access` yet.
    pub files: PemFiles,
}

/// Whose login opens a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoginOwner {
    /// That of a Secret.
    #[default]
    Settings,
    /// That of the person who runs the program. Nothing that others have written says on which way it is sent.
    Person,
}

/// What opens a registry whose settings have no user and password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RegistryLogin {
    /// Nothing.
    #[default]
    None,
    /// An entry of a registry configuration.
    Entry(RegistryEntry),
    /// A program that may know the login.
    Helper {
        /// The part of its name behind `docker-credential-`.
        name: String,
        /// What opens the registry if it knows none.
        otherwise: Box<RegistryLogin>,
    },
}

impl KnownRepositories {
    /// What a run context says.
    pub fn of_context(context: &RunContext) -> Self {
        Self {
            repositories: context.repositories.clone(),
            templates: context.credential_templates.clone(),
            certificates: context.server_certificates.clone(),
            mounted: MountedLogins::default(),
        }
    }

    /// How an address is reached by an application of a project. A registry's may be written without its scheme.
    pub fn find(&self, project: &str, address: &str, repository_use: RepositoryUse) -> FoundAccess {
        let may = |one: &&RepositoryAccess| {
            one.is_for(project) && (repository_use != RepositoryUse::Dependency || one.has_charts())
        };
        let is_of_other_kind =
            |one: &RepositoryAccess| one.has_charts() == (repository_use == RepositoryUse::Git);
        let exact = self.repositories.iter().filter(may).filter(|one| one.is_at(address));
        let exact = exact.min_by_key(|one| (one.project.is_empty(), is_of_other_kind(one)));
        let template = RepositoryAccess::template_of(&self.templates, project, address);
        let around = || {
            let is_sought = repository_use == RepositoryUse::Dependency && is_of_registry(address);
            let mut around = self.repositories.iter().filter(|one| is_sought && one.is_around(address));
            around.find(may)
        };
        let access = match (exact, template) {
            (Some(exact), _) => exact.clone().completed(template),
            (None, Some(_)) => RepositoryAccess::default().completed(template),
            (None, None) => around().map(|around| self.completed(around, project).lent()).unwrap_or_default(),
        };
        self.without_secrets(access, address, repository_use)
    }

    /// The repositories of charts that have a name: the project's own, else everybody's, else those of this machine. The address of each
    /// is in its settings.
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
            return mounted.map(|one| self.of_mounted(one)).collect();
        }
        let with_all = |one: &RepositoryAccess| self.filled_in(self.completed(one, project), &one.url);
        found.into_iter().map(with_all).collect()
    }

    /// An entry of this machine's, with its server's own authorities instead of those in a file.
    fn of_mounted(&self, mounted: &MountedRepository) -> FoundAccess {
        let MountedRepository { access, credentials, mut files } = mounted.clone();
        let access = self.certified(access, &mounted.access.url);
        if !access.ca_data.is_empty() {
            files.authorities.clear();
        }
        FoundAccess { access, credentials, owner: LoginOwner::Person, login: RegistryLogin::None, files }
    }

    /// Completes an access, which may be empty, with everything that does not come from Secrets.
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
            RepositoryUse::Chart | RepositoryUse::Dependency => self.filled_in(access, address),
        }
    }

    /// With its server's own authorities, and with what lies on this machine.
    fn filled_in(&self, access: RepositoryAccess, address: &str) -> FoundAccess {
        let protocol = if is_of_registry(address) { ChartProtocol::Registry } else { ChartProtocol::Index };
        self.mounted.fill_in(self.certified(access, address), address, protocol)
    }

    /// With its server's own authorities.
    pub fn certified(&self, mut access: RepositoryAccess, address: &str) -> RepositoryAccess {
        if access.ca_data.is_empty()
            && let Some(pem) = certificates_of(&self.certificates, address)
        {
            pem.clone_into(&mut access.ca_data);
        }
        access
    }

    /// With the template of its own address.
    pub fn completed(&self, access: &RepositoryAccess, project: &str) -> RepositoryAccess {
        let template = RepositoryAccess::template_of(&self.templates, project, &access.url);
        access.clone().completed(template)
    }
}

/// The key of a registry in files with logins: its host, and of docker's own an odd one. User and password of an address are no part of it.
pub fn registry_key(address: &str) -> &str {
    let behind_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = behind_scheme.split('/').next().unwrap_or_default();
    match authority.rsplit_once('@').map_or(authority, |(_, host)| host) {
        "docker.io" | "index.docker.io" | "registry-1.docker.io" => "https://index.docker.io/v1/",
        host => host,
    }
}

#[cfg(test)]
mod tests;
