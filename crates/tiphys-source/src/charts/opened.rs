//! A repository of which no Secret has credentials, opened with the logins of the person who asks.

use tiphys_logins::{HelperError, Login, Needs, OwnLogins, entry_login, read_certificates};
use tiphys_params::context::{FoundAccess, RegistryLogin, Secret, registry_key};
use tokio::runtime::Handle;

use super::{ChartError, ChartSource, CredentialReach};
use crate::SourceError;

/// A source with all that opens its repository.
pub(super) struct Opened {
    pub(super) source: ChartSource,
    /// [`ChartSource::identity`], and the helper: what that answers may be another text each time, and opens the same.
    pub(super) identity: String,
    /// Who knows a login that the source does not have.
    pub(super) helper: Option<Helper>,
}

/// A program that knows the login to a registry. It is asked when the registry wants a login, and never where nothing may be fetched.
#[derive(Clone, Debug)]
pub(super) struct Helper {
    logins: OwnLogins,
    /// The part of its name behind `docker-credential-`.
    pub(super) name: String,
    /// The registry's key.
    registry: String,
}

impl ChartSource {
    /// The same with what the person's files have for it, and the program that knows more.
    pub(super) fn opened(&self) -> Result<Opened, SourceError> {
        let mut source = self.clone();
        let helper = source.open()?;
        let helped = helper.as_ref().map(|helper| format!("-{}", helper.name)).unwrap_or_default();
        Ok(Opened { identity: source.identity() + &helped, source, helper })
    }

    fn open(&mut self) -> Result<Option<Helper>, SourceError> {
        let Some(logins) = self.own_logins.take().filter(|_| !self.access.has_credentials()) else {
            return Ok(None);
        };
        let address = self.repo_url.trim().to_owned();
        let needs = if self.is_of_registry() { Needs::RepositoriesAndLogins } else { Needs::Repositories };
        let failed = |source| ChartError::LoginFile { repository: self.shown(), source };
        let mounted = logins.read(needs).map_err(failed)?;
        let found = mounted.fill_in(self.access.clone(), &address);
        let FoundAccess { mut access, credentials, login, files } = found;
        read_certificates(files, &mut access).map_err(failed)?;
        let mut helper = None;
        match login {
            RegistryLogin::Entry(entry) => {
                if let Some(Login::Password { username, password }) = entry_login(&entry) {
                    access.username = username;
                    access.password = password;
                }
            }
            RegistryLogin::Helper(name) => {
                helper = Some(Helper { logins, name, registry: registry_key(&address).to_owned() });
            }
            RegistryLogin::None => {}
        }
        if credentials == CredentialReach::EveryServer {
            self.credentials = credentials;
        }
        self.access = access;
        Ok(helper)
    }
}

impl Helper {
    /// User and password, if it knows them. To be called on a thread for blocking work.
    pub(super) fn ask(&self) -> Result<Option<(String, Secret)>, HelperError> {
        let login = Handle::current().block_on(self.logins.ask(&self.name, &self.registry))?;
        Ok(match login {
            Some(Login::Password { username, password }) => Some((username, password)),
            Some(Login::Token(_)) | None => None,
        })
    }
}
