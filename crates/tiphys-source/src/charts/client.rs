//! Requests to a repository's servers. Repositories with the same connection settings share a client, and a command does not wait twice
//! for a server that does not respond.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_http::{
    CredentialScope, Credentials, Deadline, HttpClient, HttpError, HttpUrl, Request, Response, Servers,
    Target, Timeout,
};

use tiphys_model::limits::Limit;

use super::identity::connection_settings;
use super::{ChartSource, hashed};
use crate::CredentialReach;
use crate::once_map::OnceMap;
use crate::options::SourceOptions;

/// The number of redirects that are followed for one request; the limit of Go's client.
const REDIRECTS_MAX: usize = 10;

/// The HTTP clients of one command, and the servers that did not respond to it.
#[derive(Default)]
pub(crate) struct Clients {
    by_settings: OnceMap<String, Result<Arc<HttpClient>, HttpError>>,
    /// With the connection settings of a repository, for any request.
    servers: Servers<HttpError>,
    /// Servers that did not respond in time, for requests for one repository: for another one they may respond.
    unresponsive: Mutex<HashMap<String, HttpError>>,
}

/// Sends the requests for one chart. The HTTP client is created with the first request.
pub(super) struct Client<'a> {
    clients: &'a Clients,
    source: &'a ChartSource,
    options: &'a SourceOptions,
    /// [`ChartSource::identity`].
    identity: &'a str,
    /// The repository's own server.
    server: HttpUrl,
    /// The deadline of all requests for the chart together.
    deadline: Deadline,
}

/// The `Accept` header, the credentials and the deadline of a request.
#[derive(Clone, Copy)]
pub(super) struct Parameters<'a> {
    /// Empty for any media type.
    pub(super) accept: &'a str,
    pub(super) credentials: Option<&'a Credentials>,
    /// For the whole response, redirects included.
    pub(super) deadline: Deadline,
}

/// A request without a complete response.
#[derive(Clone, Debug)]
pub(super) struct RequestFailure {
    pub(super) target: Box<Target>,
    pub(super) error: HttpError,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        clients: &'a Clients,
        (source, identity): (&'a ChartSource, &'a str),
        options: &'a SourceOptions,
        server: HttpUrl,
    ) -> Self {
        let timeout = Timeout { duration: options.fetch_timeout, limit: Limit::FETCH_TIMEOUT };
        Self { clients, source, options, identity, server, deadline: Deadline::after(timeout) }
    }

    /// The deadline of the chart.
    pub(super) fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// The deadline of a lookup that starts now.
    pub(super) fn lookup_deadline(&self) -> Deadline {
        self.deadline.min(Timeout { duration: self.options.lookup_timeout, limit: Limit::LOOKUP_TIMEOUT })
    }

    /// Sends a GET request and follows redirects. Fails without a request to a server that did not respond before.
    pub(super) async fn get(
        &self,
        url: &HttpUrl,
        parameters: Parameters<'_>,
    ) -> Result<Response, RequestFailure> {
        let mut target = Target::new(url.clone());
        for _ in 0..=REDIRECTS_MAX {
            let response = self.send(&target, parameters, None).await?;
            match response.redirect() {
                Ok(None) => return Ok(response),
                Ok(Some(next)) => target = next,
                Err(error) => return Err(RequestFailure { target: Box::new(target), error }),
            }
        }
        let error = HttpError::Other(format!("it redirects more than {REDIRECTS_MAX} times"));
        Err(RequestFailure { target: Box::new(target), error })
    }

    /// Sends a POST request with a form. Redirects are not followed: the form is for this server only.
    pub(super) async fn post_form(
        &self,
        url: &HttpUrl,
        form: &[(&str, &str)],
        parameters: Parameters<'_>,
    ) -> Result<Response, RequestFailure> {
        self.send(&Target::new(url.clone()), parameters, Some(form)).await
    }

    async fn send(
        &self,
        target: &Target,
        Parameters { accept, credentials, deadline }: Parameters<'_>,
        form: Option<&[(&str, &str)]>,
    ) -> Result<Response, RequestFailure> {
        let failure = |error| RequestFailure { target: Box::new(target.clone()), error };
        let (connection, conversation) = (self.connection(&target.url), self.conversation(&target.url));
        let known = locked(&self.clients.unresponsive).get(&conversation).cloned();
        if let Some(error) = known {
            return Err(failure(error));
        }
        let request = async {
            let remaining = deadline.remaining();
            let client = self.clients.client(self.source, &self.server, self.options).await?;
            let request = Request { target, accept, credentials, deadline };
            let response = match form {
                None => client.get(&request).await,
                Some(fields) => client.post_form(&request, fields).await,
            };
            // With little time left, the server might have responded a moment later.
            let had_time = remaining >= deadline.timeout().duration / 2;
            response.inspect_err(|error| {
                if had_time {
                    self.remember(&target.url, error);
                }
            })
        };
        let sent = self.clients.servers.call(&connection, HttpError::is_unreachable, request).await;
        sent.map_err(failure)
    }

    /// Reads the whole body of a response; none if it is longer than `max` bytes.
    pub(super) async fn bytes(
        &self,
        response: Response,
        max: u64,
    ) -> Result<Option<Vec<u8>>, RequestFailure> {
        let target = Box::new(response.target().clone());
        response.bytes(max).await.map_err(|error| {
            self.remember(&target.url, &error);
            RequestFailure { target, error }
        })
    }

    /// Remembers that a server does not respond, if that is the error.
    fn remember(&self, url: &HttpUrl, error: &HttpError) {
        if matches!(error, HttpError::Timeout(_)) {
            let key = self.conversation(url);
            locked(&self.clients.unresponsive).entry(key).or_insert_with(|| error.clone());
        }
    }

    /// The key of connections to a server with the repository's connection settings, for any request.
    fn connection(&self, url: &HttpUrl) -> String {
        hashed(["connection", connection_settings(&self.source.access).as_str(), &url.origin()])
    }

    /// The key of requests for one repository to a server: for another repository it may respond in time.
    fn conversation(&self, url: &HttpUrl) -> String {
        hashed(["conversation", self.identity, &self.source.repo_url, &url.origin()])
    }
}

impl Clients {
    /// Returns the HTTP client for a repository's connection settings; creates it if there is none yet.
    async fn client(
        &self,
        source: &ChartSource,
        server: &HttpUrl,
        options: &SourceOptions,
    ) -> Result<Arc<HttpClient>, HttpError> {
        let access = &source.access;
        let scope = match source.credentials {
            CredentialReach::OwnServer => CredentialScope::Origin(server.clone()),
            CredentialReach::EveryServer => CredentialScope::AllServers,
        };
        // Without a client certificate and `insecure`, the settings for all servers are the same.
        let has_own_server_settings = access.insecure || !access.tls_client_cert_data.is_empty();
        let own_server = match scope {
            CredentialScope::Origin(_) if has_own_server_settings => server.origin(),
            _ => String::new(),
        };
        let connect_timeout = Timeout { duration: options.connect_timeout, limit: Limit::CONNECT_TIMEOUT };
        let key = hashed([connection_settings(access).as_str(), &own_server]);
        let create = || async {
            let environment = |name: &str| options.variable(name);
            HttpClient::new(access, scope, connect_timeout, &environment).await.map(Arc::new)
        };
        self.by_settings.cell(key).get_or_init(create).await.clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
