//! Repositories and credentials in the file formats of Helm and Docker. This module reads no files: the caller decides which files exist
//! and may be used.

use std::collections::BTreeMap;

use serde_json::{Deserializer, Map, Value};
use tiphys_yaml::{DecodeError, Node, Object, read_document};

use crate::access::{
    CredentialReach, FoundAccess, LoginOwner, RegistryLogin, RepoUrl, RepositoryAccess, RepositoryKind,
    Secret,
};

/// Contents of such files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MountedLogins {
    /// Helm repositories.
    pub repositories: Vec<MountedRepository>,
    /// Registry configurations in order of priority: Helm's, then Docker's.
    pub registries: Vec<RegistryConfig>,
}

/// A registry configuration in the format of Docker's `config.json`, which Helm shares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegistryConfig {
    /// The file's name in messages.
    pub file: String,
    /// Entries of `auths` as JSON, by registry.
    pub logins: BTreeMap<String, Secret>,
    /// Credential helpers by registry, named without `docker-credential-` (`credHelpers`).
    pub helpers: BTreeMap<String, String>,
    /// The credential helper for all other registries (`credsStore`).
    pub helper: Option<String>,
}

/// The entry of a registry in a registry configuration. Its credentials may be unusable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegistryEntry {
    /// The entry as JSON.
    pub json: Secret,
    /// The file's name in messages.
    pub file: String,
}

/// The protocol for charts. It depends on the address and on the settings, so the caller that has both decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChartProtocol {
    /// A Helm repository: an index over HTTP.
    Index,
    /// An OCI registry.
    Registry,
}

/// An entry of `repositories.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MountedRepository {
    /// The connection settings.
    pub access: RepositoryAccess,
    /// Servers that get its credentials (`pass_credentials_all`).
    pub credentials: CredentialReach,
    /// Files of its certificates.
    pub files: PemFiles,
}

/// Paths of PEM files; empty if not set. A file is only read when its repository is accessed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PemFiles {
    /// CA certificates to trust.
    pub authorities: String,
    /// A client certificate.
    pub certificate: String,
    /// The key of the client certificate.
    pub key: String,
}

/// A file with an unexpected structure. The error has no details, because they could contain credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected structure")]
pub struct OtherShape {
    /// The field with an unexpected type; `None` for the whole file.
    pub field: Option<&'static str>,
}

impl MountedLogins {
    /// Adds the entries of a `repositories.yaml`.
    pub fn add_repositories(&mut self, file: &[u8]) -> Result<(), OtherShape> {
        let other = OtherShape { field: None };
        let Some(node) = read_document(file).map_err(|_| other)? else { return Ok(()) };
        let entries = || {
            let entries = Object::new(&node, "")?.list("repositories")?.unwrap_or_default();
            entries.iter().map(repository).collect::<Result<Vec<_>, DecodeError>>()
        };
        self.repositories.extend(entries().map_err(|_| other)?);
        Ok(())
    }

    /// Adds a registry configuration of Helm or Docker, with lower priority than those before it. As in Helm, an empty file has no
    /// credentials, and content after the first JSON value is ignored.
    pub fn add_logins(&mut self, file: &str, text: &[u8]) -> Result<(), OtherShape> {
        let Some(config) = Deserializer::from_slice(text).into_iter::<Value>().next() else { return Ok(()) };
        let config = config.map_err(|_| OtherShape { field: None })?;
        let Some(config) = object(Some(&config), None)? else { return Ok(()) };
        let fields = |name| object(config.get(name), Some(name)).map(|object| object.into_iter().flatten());
        // Docker writes an empty entry if a helper has the credentials.
        let is_login = |login: &Value| login.as_object().map_or(!login.is_null(), |login| !login.is_empty());
        let logins = fields("auths")?.filter(|(_, login)| is_login(login));
        let mut helpers = BTreeMap::new();
        for (name, helper) in fields("credHelpers")? {
            helpers.extend(helper_of(Some(helper), "credHelpers")?.map(|helper| (name.clone(), helper)));
        }
        self.registries.push(RegistryConfig {
            file: file.to_owned(),
            logins: logins.map(|(name, login)| (name.clone(), Secret::new(login.to_string()))).collect(),
            helpers,
            helper: helper_of(config.get("credsStore"), "credsStore")?,
        });
        Ok(())
    }

    /// Adds mounted credentials to settings without credentials. `insecure` comes from the mounted entry only if no settings exist for the
    /// address, because existing settings define it.
    ///
    /// Nothing is added if the settings turn the verification of the server or TLS off, or have a proxy: the author of such settings could
    /// read the user's password in transit.
    pub fn fill_in(
        &self,
        mut access: RepositoryAccess,
        address: &str,
        protocol: ChartProtocol,
    ) -> FoundAccess {
        if access.exposing_setting().is_some() {
            return FoundAccess { access, ..FoundAccess::default() };
        }
        let mounted = self.repositories.iter().find(|one| one.access.is_at(address));
        let mut found = FoundAccess::default();
        if let Some(mounted) = mounted.filter(|_| !access.has_credentials()) {
            found.owner = LoginOwner::Person;
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
        if protocol == ChartProtocol::Registry && !found.access.has_password() {
            found.login = self.login(RepoUrl::new(address).registry_key());
            if found.login != RegistryLogin::None {
                found.owner = LoginOwner::Person;
            }
        }
        found
    }

    /// Returns the credentials for a registry key, from the first file that has some. A helper may have none, so it keeps the next choice.
    fn login(&self, key: &str) -> RegistryLogin {
        self.registries.iter().rfold(RegistryLogin::None, |otherwise, file| {
            if let Some(name) = file.helpers.get(key).or(file.helper.as_ref()) {
                RegistryLogin::Helper { name: name.clone(), otherwise: Box::new(otherwise) }
            } else {
                file.entry(key).map_or(otherwise, RegistryLogin::Entry)
            }
        })
    }
}

impl RegistryConfig {
    /// Returns the entry of a registry. Some programs write a URL instead of the host (`https://registry.example.com/`).
    fn entry(&self, key: &str) -> Option<RegistryEntry> {
        let by_host = || {
            self.logins.iter().find(|(name, _)| RepoUrl::new(name).server() == key).map(|(_, entry)| entry)
        };
        let json = self.logins.get(key).or_else(by_host)?.clone();
        Some(RegistryEntry { json, file: self.file.clone() })
    }
}

/// Returns a JSON object; None if it is missing or null.
fn object<'a>(
    value: Option<&'a Value>,
    field: Option<&'static str>,
) -> Result<Option<&'a Map<String, Value>>, OtherShape> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(OtherShape { field }),
    }
}

/// Returns the name of a helper; None if it is missing, null or empty.
fn helper_of(value: Option<&Value>, field: &'static str) -> Result<Option<String>, OtherShape> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone()).filter(|name| !name.is_empty())),
        Some(_) => Err(OtherShape { field: Some(field) }),
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
