//! The client: one connection pool for a repository's own server, one for all others.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, REFERER, USER_AGENT,
};
use tiphys_model::access::RepositoryAccess;

use crate::direct::DirectClient;
use crate::proxy::ProxySettings;
use crate::tls::TlsSettings;
use crate::url::percent_encode;
use crate::{ConnectTo, CredentialScope, Credentials, Deadline, HttpError, Response, Target, Timeout};

const AGENT: &str = concat!("tiphys/", env!("CARGO_PKG_VERSION"));

/// Added to TLS errors of servers that do not get the repository's client certificate, or must have a trusted certificate.
const OWN_SERVER_ONLY: &str = "the repository's client certificate and its insecure: \"true\" apply to its own server only; set passCredentials: true in the Application's helm block if they are for this server, too";

/// Reads a variable of the process environment. The client reads the environment in no other way.
pub type Environment<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// A client for repositories with the same connection settings, and for the servers to which they refer.
#[derive(Debug)]
pub struct HttpClient {
    /// For servers in scope of the client certificate and of `insecure`.
    own_server: Connections,
    other_servers: Connections,
    scope: CredentialScope,
    connect_timeout: Timeout,
    proxies: Arc<ProxySettings>,
    /// Whether the two clients differ.
    has_own_server_settings: bool,
    connect_to: Vec<ConnectTo>,
}

/// Connections with the same TLS settings.
#[derive(Clone, Debug)]
struct Connections {
    client: reqwest::Client,
    direct: Arc<DirectClient>,
}

/// A request without a body.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The URL.
    pub target: &'a Target,
    /// The `Accept` header; empty for any media type.
    pub accept: &'a str,
    /// Sent only if the target is in their scope.
    pub credentials: Option<&'a Credentials>,
    /// For the whole response, including its body.
    pub deadline: Deadline,
}

impl HttpClient {
    /// Creates a client with a repository's connection settings. `scope` says to which servers the client certificate and `insecure`
    /// apply. CA certificates come from the settings, else from `SSL_CERT_FILE` and `SSL_CERT_DIR`, else from the system; the proxy
    /// from the settings, else from `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`.
    ///
    /// Opens no connection. Fails if certificates or the key of the settings cannot be used.
    pub async fn new(
        access: &RepositoryAccess,
        scope: CredentialScope,
        connect_timeout: Timeout,
        environment: Environment<'_>,
    ) -> Result<Self, HttpError> {
        Self::with_connect_to(access, scope, connect_timeout, environment, &[]).await
    }

    /// Creates a client like [`HttpClient::new`] that sends JSON to other servers, see [`HttpClient::post_json`].
    pub async fn with_connect_to(
        access: &RepositoryAccess,
        scope: CredentialScope,
        connect_timeout: Timeout,
        environment: Environment<'_>,
        connect_to: &[ConnectTo],
    ) -> Result<Self, HttpError> {
        let proxies = Arc::new(ProxySettings::new(access, environment));
        let tls = TlsSettings::load(access, environment).await?;
        let has_own_server_settings = tls.has_own_server_settings();
        let own_server = Connections::new(tls.for_own_server()?, connect_timeout, &proxies, connect_to)?;
        let other_servers = if has_own_server_settings {
            Connections::new(tls.for_other_servers()?, connect_timeout, &proxies, connect_to)?
        } else {
            own_server.clone()
        };
        let connect_to = connect_to.to_vec();
        Ok(Self {
            own_server,
            other_servers,
            scope,
            connect_timeout,
            proxies,
            has_own_server_settings,
            connect_to,
        })
    }

    /// Sends a GET request. Returns when the response's head has arrived.
    pub async fn get(&self, request: &Request<'_>) -> Result<Response, HttpError> {
        let url = request.target.url.as_url().clone();
        self.send(request, self.connections_for(request.target).client.get(url)).await
    }

    /// Sends a POST request with a form. Returns when the response's head has arrived.
    pub async fn post_form(
        &self,
        request: &Request<'_>,
        fields: &[(&str, &str)],
    ) -> Result<Response, HttpError> {
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
        let url = request.target.url.as_url().clone();
        let builder = self.connections_for(request.target).client.post(url);
        let builder =
            builder.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(fields.join("&"));
        self.send(request, builder).await
    }

