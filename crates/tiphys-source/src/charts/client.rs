//! The way to a repository's servers: one client for all repositories that are reached alike, and a server that does not answer is
//! waited for once a command.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::identity::way;
use super::{ChartSource, hashed};
use crate::CredentialReach;
use crate::options::{FETCH_TIMEOUT_OPTION, LOOKUP_TIMEOUT_OPTION, SourceOptions};
use crate::web::{Address, Answer, Ask, Authorization, Deadline, Reach, Web, WebError};

/// The clients of one command, and which servers did not answer it.
#[derive(Default)]
pub(crate) struct Clients {
    made: Mutex<HashMap<String, Arc<Web>>>,
    silent: Mutex<HashMap<String, WebError>>,
}

/// The way to one repository. Nothing is made before something is asked.
pub(super) struct Client<'a> {
    clients: &'a Clients,
    source: &'a ChartSource,
    options: &'a SourceOptions,
    /// [`ChartSource::identity`].
    identity: &'a str,
    /// The repository's own server.
    server: Address,
    /// For everything that is asked for one chart, together.
    whole: Deadline,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        clients: &'a Clients,
        (source, identity): (&'a ChartSource, &'a str),
        options: &'a SourceOptions,
        server: Address,
    ) -> Self {
        let whole = Deadline::after(options.fetch_timeout, FETCH_TIMEOUT_OPTION);
        Self { clients, source, options, identity, server, whole }
    }

    /// Until when a chart has to be there.
    pub(super) fn deadline(&self) -> Deadline {
        self.whole
    }

    /// Until when the answer to a question has to be there that begins now.
    pub(super) fn lookup_deadline(&self) -> Deadline {
        self.whole.part(self.options.lookup_timeout, LOOKUP_TIMEOUT_OPTION)
    }

    /// Asks for something. A server of this repository that did not answer before is not asked again.
    pub(super) fn get(
        &self,
        address: &Address,
        authorization: Option<&Authorization>,
        ask: Ask<'_>,
    ) -> Result<Answer, WebError> {
        self.ask(address, ask, |web| web.get(address, authorization, ask))
    }

    /// Sends a form. A redirection is an answer like others: what is in the form is for this server.
    pub(super) fn post_form(
        &self,
        address: &Address,
        form: &[(&str, &str)],
        ask: Ask<'_>,
    ) -> Result<Answer, WebError> {
        self.ask(address, ask, |web| web.post_form(address, form, ask))
    }

    fn ask(
        &self,
        address: &Address,
        ask: Ask<'_>,
        call: impl FnOnce(&Web) -> Result<Answer, WebError>,
    ) -> Result<Answer, WebError> {
        if let Some(error) = locked(&self.clients.silent).get(&self.key(address)) {
            return Err(error.clone());
        }
        let time_given = ask.deadline.left().unwrap_or_default();
        let web = self.clients.web(self.source, &self.server, self.options)?;
        call(&web).inspect_err(|error| {
            // Who had little time left may have been answered a moment later.
            if !matches!(error, WebError::Timeout) || time_given >= ask.deadline.timeout / 2 {
                self.remember(address, error);
            }
        })
    }

    /// The whole body of an answer to a question; `None` if it has more bytes than it may.
    pub(super) fn bytes(&self, answer: Answer, max: u64) -> Result<Option<Vec<u8>>, WebError> {
        let address = answer.address.clone();
        answer.bytes(max).inspect_err(|error| self.remember(&address, error))
    }

    /// Keeps in mind that a server does not answer, if this is what an error says.
    fn remember(&self, address: &Address, error: &WebError) {
        if !matches!(error, WebError::Other(_)) {
            locked(&self.clients.silent).entry(self.key(address)).or_insert_with(|| error.clone());
        }
    }

    /// One server, as one repository's.
    fn key(&self, address: &Address) -> String {
        hashed([self.identity, &self.source.repo_url, &address.server()])
    }
}

impl Clients {
    /// The client for a repository, which is made if there is none for its settings.
    fn web(
        &self,
        source: &ChartSource,
        server: &Address,
        options: &SourceOptions,
    ) -> Result<Arc<Web>, WebError> {
        let access = &source.access;
        let reach = match source.credentials {
            CredentialReach::OwnServer => Reach::Server(server.clone()),
            CredentialReach::EveryServer => Reach::Everybody,
        };
        // Without a client certificate, and with checks, all servers are alike.
        let has_own = access.insecure || !access.tls_client_cert_data.is_empty();
        let own = match reach {
            Reach::Server(_) if has_own => server.server(),
            _ => String::new(),
        };
        let mut made = locked(&self.made);
        let key = hashed([way(access).as_str(), &own]);
        if let Some(web) = made.get(&key) {
            return Ok(Arc::clone(web));
        }
        let web = Arc::new(Web::new(access, reach, &|name| options.variable(name))?);
        made.insert(key, Arc::clone(&web));
        Ok(web)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
