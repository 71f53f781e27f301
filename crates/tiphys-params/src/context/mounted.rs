//! Repositories and logins as helm and docker write them into files. Nothing is read here: which files there are, and whether they may be
//! used, is for others to say.

use std::collections::BTreeMap;

use serde_json::Value;
use tiphys_yaml::{DecodeError, Node, Object, read_document};

use super::access::is_of_registry;
use super::{
    CredentialReach, FoundAccess, RegistryLogin, RepositoryAccess, RepositoryKind, Secret, registry_key,
};

/// What such files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MountedLogins {
    /// Helm repositories.
    pub repositories: Vec<MountedRepository>,
    /// Logins to registries by host: JSON as helm and docker write it.
    pub logins: BTreeMap<String, Secret>,
    /// Programs that know logins to registries, by host: the part of their names behind `docker-credential-`.
    pub helpers: BTreeMap<String, String>,
    /// The program for all other registries.
    pub helper: Option<String>,
}

/// An entry of `repositories.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountedRepository {
    /// How it is reached.
    pub access: RepositoryAccess,
    /// Who gets its credentials (`pass_credentials_all`).
    pub credentials: CredentialReach,
    /// Where its certificates are.
    pub files: PemFiles,
}

/// Paths of files in PEM, empty ones for none. They are read for places that are fetched from, and for no other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PemFiles {
    /// Certificates of authorities to trust.
    pub authorities: String,
    /// A client certificate.
    pub certificate: String,
    /// The key of the client certificate.
    pub key: String,
}

/// A file that is something else. What is wrong would show what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has another shape")]
pub struct OtherShape;

impl MountedLogins {
    /// Adds the entries of a `repositories.yaml`.
    pub fn add_repositories(&mut self, file: &[u8]) -> Result<(), OtherShape> {
        let Some(node) = read_document(file).map_err(|_| OtherShape)? else { return Ok(()) };
        let entries = || {
            let entries = Object::new(&node, "")?.list("repositories")?.unwrap_or_default();
            entries.iter().map(repository).collect::<Result<Vec<_>, DecodeError>>()
        };
        self.repositories.extend(entries().map_err(|_| OtherShape)?);
        Ok(())
    }

    /// Adds the logins of a registry configuration, helm's or docker's; those that are known already win.
    pub fn add_logins(&mut self, file: &[u8]) -> Result<(), OtherShape> {
        let config: Value = serde_json::from_slice(file).map_err(|_| OtherShape)?;
        let objects = |name: &str| config.get(name).and_then(Value::as_object).into_iter().flatten();
        for (host, login) in objects("auths") {
            // Docker leaves an empty entry where a helper has the login.
            if login.as_object().is_some_and(|login| !login.is_empty()) {
                self.logins.entry(host.clone()).or_insert_with(|| Secret::new(login.to_string()));
            }
        }
        for (host, helper) in objects("credHelpers") {
            if let Some(helper) = helper.as_str() {
                self.helpers.entry(host.clone()).or_insert_with(|| helper.to_owned());
            }
        }
        if self.helper.is_none() {
            self.helper = config.get("credsStore").and_then(Value::as_str).map(str::to_owned);
        }
        Ok(())
    }

    /// Fills in what the settings of an address do not have, where they have no credentials. Nothing else is set in settings that nobody
    /// has made: whether the server must prove who it is they say themselves.
    pub fn fill_in(&self, mut access: RepositoryAccess, address: &str) -> FoundAccess {
        let mounted = self.repositories.iter().find(|one| one.access.is_at(address));
        let mut found = FoundAccess::default();
        if let Some(mounted) = mounted.filter(|_| !access.has_credentials()) {
            if access.url.is_empty() {
                access.insecure = mounted.access.insecure;
            }
            access.take_credentials(&mounted.access);
            found.credentials = mounted.credentials;
            found.files = mounted.files.clone();
            if !access.ca_data.is_empty() {
                found.files.authorities.clear();
            }
        }
        found.access = access;
        if is_of_registry(address) && !found.access.has_password() {
            found.login = self.login(registry_key(address));
        }
        found
    }

    /// The login of a registry by its key.
    fn login(&self, key: &str) -> RegistryLogin {
        if let Some(entry) = self.logins.get(key) {
            return RegistryLogin::Entry(entry.clone());
        }
        let helper = self.helpers.get(key).or(self.helper.as_ref());
        helper.map_or(RegistryLogin::None, |helper| RegistryLogin::Helper(helper.clone()))
    }
}

/// An entry of `repositories.yaml`.
fn repository(node: &Node) -> Result<MountedRepository, DecodeError> {
    let mut entry = Object::new(node, "")?;
    let all_hosts = entry.boolean("pass_credentials_all")?.unwrap_or_default();
    let insecure = entry.boolean("insecure_skip_tls_verify")?.unwrap_or_default();
    let mut text = |key| Ok(entry.text(key)?.unwrap_or_default().to_owned());
    Ok(MountedRepository {
        access: RepositoryAccess {
            url: text("url")?,
            name: text("name")?,
            kind: RepositoryKind::Helm,
            username: text("username")?,
            password: Secret::new(text("password")?),
            insecure,
            ..RepositoryAccess::default()
        },
        credentials: if all_hosts { CredentialReach::EveryServer } else { CredentialReach::OwnServer },
        files: PemFiles {
            authorities: text("caFile")?,
            certificate: text("certFile")?,
            key: text("keyFile")?,
        },
    })
}

#[cfg(test)]
mod tests;
