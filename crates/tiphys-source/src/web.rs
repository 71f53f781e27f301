//! HTTP for charts: who is trusted, through which proxy, and to whom credentials go. Used on threads for blocking work.

mod address;
mod deadline;
mod proxy;
mod trust;

use std::io::{ErrorKind, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tiphys_access::RepositoryAccess;
use ureq::http::Response;
use ureq::tls::TlsConfig;
use ureq::{Agent, Body, Timeout};

use crate::Secret;
pub use address::fuzz_address;
pub(crate) use address::{Address, Base, Scheme};
pub(crate) use deadline::{Bound, Deadline};
use proxy::Proxies;
use trust::Trust;

/// What we call ourselves.
const USER_AGENT: &str = concat!("tiphys/", env!("CARGO_PKG_VERSION"));

/// How texts about TLS begin.
pub(crate) const TLS: &str = "TLS: ";

/// What is said of other servers than the repository's own that fail for want of what only that one has.
const OWN_SERVER_ONLY: &str = "the repository's client certificate and its insecure: \"true\" are for its own server; set passCredentials: true in the Application's helm block if they are for that server, too";

/// The environment of this process, as far as it is about the network.
pub(crate) type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A client for all repositories that are reached alike, and for the servers that these lead to.
pub(crate) struct Web {
    /// For the servers that a client certificate and the lack of a check of certificates are for.
    own: Agent,
    /// For all others.
    others: Agent,
    reach: Reach,
    /// For connecting to a server, TLS included.
    connecting: Bound,
    proxies: Proxies,
    /// Whether what `own` has and `others` has not may be why a server of the others fails.
    differs: bool,
}

/// What a server answered. A status that tells of a failure is no error here.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Where it comes from.
    pub(crate) hop: Hop,
    response: Response<Body>,
}

/// An address that is asked, and how we came to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) address: Address,
    /// Who redirected to it.
    pub(crate) from: Option<Address>,
}

/// What a request is allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    /// Media types, as the header `Accept` has them; empty: none is named.
    pub(crate) accept: &'a str,
    /// Until the last byte is there, whatever the way leads over.
    pub(crate) deadline: Deadline,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WebError {
    /// It did not end in time.
    Timeout(Bound),
    /// Connecting, TLS included, did not end in time.
    ConnectTimeout(Bound),
    /// There is nobody to talk to.
    NoConnection(String),
    Other(String),
}

impl Web {
    /// A client that reaches servers as a repository's settings say. `reach`: whom the settings' client certificate is shown, and whose
    /// certificate is not checked if the settings say so. Nothing is connected yet.
    pub(crate) fn new(
        access: &RepositoryAccess,
        reach: Reach,
        connecting: Bound,
        variable: Variable<'_>,
    ) -> Result<Self, WebError> {
        let trust = Trust::new(access, variable)?;
        let differs = trust.is_for_one_server();
        let own = agent(trust.own(), connecting);
        let others = if differs { agent(trust.for_others(), connecting) } else { own.clone() };
        Ok(Self { own, others, reach, connecting, proxies: Proxies::new(access, variable), differs })
    }

    /// Asks for something, with credentials only if they are for whom is asked. A redirection is an answer like others.
    pub(crate) fn get(
        &self,
        hop: &Hop,
        authorization: Option<&Authorization>,
        ask: Ask<'_>,
    ) -> Result<Answer, WebError> {
        let address = &hop.address;
        let (proxy, left) = (self.proxies.of(address)?, left(ask)?);
        let request = self.agent_of(address).get(address.text()).config();
        let mut request = request.proxy(proxy).timeout_global(Some(left)).build();
        if !ask.accept.is_empty() {
            request = request.header("Accept", ask.accept);
        }
        if let Some(authorization) = authorization.filter(|authorization| authorization.reach.holds(address))
        {
            request = request.header("Authorization", authorization.value.expose());
        }
        self.answered(hop, ask, request.call())
    }

    /// Sends a form.
    pub(crate) fn post_form(
        &self,
        hop: &Hop,
        form: &[(&str, &str)],
        ask: Ask<'_>,
    ) -> Result<Answer, WebError> {
        let address = &hop.address;
        let (proxy, left) = (self.proxies.of(address)?, left(ask)?);
        let fields = form.iter().map(|(name, value)| format!("{name}={}", address::encoded(value)));
        let fields = fields.collect::<Vec<_>>().join("&");
        let request = self.agent_of(address).post(address.text()).config();
        let request = request.proxy(proxy).timeout_global(Some(left)).build();
        let request = request.header("Accept", ask.accept).content_type("application/x-www-form-urlencoded");
        self.answered(hop, ask, request.send(fields))
    }

    fn agent_of(&self, address: &Address) -> &Agent {
        if self.reach.holds(address) { &self.own } else { &self.others }
    }

