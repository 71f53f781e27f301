//! Credentials of the user for repositories without credentials in a Secret.

use std::sync::Arc;

use tiphys_logins::{
    EntryError, FileError, HelperError, Login, Needs, OwnLogins, entry_login, read_certificates,
};
use tiphys_model::access::{ChartProtocol, FoundAccess, MountedLogins, RegistryLogin, RepoUrl, Secret};

use super::{ChartError, ChartSource, CredentialReach, hashed};
use crate::SourceError;
use crate::once_map::OnceMap;
use crate::sources::blocking;

/// A source with the credentials for its repository.
pub(super) struct Opened {
    pub(super) source: ChartSource,
    /// [`ChartSource::identity`], extended by the user's credentials. A credential helper is represented by its name: it may return
    /// another short-lived token each time.
    pub(super) identity: String,
    /// A refresh token for registry tokens, in place of a user and password (`identitytoken`).
    pub(super) identity_token: Option<Secret>,
    /// The credential helper to ask if the source has no credentials.
    pub(super) helper: Option<Helper>,
    /// Why a login that was found is invalid. Reported only if the registry demands credentials.
    pub(super) unusable: Option<EntryError>,
    /// The setting of a Secret because of which the user's credentials are withheld.
    pub(super) withheld: Option<&'static str>,
}

/// A credential helper. It runs only when the registry demands credentials, and never offline.
#[derive(Clone, Debug)]
pub(super) struct Helper {
    pub(super) logins: OwnLogins,
    /// Its name without the prefix `docker-credential-`.
    pub(super) name: String,
    /// The login to use if the helper has none.
    otherwise: RegistryLogin,
    /// The registry's key.
    registry: String,
}

/// The user's logins that one command has read: each file once, and each helper once per registry. Errors and timeouts are remembered, too.
#[derive(Default)]
pub(super) struct LearnedLogins {
    files: OnceMap<(OwnLogins, Needs), Result<ReadFiles, Arc<SourceError>>>,
    helpers: OnceMap<HelperQuestion, Result<Option<Login>, Arc<HelperError>>>,
}

/// The login from a chain of helpers and files.
#[derive(Debug, Default)]
pub(super) struct Helped {
    pub(super) login: Option<Login>,
    /// Why a login behind the helper is invalid.
    pub(super) unusable: Option<EntryError>,
}

/// The user's files, or why they cannot be read.
type ReadFiles = Result<Arc<MountedLogins>, Arc<FileError>>;

/// The owner of a helper, its name, and the registry.
type HelperQuestion = (OwnLogins, String, String);

impl LearnedLogins {
    async fn of_files(&self, logins: &OwnLogins, needs: Needs) -> Result<ReadFiles, SourceError> {
        let read = || async {
            let logins = logins.clone();
            let read = blocking(move || Ok(logins.read(needs).map(Arc::new).map_err(Arc::new)));
            read.await.map_err(Arc::new)
        };
        let cell = self.files.cell((logins.clone(), needs));
        cell.get_or_init(read).await.clone().map_err(SourceError::Before)
    }

    /// Asks a helper, then those behind it, until one has a login.
    pub(super) async fn of_helper(&self, helper: &Helper) -> Result<Helped, Arc<HelperError>> {
        let Helper { logins, registry, .. } = helper;
        let (mut name, mut otherwise) = (&helper.name, &helper.otherwise);
        loop {
            let question = (logins.clone(), name.clone(), registry.clone());
            let ask = || async { logins.ask(name, registry).await.map_err(Arc::new) };
            let login = self.helpers.cell(question).get_or_init(ask).await.clone()?;
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
    /// Adds the user's credentials from files, or the credential helper to ask, unless a Secret or the URL has credentials.
    pub(super) async fn opened(&self, learned: &LearnedLogins) -> Result<Opened, SourceError> {
        let mut source = self.clone();
        let (mut helper, mut identity_token, mut unusable, mut withheld) = (None, None, None, None);
        let of_secret =
            if self.is_of_registry() { self.access.has_password() } else { self.access.has_credentials() };
        let url = RepoUrl::new(&self.repo_url);
        let has_user_info = url.user_info().is_some_and(|text| !text.is_empty());
        // The other settings of a Helm repository in the user's files, such as its CA, also apply to a URL with credentials.
        let is_sought = !of_secret && (!has_user_info || !self.is_of_registry());
        if let Some(logins) = source.own_logins.take().filter(|_| is_sought) {
            withheld = source.access.exposing_setting();
            let login = source.open(&logins, learned).await?;
            if has_user_info {
                source.access.username.clear();
                source.access.password = Secret::default();
            }
            match login {
                RegistryLogin::None => {}
                RegistryLogin::Entry(entry) => match entry_login(&entry, url.registry_key()) {
                    Ok(Some(Login::Password { username, password })) => {
                        source.access.username = username;
                        source.access.password = password;
                    }
                    Ok(Some(Login::Token(token))) => identity_token = Some(token),
                    Ok(None) => {}
                    Err(error) => unusable = Some(error),
                },
                RegistryLogin::Helper { name, otherwise } => {
                    let registry = url.registry_key().to_owned();
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
        Ok(Opened { source, identity, identity_token, helper, unusable, withheld })
    }

    /// Adds the settings of the user's files. Returns the registry login that they name.
    async fn open(
        &mut self,
        logins: &OwnLogins,
        learned: &LearnedLogins,
    ) -> Result<RegistryLogin, SourceError> {
        let address = self.repo_url.trim().to_owned();
        let (needs, protocol) = if self.is_of_registry() {
            (Needs::RepositoriesAndLogins, ChartProtocol::Registry)
        } else {
            (Needs::Repositories, ChartProtocol::Index)
        };
        let repository = self.shown();
        let failed = |source| ChartError::LoginFile { repository, source };
        let mounted = match learned.of_files(logins, needs).await? {
            Ok(mounted) => mounted,
            Err(error) => return Err(failed(error).into()),
        };
        let found = mounted.fill_in(self.access.clone(), &address, protocol);
        let FoundAccess { mut access, credentials, owner: _, login, files } = found;
        let read = move || {
            let read = read_certificates(files, &mut access);
            Ok(read.map(|()| access))
        };
        let access = match blocking(read).await? {
            Ok(access) => access,
            Err(error) => return Err(failed(Arc::new(error)).into()),
        };
        if credentials == CredentialReach::EveryServer {
            self.credentials = credentials;
        }
        self.access = access;
        Ok(login)
    }
}

impl Helper {
    /// The identity of a source that uses this helper.
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
