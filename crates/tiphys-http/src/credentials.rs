//! Credentials, and the servers that may receive them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tiphys_model::access::Secret;

use crate::HttpUrl;

const AUTHORIZATION: &str = "authorization";

/// A header with a secret value, and the servers that receive it.
#[derive(Clone, Debug)]
pub struct Credentials {
    name: &'static str,
    value: Secret,
    scope: CredentialScope,
}

/// The servers that receive credentials, and to which a client certificate and `insecure` apply.
#[derive(Clone, Debug)]
pub enum CredentialScope {
    /// The server with the same origin as this URL: scheme, host and port. Neither an index nor a redirect extends it.
    Origin(HttpUrl),
    /// Every server that an index or a redirect names (`passCredentials`).
    AllServers,
}

impl Credentials {
    /// HTTP Basic authentication.
    pub fn basic(username: &str, password: &str, scope: CredentialScope) -> Self {
        let pair = BASE64.encode(format!("{username}:{password}"));
        Self::header(AUTHORIZATION, Secret::new(format!("Basic {pair}")), scope)
    }

    /// A bearer token.
    pub fn bearer(token: &Secret, scope: CredentialScope) -> Self {
        Self::header(AUTHORIZATION, Secret::new(format!("Bearer {}", token.expose())), scope)
    }

    /// A header with this name in lower case, such as `private-token`.
    pub fn header(name: &'static str, value: Secret, scope: CredentialScope) -> Self {
        Self { name, value, scope }
    }

    /// The name and value of the header for a request to this URL. None if the URL is out of scope.
    pub(crate) fn header_for(&self, url: &HttpUrl) -> Option<(&'static str, &Secret)> {
        self.scope.includes(url).then_some((self.name, &self.value))
    }
}

impl CredentialScope {
    /// Whether the server of this URL is in scope.
    pub(crate) fn includes(&self, url: &HttpUrl) -> bool {
        match self {
            Self::AllServers => true,
            Self::Origin(server) => server.is_same_origin(url),
        }
    }
}
