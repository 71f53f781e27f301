//! The way to a repository's servers: one client for all repositories that are reached alike, and a server that does not answer is
//! waited for once a command.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::identity::way;
use super::{ChartSource, hashed};
use crate::CredentialReach;
use crate::options::{CONNECT_TIMEOUT_OPTION, FETCH_TIMEOUT_OPTION, LOOKUP_TIMEOUT_OPTION, SourceOptions};
use crate::web::{Address, Answer, Ask, Authorization, Bound, Deadline, Hop, Reach, Web, WebError};

/// Redirections that are followed for one request, as many as Go follows.
const REDIRECTS_MAX: usize = 10;

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

/// Why there was no answer, and whose it should have been.
#[derive(Clone, Debug)]
pub(super) struct Unanswered {
    pub(super) hop: Box<Hop>,
    pub(super) why: WebError,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        clients: &'a Clients,
        (source, identity): (&'a ChartSource, &'a str),
        options: &'a SourceOptions,
        server: Address,
    ) -> Self {
        let whole = Deadline::after(Bound { timeout: options.fetch_timeout, option: FETCH_TIMEOUT_OPTION });
        Self { clients, source, options, identity, server, whole }
    }

    /// Until when a chart has to be there.
    pub(super) fn deadline(&self) -> Deadline {
        self.whole
    }

    /// Until when the answer to a question has to be there that begins now.
    pub(super) fn lookup_deadline(&self) -> Deadline {
        self.whole.part(Bound { timeout: self.options.lookup_timeout, option: LOOKUP_TIMEOUT_OPTION })
    }

    /// Asks for something, and goes where redirections lead. A server that did not answer before is not asked again, whoever leads there.
    pub(super) fn get(
        &self,
        address: &Address,
        authorization: Option<&Authorization>,
        ask: Ask<'_>,
    ) -> Result<Answer, Unanswered> {
        let mut hop = Hop::first(address.clone());
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.ask(&hop, ask, |web| web.get(&hop, authorization, ask))?;
            match answer.redirection() {
                Ok(None) => return Ok(answer),
                Ok(Some(next)) => hop = next,
                Err(why) => return Err(Unanswered { hop: Box::new(hop), why }),
            }
        }
        let why = WebError::Other(format!("it redirects more than {REDIRECTS_MAX} times"));
        Err(Unanswered { hop: Box::new(hop), why })
    }

    /// Sends a form. A redirection is an answer like others: what is in the form is for this server.
    pub(super) fn post_form(
        &self,
        address: &Address,
        form: &[(&str, &str)],
        ask: Ask<'_>,
    ) -> Result<Answer, Unanswered> {
        let hop = Hop::first(address.clone());
        self.ask(&hop, ask, |web| web.post_form(&hop, form, ask))
    }

    fn ask(
        &self,
        hop: &Hop,
        ask: Ask<'_>,
        call: impl FnOnce(&Web) -> Result<Answer, WebError>,
    ) -> Result<Answer, Unanswered> {
        let unanswered = |why| Unanswered { hop: Box::new(hop.clone()), why };
        let known = |key: String| locked(&self.clients.silent).get(&key).cloned();
        if let Some(why) =
            known(self.connection(&hop.address)).or_else(|| known(self.conversation(&hop.address)))
        {
            return Err(unanswered(why));
        }
        let time_given = ask.deadline.left().unwrap_or_default();
        let web = self.clients.web(self.source, &self.server, self.options).map_err(unanswered)?;
        call(&web).map_err(|why| {
            // Who had little time left may have been answered a moment later.
            if !matches!(why, WebError::Timeout(_)) || time_given >= ask.deadline.bound.timeout / 2 {
                self.remember(&hop.address, &why);
            }
            unanswered(why)
        })
    }

    /// The whole body of an answer to a question; `None` if it has more bytes than it may.
    pub(super) fn bytes(
        &self,
        answer: Answer,
        max: u64,
        deadline: Deadline,
    ) -> Result<Option<Vec<u8>>, Unanswered> {
        let hop = Box::new(answer.hop.clone());
        answer.bytes(max, deadline).map_err(|why| {
            self.remember(&hop.address, &why);
            Unanswered { hop, why }
        })
    }

    /// Keeps in mind that a server does not answer, if this is what an error says.
    fn remember(&self, address: &Address, error: &WebError) {
        let key = match error {
            WebError::Other(_) => return,
            WebError::NoConnection(_) | WebError::ConnectTimeout(_) => self.connection(address),
            WebError::Timeout(_) => self.conversation(address),
        };
        locked(&self.clients.silent).entry(key).or_insert_with(|| error.clone());
    }

    /// A server on the way that leads to it, whatever is asked there.
    fn connection(&self, address: &Address) -> String {
        hashed(["connection", way(&self.source.access).as_str(), &address.server()])
    }

    /// A server as one repository's: what it has of others may come in time.
    fn conversation(&self, address: &Address) -> String {
        hashed(["conversation", self.identity, &self.source.repo_url, &address.server()])
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
        let connecting = Bound { timeout: options.connect_timeout, option: CONNECT_TIMEOUT_OPTION };
        let web = Arc::new(Web::new(access, reach, connecting, &|name| options.variable(name))?);
        made.insert(key, Arc::clone(&web));
        Ok(web)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
