//! Repositories and logins as helm and docker write them into files. Nothing is read here: which files there are, and whether they may be
//! used, is for others to say.

use std::collections::BTreeMap;

use serde_json::{Deserializer, Map, Value};
use tiphys_yaml::{DecodeError, Node, Object, read_document};

use crate::{
    CredentialReach, FoundAccess, LoginOwner, RegistryLogin, RepositoryAccess, RepositoryKind, Secret,
    registry_key,
};

/// What such files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MountedLogins {
    /// Helm repositories.
    pub repositories: Vec<MountedRepository>,
    /// What each registry configuration says, in the order in which they are asked: helm's, then docker's.
    pub registries: Vec<RegistryConfig>,
}

/// A registry configuration, as helm and docker have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryConfig {
    /// The file, as people know it.
    pub file: String,
    /// Logins by registry: JSON as helm and docker write it.
    pub logins: BTreeMap<String, Secret>,
    /// Programs that know logins, by registry: the part of their names behind `docker-credential-`.
    pub helpers: BTreeMap<String, String>,
    /// The program for all other registries.
    pub helper: Option<String>,
}

/// The login of a registry in a registry configuration. It may be none that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryEntry {
    /// JSON as helm and docker write it.
    pub json: Secret,
    /// The file, as people know it.
    pub file: String,
}

/// How charts are fetched from an address. Settings say it as well as the address, so whoever has both decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartProtocol {
    /// Through an index, over HTTP.
    Index,
    /// As from a registry.
    Registry,
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
pub struct OtherShape {
    /// The field that has; `None` for the whole.
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

    /// Adds a registry configuration, helm's or docker's. It is asked when those before it know nothing. As with helm, one in which there
    /// is nothing says nothing, and what is behind its end is no part of it.
    pub fn add_logins(&mut self, file: &str, text: &[u8]) -> Result<(), OtherShape> {
        let Some(config) = Deserializer::from_slice(text).into_iter::<Value>().next() else { return Ok(()) };
        let config = config.map_err(|_| OtherShape { field: None })?;
        let Some(config) = object(Some(&config), None)? else { return Ok(()) };
        let fields = |name| object(config.get(name), Some(name)).map(|object| object.into_iter().flatten());
        // Docker leaves an empty entry where a helper has the login.
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

    /// Fills in what the settings of an address do not have, where they have no credentials. Nothing else is set in settings that nobody
    /// has made: whether the server must prove who it is they say themselves.
    ///
    /// Nothing is filled in where the settings say that the server need not prove who it is, that there is no TLS, or that there is a proxy:
    /// who has written them could read the person's password on its way.
    pub fn fill_in(
        &self,
        mut access: RepositoryAccess,
        address: &str,
        protocol: ChartProtocol,
    ) -> FoundAccess {
        if access.is_open_to_others() {
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
            found.login = self.login(registry_key(address));
            if found.login != RegistryLogin::None {
                found.owner = LoginOwner::Person;
            }
        }
        found
    }

    /// The login of a registry by its key: of the first file that knows one. A helper is asked first, so what comes behind it is kept, too.
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
    /// The entry of a registry. Some programs have written an address in the place of its host (`https://registry.example.com/`).
    fn entry(&self, key: &str) -> Option<RegistryEntry> {
        let by_host = || self.logins.iter().find(|(name, _)| host_of(name) == key).map(|(_, entry)| entry);
        let json = self.logins.get(key).or_else(by_host)?.clone();
        Some(RegistryEntry { json, file: self.file.clone() })
    }
}

/// An object, or nothing.
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

/// The name of a helper; an empty one is none.
fn helper_of(value: Option<&Value>, field: &'static str) -> Result<Option<String>, OtherShape> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone()).filter(|name| !name.is_empty())),
        Some(_) => Err(OtherShape { field: Some(field) }),
    }
}

/// Host of a key: what is behind `http://` or `https://`, up to a slash.
fn host_of(key: &str) -> &str {
    let key = key.strip_prefix("http://").unwrap_or(key);
    let key = key.strip_prefix("https://").unwrap_or(key);
    key.split('/').next().unwrap_or_default()
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