    /// Sends a POST request with JSON, and the headers of Go's HTTP client: gzip is accepted, and the URL that redirected here is the
    /// `Referer`. [`ConnectTo`] applies, and replaces a proxy. Returns when the response's head has arrived.
    pub async fn post_json(&self, request: &Request<'_>, body: Bytes) -> Result<Response, HttpError> {
        let Request { target, accept, credentials, deadline } = *request;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        let referer = target.redirected_from.as_ref().filter(|from| from.is_same_origin(&target.url));
        if let Some(referer) = referer.and_then(|from| HeaderValue::from_str(from.as_str()).ok()) {
            headers.insert(REFERER, referer);
        }
        let url = target.url.as_url();
        let connections = self.connections_for(target);
        let is_rerouted = self.connect_to.iter().any(|entry| entry.applies_to(url));
        if !is_rerouted && self.proxies.proxy_for(url)?.is_some() {
            let builder = connections.client.post(url.clone()).headers(headers).body(body);
            return self.send(request, builder).await;
        }
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        if let Some(accept) = HeaderValue::from_str(accept).ok().filter(|accept| !accept.is_empty()) {
            headers.insert(ACCEPT, accept);
        }
        if let Some((name, value)) = credential_header(credentials, target)? {
            headers.insert(name, value);
        }
        let response = deadline.limit(connections.direct.post(&target.url, headers, body)).await?;
        match response {
            Ok(response) => Ok(Response::new(target.clone(), response, deadline)),
            Err(error) => Err(self.with_hint(error, target)),
        }
    }

    async fn send(
        &self,
        request: &Request<'_>,
        mut builder: reqwest::RequestBuilder,
    ) -> Result<Response, HttpError> {
        let Request { target, accept, credentials, deadline } = *request;
        // reqwest would connect directly if it could not use the proxy.
        self.proxies.proxy_for(target.url.as_url())?;
        if !accept.is_empty() {
            builder = builder.header(ACCEPT, accept);
        }
        if let Some((name, value)) = credential_header(credentials, target)? {
            builder = builder.header(name, value);
        }
        match deadline.limit(builder.send()).await? {
            Ok(response) => Ok(Response::new(target.clone(), response, deadline)),
            Err(error) => {
                let is_connecting = error.is_connect() && error.is_timeout();
                let timeout = is_connecting.then_some(self.connect_timeout);
                Err(self.with_hint(HttpError::of_request(&error, timeout), target))
            }
        }
    }

    fn connections_for(&self, target: &Target) -> &Connections {
        if self.scope.includes(&target.url) { &self.own_server } else { &self.other_servers }
    }

    fn with_hint(&self, error: HttpError, target: &Target) -> HttpError {
        match error {
            HttpError::Tls(text) if self.has_own_server_settings && !self.scope.includes(&target.url) => {
                HttpError::Tls(format!("{text}; {OWN_SERVER_ONLY}"))
            }
            error => error,
        }
    }
}

impl Connections {
    fn new(
        tls: rustls::ClientConfig,
        connect_timeout: Timeout,
        proxies: &Arc<ProxySettings>,
        connect_to: &[ConnectTo],
    ) -> Result<Self, HttpError> {
        let direct = Arc::new(DirectClient::new(tls.clone(), connect_to));
        Ok(Self { client: build(tls, connect_timeout, proxies)?, direct })
    }
}

/// The header with the credentials, if the target is in their scope.
fn credential_header(
    credentials: Option<&Credentials>,
    target: &Target,
) -> Result<Option<(HeaderName, HeaderValue)>, HttpError> {
    let header = credentials.and_then(|credentials| credentials.header_for(&target.url));
    let Some((name, value)) = header else { return Ok(None) };
    let mut value = HeaderValue::from_str(value.expose())
        .map_err(|_| HttpError::Other("the credentials cannot be sent in an HTTP header".to_owned()))?;
    value.set_sensitive(true);
    Ok(Some((HeaderName::from_static(name), value)))
}

fn build(
    tls: rustls::ClientConfig,
    connect_timeout: Timeout,
    proxies: &Arc<ProxySettings>,
) -> Result<reqwest::Client, HttpError> {
    let proxies = Arc::clone(proxies);
    let proxy = reqwest::Proxy::custom(move |url| proxies.proxy_for(url).ok().flatten());
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(AGENT)
        .connect_timeout(connect_timeout.duration)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        // Replaces the proxies that reqwest would read from the environment.
        .no_proxy()
        .proxy(proxy)
        .build()
        .map_err(|error| {
            HttpError::Other(format!("the HTTP client could not be created: {}", error.without_url()))
        })
}
