//! A repository of which no Secret has credentials, opened with the logins of the person who asks.

use std::sync::Arc;

use tiphys_access::{ChartProtocol, FoundAccess, MountedLogins, RegistryLogin, Secret, registry_key};
use tiphys_logins::{
    EntryError, FileError, HelperError, Login, Needs, OwnLogins, entry_login, read_certificates,
};
use tokio::runtime::Handle;

use super::once::Once;
use super::{ChartError, ChartSource, CredentialReach, hashed, in_parts};
use crate::SourceError;

/// A source with all that opens its repository.
pub(super) struct Opened {
    pub(super) source: ChartSource,
    /// [`ChartSource::identity`], and what else opens it. For a helper its name stands: what it answers may be another text each time, and
    /// opens the same.
    pub(super) identity: String,
    /// What gets tokens of a registry without a user and a password (`identitytoken`).
    pub(super) identity_token: Option<Secret>,
    /// Who knows a login that the source does not have.
    pub(super) helper: Option<Helper>,
    /// What was found and is no login. It matters where the registry wants one.
    pub(super) unusable: Option<EntryError>,
}

/// A program that knows the login to a registry. It is asked when the registry wants a login, and never where nothing may be fetched.
#[derive(Clone, Debug)]
pub(super) struct Helper {
    logins: OwnLogins,
    /// The part of its name behind `docker-credential-`.
    pub(super) name: String,
    /// What opens the registry if this one knows nothing.
    otherwise: RegistryLogin,
    /// The registry's key.
    registry: String,
}

/// What one command has learned of people's logins: each of their files is read once, and each helper is asked once for a registry. One that
/// hangs costs its bound once, too, and all who wait for it are told.
#[derive(Debug, Default)]
pub(super) struct LearnedLogins {
    files: Once<(OwnLogins, Needs), Arc<MountedLogins>, FileError>,
    helpers: Once<HelperQuestion, Option<Login>, HelperError>,
}

/// What a helper and all that comes behind it know.
#[derive(Debug, Default)]
pub(super) struct Helped {
    pub(super) login: Option<Login>,
    /// What was found behind the helper and is no login.
    pub(super) unusable: Option<EntryError>,
}

/// Whose helper is asked, its name, and for which registry.
type HelperQuestion = (OwnLogins, String, String);

impl LearnedLogins {
    fn of_files(&self, logins: &OwnLogins, needs: Needs) -> Result<Arc<MountedLogins>, Arc<FileError>> {
        self.files.get((logins.clone(), needs), || logins.read(needs).map(Arc::new))
    }

    /// What the helper knows, else what comes behind it. To be called on a thread for blocking work.
    pub(super) fn of_helper(&self, helper: &Helper) -> Result<Helped, Arc<HelperError>> {
        let Helper { logins, registry, .. } = helper;
        let (mut name, mut otherwise) = (&helper.name, &helper.otherwise);
        loop {
            let question = (logins.clone(), name.clone(), registry.clone());
            let ask = || Handle::current().block_on(logins.ask(name, registry));
            let login = self.helpers.get(question, ask)?;
            if login.is_some() {
                return Ok(Helped { login, unusable: None });
            }
            match otherwise {
                RegistryLogin::None => return Ok(Helped::default()),
                RegistryLogin::Entry(entry) => {
                    return Ok(match entry_login(entry, registry) {
                        Ok(login) => Helped { login, unusable: None },
                        Err(error) => Helped { login: None, unusable: Some(error) },
                    });
                }
                RegistryLogin::Helper { name: next, otherwise: behind } => (name, otherwise) = (next, behind),
            }
        }
    }
}

impl ChartSource {
    /// The same with what the person's files have for it, and the program that knows more, where neither a Secret nor the address itself
    /// opens it.
    pub(super) fn opened(&self, learned: &LearnedLogins) -> Result<Opened, SourceError> {
        let mut source = self.clone();
        let (mut helper, mut identity_token, mut unusable) = (None, None, None);
        let of_secret =
            if self.is_of_registry() { self.access.has_password() } else { self.access.has_credentials() };
        let (_, of_url, _) = in_parts(self.repo_url.trim());
        // What is written down of a Helm repository beside its login, as whom to trust, is for an address with a login, too.
        let is_sought = !of_secret && (of_url.is_empty() || !self.is_of_registry());
        if let Some(logins) = source.own_logins.take().filter(|_| is_sought) {
            let login = source.open(&logins, learned)?;
            if !of_url.is_empty() {
                source.access.username.clear();
                source.access.password = Secret::default();
            }
            match login {
                RegistryLogin::None => {}
                RegistryLogin::Entry(entry) => {
                    match entry_login(&entry, registry_key(self.repo_url.trim())) {
                        Ok(Some(Login::Password { username, password })) => {
                            source.access.username = username;
                            source.access.password = password;
                        }
                        Ok(Some(Login::Token(token))) => identity_token = Some(token),
                        Ok(None) => {}
                        Err(error) => unusable = Some(error),
                    }
                }
                RegistryLogin::Helper { name, otherwise } => {
                    let registry = registry_key(source.repo_url.trim()).to_owned();
                    helper = Some(Helper { logins, name, otherwise: *otherwise, registry });
                }
            }
        }
        let mut identity = source.identity();
        if let Some(helper) = &helper {
            identity = helper.identity(&identity);
        }
        if let Some(token) = &identity_token {
            identity = hashed([&identity, "token", token.expose()]);
        }
        Ok(Opened { source, identity, identity_token, helper, unusable })
    }

    /// Takes what the person's files have, and says what else opens a registry.
    fn open(&mut self, logins: &OwnLogins, learned: &LearnedLogins) -> Result<RegistryLogin, SourceError> {
        let address = self.repo_url.trim().to_owned();
        let (needs, protocol) = if self.is_of_registry() {
            (Needs::RepositoriesAndLogins, ChartProtocol::Registry)
        } else {
            (Needs::Repositories, ChartProtocol::Index)
        };
        let failed = |source| ChartError::LoginFile { repository: self.shown(), source };
        let mounted = learned.of_files(logins, needs).map_err(failed)?;
        let found = mounted.fill_in(self.access.clone(), &address, protocol);
        let FoundAccess { mut access, credentials, owner: _, login, files } = found;
        read_certificates(files, &mut access).map_err(|error| failed(Arc::new(error)))?;
        if credentials == CredentialReach::EveryServer {
            self.credentials = credentials;
        }
        self.access = access;
        Ok(login)
    }
}

impl Helper {
    /// The identity of who asks with it.
    fn identity(&self, source: &str) -> String {
        let mut identity = hashed([source, "helper", &self.name]);
        let mut otherwise = &self.otherwise;
        loop {
            match otherwise {
                RegistryLogin::None => return identity,
                RegistryLogin::Entry(entry) => return hashed([&identity, "entry", entry.json.expose()]),
                RegistryLogin::Helper { name, otherwise: behind } => {
                    identity = hashed([&identity, "helper", name]);
                    otherwise = behind;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
