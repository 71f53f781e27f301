//! HTTP for charts: who is trusted, through which proxy, and to whom credentials go. Used on threads for blocking work.

mod address;
mod proxy;
mod trust;

use std::io::Read;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tiphys_params::context::RepositoryAccess;
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::Secret;
pub(crate) use address::{Address, Base, Scheme};
use proxy::Proxies;

/// How long connecting to a server may take, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Redirections that are followed for one request, as many as Go follows.
const REDIRECTS_MAX: usize = 10;

/// What we call ourselves.
const USER_AGENT: &str = concat!("tiphys/", env!("CARGO_PKG_VERSION"));

/// The environment of this process, as far as it is about the network.
pub(crate) type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A client for one repository, and what its chart archives may be on.
pub(crate) struct Web {
    agent: Agent,
    proxies: Proxies,
}

/// What a server answered. A status that tells of a failure is no error here.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Where the answer comes from in the end.
    pub(crate) address: Address,
    response: Response<Body>,
}

/// What a request is allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    /// Media types, as the header `Accept` has them; empty: none is named.
    pub(crate) accept: &'a str,
    /// Until the last byte is there.
    pub(crate) timeout: Duration,
}

/// A value of the header `Authorization`, and who gets it.
#[derive(Clone, Debug)]
pub(crate) struct Authorization {
    pub(crate) value: Secret,
    pub(crate) reach: Reach,
}

/// Who gets credentials.
#[derive(Clone, Debug)]
pub(crate) enum Reach {
    /// The server of this address, whatever leads elsewhere.
    Server(Address),
    /// Every server that an index or a redirection names (`passCredentials`).
    Everybody,
}

/// Why there was no answer. Texts hold no secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebError {
    #[error("it did not end in time")]
    Timeout,
    #[error("{0}")]
    Other(String),
}

impl Web {
    /// A client that reaches servers as a repository's settings say. Nothing is connected yet.
    pub(crate) fn new(access: &RepositoryAccess, variable: Variable<'_>) -> Result<Self, WebError> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(USER_AGENT)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .proxy(None)
            .tls_config(trust::tls_config(access, variable)?);
        Ok(Self { agent: config.build().new_agent(), proxies: Proxies::new(access, variable) })
    }

    /// Asks for something, and goes where redirections lead: never from TLS to none, and with credentials only to whom they are for.
    pub(crate) fn get(
        &self,
        address: &Address,
        authorization: Option<&Authorization>,
        ask: Ask<'_>,
    ) -> Result<Answer, WebError> {
        let mut address = address.clone();
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.get_once(&address, authorization, ask)?;
            if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
                return Ok(answer);
            }
            let Some(location) = answer.header("location") else { return Ok(answer) };
            let next = address.resolve(location, Base::File).ok_or_else(|| {
                WebError::Other("it redirects to something that is no http or https URL".to_owned())
            })?;
            if address.scheme == Scheme::Https && next.scheme == Scheme::Http {
                return Err(WebError::Other(format!("it redirects from TLS to {next}, which has none")));
            }
            address = next;
        }
        Err(WebError::Other(format!("it redirects more than {REDIRECTS_MAX} times")))
    }

    fn get_once(
        &self,
        address: &Address,
        authorization: Option<&Authorization>,
        ask: Ask<'_>,
    ) -> Result<Answer, WebError> {
        let proxy = self.proxies.of(address)?;
        let request = self.agent.get(address.text()).config();
        let mut request = request.proxy(proxy).timeout_global(Some(ask.timeout)).build();
        if !ask.accept.is_empty() {
            request = request.header("Accept", ask.accept);
        }
        if let Some(authorization) = authorization.filter(|authorization| authorization.reaches(address)) {
            request = request.header("Authorization", authorization.value.expose());
        }
        let response = request.call().map_err(|error| WebError::of(&error))?;
        let status = response.status().as_u16();
        Ok(Answer { status, address: address.clone(), response })
    }
}

impl Answer {
    /// A header's text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// All values of a header.
    pub(crate) fn headers(&self, name: &str) -> impl Iterator<Item = &str> {
        self.response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    /// `404 Not Found`.
    pub(crate) fn status_line(&self) -> String {
        let status = self.response.status();
        format!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or_default()).trim_end().to_owned()
    }

    /// The body. One that ends early is an error of the reader.
    pub(crate) fn into_reader(self) -> impl Read {
        self.response.into_body().into_with_config().limit(u64::MAX).reader()
    }

    /// The whole body; `None` if it has more bytes than it may.
    pub(crate) fn bytes(self, max: u64) -> Result<Option<Vec<u8>>, WebError> {
        let mut bytes = Vec::new();
        let read = self.into_reader().take(max + 1).read_to_end(&mut bytes);
        read.map_err(|error| WebError::of_io(&error))?;
        Ok((u64::try_from(bytes.len()).unwrap_or(u64::MAX) <= max).then_some(bytes))
    }
}

impl Authorization {
    /// User and password.
    pub(crate) fn basic(username: &str, password: &str, reach: Reach) -> Self {
        let pair = BASE64.encode(format!("{username}:{password}"));
        Self { value: Secret::new(format!("Basic {pair}")), reach }
    }

    fn reaches(&self, address: &Address) -> bool {
        match &self.reach {
            Reach::Everybody => true,
            Reach::Server(server) => server.is_on_same_server(address),
        }
    }
}

impl WebError {
    fn of(error: &ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::Timeout,
            ureq::Error::Io(error) => Self::of_io(error),
            ureq::Error::HostNotFound => Self::Other("its host name is unknown".to_owned()),
            ureq::Error::Rustls(error) => Self::Other(format!("TLS: {error}")),
            ureq::Error::ConnectProxyFailed(_) => {
                Self::Other("the proxy refused to connect to it".to_owned())
            }
            other => Self::Other(other.to_string()),
        }
    }

    /// The error of a body's reader.
    pub(crate) fn of_io(error: &std::io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
        if error.kind() == std::io::ErrorKind::TimedOut || matches!(inner, Some(ureq::Error::Timeout(_))) {
            return Self::Timeout;
        }
        let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match of_tls {
            Some(error) => Self::Other(format!("TLS: {error}")),
            None => Self::Other(error.to_string()),
        }
    }
}
