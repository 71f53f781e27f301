//! Other servers for connections, as with `--connect-to` of curl.

use std::str::FromStr;

use hyper_util::client::legacy::connect::HttpConnector;
use reqwest::Url;
use tower_service::Service;

use crate::url::is_host;

/// `HOST:PORT=HOST:PORT`: connections to the first host and port are made to the second ones. TLS and the `Host` header use the first ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    host: String,
    port: u16,
    /// `HOST:PORT`
    server: String,
}

/// An invalid [`ConnectTo`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?}: expected HOST:PORT=HOST:PORT, with IPv6 addresses in brackets")]
pub struct ConnectToError(String);

/// Opens TCP connections, to other servers if there are entries for the URL.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    connector: HttpConnector,
    entries: Vec<ConnectTo>,
}

impl FromStr for ConnectTo {
    type Err = ConnectToError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let server = |text: &str| {
            let (host, port) = text.rsplit_once(':')?;
            let port: u16 = port.parse().ok().filter(|port| *port != 0)?;
            is_host(host).then(|| (host.to_ascii_lowercase(), port))
        };
        let parsed = text.split_once('=').and_then(|(from, to)| Some((server(from)?, server(to)?)));
        let ((host, port), (to_host, to_port)) = parsed.ok_or_else(|| ConnectToError(text.to_owned()))?;
        Ok(Self { host, port, server: format!("{to_host}:{to_port}") })
    }
}

impl ConnectTo {
    /// Whether connections to the server of a URL are made to another one.
    pub(crate) fn applies_to(&self, url: &Url) -> bool {
        url.host_str() == Some(&self.host) && url.port_or_known_default() == Some(self.port)
    }
}

impl Router {
    /// The first entry for a server applies.
    pub(crate) fn new(entries: &[ConnectTo]) -> Self {
        let mut connector = HttpConnector::new();
        // TLS is above this connector.
        connector.enforce_http(false);
        connector.set_nodelay(true);
        Self { connector, entries: entries.to_vec() }
    }

    fn route(&self, uri: http::Uri) -> http::Uri {
        let default_port = if uri.scheme() == Some(&http::uri::Scheme::HTTPS) { 443 } else { 80 };
        let port = uri.port_u16().unwrap_or(default_port);
        let is_it = |entry: &&ConnectTo| uri.host() == Some(&entry.host) && port == entry.port;
        let Some(entry) = self.entries.iter().find(is_it) else { return uri };
        let mut parts = uri.clone().into_parts();
        parts.authority = entry.server.parse().ok();
        // An authority of a valid host and port is valid.
        http::Uri::from_parts(parts).unwrap_or(uri)
    }
}

impl Service<http::Uri> for Router {
    type Response = <HttpConnector as Service<http::Uri>>::Response;
    type Error = <HttpConnector as Service<http::Uri>>::Error;
    type Future = <HttpConnector as Service<http::Uri>>::Future;

    fn poll_ready(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        self.connector.poll_ready(context)
    }

    fn call(&mut self, uri: http::Uri) -> Self::Future {
        let uri = self.route(uri);
        self.connector.call(uri)
    }
}

#[cfg(test)]
mod tests;