    fn answered(
        &self,
        hop: &Hop,
        ask: Ask<'_>,
        response: Result<Response<Body>, ureq::Error>,
    ) -> Result<Answer, WebError> {
        let is_own = self.reach.holds(&hop.address);
        let response =
            response.map_err(|error| match WebError::of(&error, ask.deadline.bound, self.connecting) {
                WebError::Other(text) if text.starts_with(TLS) && self.differs && !is_own => {
                    WebError::Other(format!("{text}; {OWN_SERVER_ONLY}"))
                }
                error => error,
            })?;
        let status = response.status().as_u16();
        Ok(Answer { status, hop: hop.clone(), response })
    }
}

/// The time that a request has left.
fn left(ask: Ask<'_>) -> Result<std::time::Duration, WebError> {
    ask.deadline.left().ok_or(WebError::Timeout(ask.deadline.bound))
}

fn agent(tls: TlsConfig, connecting: Bound) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(USER_AGENT)
        .timeout_connect(Some(connecting.timeout))
        .proxy(None)
        .tls_config(tls);
    config.build().new_agent()
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

    /// Where it redirects to; `None` if it does not. Never from TLS to none.
    pub(crate) fn redirection(&self) -> Result<Option<Hop>, WebError> {
        if !matches!(self.status, 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let Some(location) = self.header("location") else { return Ok(None) };
        let from = &self.hop.address;
        let next = from.resolve(location, Base::File).ok_or_else(|| {
            WebError::Other("it redirects to something that is no http or https URL".to_owned())
        })?;
        if from.scheme == Scheme::Https && next.scheme == Scheme::Http {
            return Err(WebError::Other(format!("it redirects from TLS to {next}, which has none")));
        }
        Ok(Some(Hop { address: next, from: Some(from.clone()) }))
    }

    /// The body. One that ends early is an error of the reader.
    pub(crate) fn into_reader(self) -> impl Read {
        self.response.into_body().into_with_config().limit(u64::MAX).reader()
    }

    /// The whole body; `None` if it has more bytes than it may.
    pub(crate) fn bytes(self, max: u64, deadline: Deadline) -> Result<Option<Vec<u8>>, WebError> {
        let mut bytes = Vec::new();
        let read = self.into_reader().take(max + 1).read_to_end(&mut bytes);
        read.map_err(|error| WebError::of_body(&error, deadline))?;
        Ok((u64::try_from(bytes.len()).unwrap_or(u64::MAX) <= max).then_some(bytes))
    }
}

impl Authorization {
    /// User and password.
    pub(crate) fn basic(username: &str, password: &str, reach: Reach) -> Self {
        let pair = BASE64.encode(format!("{username}:{password}"));
        Self { value: Secret::new(format!("Basic {pair}")), reach }
    }
}

impl Hop {
    /// An address to which nobody redirected.
    pub(crate) fn first(address: Address) -> Self {
        Self { address, from: None }
    }
}

impl Reach {
    fn holds(&self, address: &Address) -> bool {
        match self {
            Self::Everybody => true,
            Self::Server(server) => server.is_on_same_server(address),
        }
    }
}

impl WebError {
    /// The error of a request within these bounds: for all of it, and for connecting.
    fn of(error: &ureq::Error, whole: Bound, connecting: Bound) -> Self {
        match error {
            ureq::Error::Timeout(Timeout::Connect) => Self::ConnectTimeout(connecting),
            ureq::Error::Timeout(_) => Self::Timeout(whole),
            ureq::Error::Io(error) if is_no_connection(error) => Self::NoConnection(error.to_string()),
            ureq::Error::Io(error) => Self::of_io(error),
            ureq::Error::HostNotFound => Self::NoConnection("its host name is unknown".to_owned()),
            ureq::Error::Rustls(error) => Self::Other(format!("{TLS}{error}")),
            ureq::Error::ConnectProxyFailed(_) => {
                Self::NoConnection("the proxy refused to connect to it".to_owned())
            }
            ureq::Error::ConnectionFailed => Self::NoConnection(error.to_string()),
            other => Self::Other(other.to_string()),
        }
    }

    /// The error of a body's reader.
    pub(crate) fn of_body(error: &std::io::Error, deadline: Deadline) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
        match inner {
            Some(ureq::Error::Timeout(_)) => Self::Timeout(deadline.bound),
            _ => Self::of_io(error),
        }
    }

    fn of_io(error: &std::io::Error) -> Self {
        let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match of_tls {
            Some(error) => Self::Other(format!("{TLS}{error}")),
            None => Self::Other(error.to_string()),
        }
    }
}

/// Whether nobody was found, other than somebody who then went away.
fn is_no_connection(error: &std::io::Error) -> bool {
    // The standard library has no kind for this one.
    let has_no_address = error.to_string().starts_with("failed to lookup address information");
    has_no_address
        || matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::AddrNotAvailable
                // The system has given up before we did.
                | ErrorKind::TimedOut
        )
}
