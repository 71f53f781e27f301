//! Requests to the server of a forge: pages, limits and statuses.

use serde_json::Value;
use tiphys_http::{
    Base, CredentialScope, Credentials, Deadline, HttpClient, HttpError, HttpUrl, Request, Response, Servers,
    Target, Timeout, percent_encode,
};
use tiphys_model::access::{RepoUrl, RepositoryAccess, Secret};
use tiphys_model::limits::Limit;

use super::{Block, ForgeSettings, flag, text};
use crate::environment::variable;

/// The number of redirects that are followed for one request; the limit of Go's client.
const REDIRECTS_MAX: usize = 10;

/// A token, and the Secret that has it, for messages.
pub(super) struct Token {
    pub(super) value: Secret,
    pub(super) name: String,
}

/// The API of a forge.
pub(super) struct Server<'a> {
    client: HttpClient,
    api: HttpUrl,
    credentials: Option<Credentials>,
    /// The Secret with the token.
    token: Option<String>,
    settings: &'a ForgeSettings,
    servers: &'a Servers<HttpError>,
}

/// A request failed. The message names the URL and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// The server answered 404.
    #[error("{0}")]
    NotFound(String),
    /// Any other failure.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// Adds what Argo CD says before the error. The result is not about a missing object any more.
    pub(super) fn within(&self, prefix: &str) -> Self {
        Self::Other(format!("{prefix}: {self}"))
    }

    /// Adds what Argo CD says before the error, unless an object is missing.
    pub(super) fn within_unless_missing(self, prefix: &str) -> Self {
        match self {
            Self::NotFound(_) => self,
            Self::Other(_) => self.within(prefix),
        }
    }
}

impl<'a> Server<'a> {
    /// Opens no connection. `certificates` are trusted instead of the system's, in PEM format.
    pub(super) async fn new(
        settings: &'a ForgeSettings,
        servers: &'a Servers<HttpError>,
        block: &Block<'_>,
        certificates: Option<&Secret>,
        token: Option<Token>,
    ) -> Result<Self, String> {
        let invalid = |problem: &str| format!("{}.api: {problem}", block.forge);
        let written = text(block.fields, "api");
        let address = base_of_api(block.forge, written);
        let api = HttpUrl::parse(&address).filter(|_| !address.contains(['?', '#']));
        let Some((api, user)) = api else {
            return Err(invalid("must be an http or https URL without a query"));
        };
        if user.is_some() {
            return Err(invalid("must have no user name and password; set tokenRef"));
        }
        let access = RepositoryAccess {
            url: api.as_str().to_owned(),
            insecure: flag(block.fields, "insecure"),
            ca_data: certificates.map(|pem| pem.expose().to_owned()).unwrap_or_default(),
            ..RepositoryAccess::default()
        };
        let scope = CredentialScope::Origin(api.clone());
        let connect_timeout = Timeout { duration: settings.connect_timeout, limit: Limit::CONNECT_TIMEOUT };
        let environment = |name: &str| variable(&settings.environment, name);
        let client = HttpClient::new(&access, scope.clone(), connect_timeout, &environment).await;
        let client = client.map_err(|error| format!("{}: {error}", block.forge))?;
        let credentials = token.as_ref().map(|token| credentials(block.forge, &token.value, scope));
        let token = token.map(|token| token.name);
        Ok(Self { client, api, credentials, token, settings, servers })
    }

    /// Returns the URL of a path of the API. Each segment is encoded.
    pub(super) fn url(&self, segments: &[&str]) -> Result<HttpUrl, Failure> {
        if let Some(invalid) = segments.iter().find(|segment| ["", ".", ".."].contains(segment)) {
            return Err(Failure::Other(format!(
                "{invalid:?} cannot be the name of an owner, repository, branch or path; correct the generator"
            )));
        }
        let path: Vec<String> = segments.iter().map(|segment| percent_encode(segment)).collect();
        let url = self.api.resolve(&path.join("/"), Base::Directory);
        url.ok_or_else(|| Failure::Other(format!("{}: no URL can be made of {segments:?}", self.api)))
    }

    /// Requests a JSON value.
    pub(super) async fn object(&self, url: HttpUrl) -> Result<Value, Failure> {
        let response = self.get(url).await?;
        let mut budget = self.settings.list_bytes_max;
        self.json(response, &mut budget).await
    }

    /// Whether the server has something at a URL.
    pub(super) async fn has(&self, url: HttpUrl) -> Result<bool, Failure> {
        match self.get(url).await {
            Ok(_) => Ok(true),
            Err(Failure::NotFound(_)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Requests all pages of a list and reads each item; its error is the problem with the item.
    pub(super) async fn list<T>(
        &self,
        first: HttpUrl,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<Vec<T>, Failure> {
        let mut budget = self.settings.list_bytes_max;
        let (mut pages, mut next, mut found) = (0, Some(first), Vec::new());
        while let Some(url) = next.take() {
            if pages == self.settings.pages_max {
                let (max, limit) = (self.settings.pages_max, Limit::FORGE_PAGES_MAX);
                return Err(problem(&url, &format!("the list has more than {max} pages; raise the {limit}")));
            }
            pages += 1;
            let response = self.get(url).await?;
            let url = response.target().url.clone();
            next = response.next_page().map_err(|error| problem(&url, &error.to_string()))?;
            if let Some(other) = next.as_ref().filter(|next| !next.is_same_origin(&self.api)) {
                let detail = format!("its next page is on another server, {}", other.origin());
                return Err(problem(&url, &format!("{detail}; check the forge's own external URL and api")));
            }
            let page = self.json(response, &mut budget).await?;
            let Some(items) = page.as_array() else {
                return Err(problem(&url, "invalid response; expected a list; check api"));
            };
            for item in items {
                found.push(read(item).map_err(|error| problem(&url, &format!("invalid response: {error}")))?);
            }
        }
        Ok(found)
    }

    /// Sends a GET request and follows redirects on the same server. The response has status 200.
    async fn get(&self, url: HttpUrl) -> Result<Response, Failure> {
        let mut target = Target::new(url);
        for _ in 0..=REDIRECTS_MAX {
            let response = self.send(&target).await.map_err(|error| failed(&target.url, &error))?;
            match response.redirect().map_err(|error| problem(&target.url, &error.to_string()))? {
                None if response.status() == 200 => return Ok(response),
                None => return Err(self.refused(&response)),
                Some(next) if next.url.is_same_origin(&self.api) => target = next,
                Some(next) => {
                    let detail = format!("it redirects to another server, {}", next.url.origin());
                    return Err(problem(
                        &target.url,
                        &format!("{detail}; set api to the address of the forge"),
                    ));
                }
            }
        }
        Err(problem(&target.url, &format!("it redirects more than {REDIRECTS_MAX} times; check api")))
    }

    /// Sends a request, unless another one could not connect. Its time begins when it is sent.
    async fn send(&self, target: &Target) -> Result<Response, HttpError> {
        let request = async {
            let limit = Limit::FORGE_REQUEST_TIMEOUT;
            let deadline = Deadline::after(Timeout { duration: self.settings.request_timeout, limit });
            let credentials = self.credentials.as_ref();
            self.client.get(&Request { target, accept: "application/json", credentials, deadline }).await
        };
        self.servers.call(&target.url.origin(), HttpError::is_unreachable, request).await
    }

    /// Reads a body within the rest of a list's limit.
    async fn json(&self, response: Response, budget: &mut u64) -> Result<Value, Failure> {
        let url = response.target().url.clone();
        let bytes = response.bytes(*budget).await.map_err(|error| failed(&url, &error))?;
        let Some(bytes) = bytes else {
            let (max, limit) = (self.settings.list_bytes_max, Limit::FORGE_LIST_BYTES_MAX);
            return Err(problem(&url, &format!("the list has more than {max} bytes; raise the {limit}")));
        };
        *budget -= u64::try_from(bytes.len()).unwrap_or(*budget);
        serde_json::from_slice(&bytes).map_err(|_| {
            problem(&url, "invalid response; expected JSON; check that api is the forge's address")
        })
    }

    /// The failure of a response with another status than 200.
    fn refused(&self, response: &Response) -> Failure {
        let (url, status) = (&response.target().url, response.status_line());
        if let Some(wait) = rate_limit(response) {
            let hint = if self.token.is_some() { "" } else { "; a token (tokenRef) raises the limit" };
            return problem(
                url,
                &format!("{status}: the forge's rate limit is exceeded; try again {wait}{hint}"),
            );
        }
        let token = self.token.as_deref();
        let remedy = match (response.status(), token) {
            (401, Some(token)) => format!("replace the token of {token}"),
            (401 | 403, None) => "set tokenRef".to_owned(),
            (403, Some(token)) => format!("permit the token of {token} to read it"),
            (404, Some(token)) => {
                format!("check the names in the generator, and that the token of {token} may read it")
            }
            (404, None) => {
                "check the names in the generator; a private repository requires tokenRef".to_owned()
            }
            _ => "check api and the forge".to_owned(),
        };
        let message = format!("{url}: {status}; {remedy}");
        if response.status() == 404 { Failure::NotFound(message) } else { Failure::Other(message) }
    }
}

/// The failure of a request without a complete response.
fn failed(url: &HttpUrl, error: &HttpError) -> Failure {
    let remedy = match error {
        HttpError::Timeout(_) | HttpError::ConnectTimeout(_) => "try again, or raise the limit",
        HttpError::Tls(_) => "check caRef, or the address in api",
        HttpError::NoConnection(_) | HttpError::Other(_) => "check the address in api and the proxy",
    };
    problem(url, &format!("{error}; {remedy}"))
}

fn problem(url: &HttpUrl, detail: &str) -> Failure {
    Failure::Other(format!("{url}: {detail}"))
}

/// Returns the URL of the API of a forge. `api` is empty for the forge's public server.
fn base_of_api(forge: &str, api: &str) -> String {
    let trimmed = api.trim_end_matches('/');
    match forge {
        "github" if api.is_empty() => "https://api.github.com".to_owned(),
        "github" => {
            let address = RepoUrl::new(trimmed);
            let host = address.host();
            let is_api = trimmed.ends_with("/api/v3") || host.starts_with("api.") || host.contains(".api.");
            if is_api { trimmed.to_owned() } else { format!("{trimmed}/api/v3") }
        }
        "gitlab" if api.is_empty() => "https://gitlab.com/api/v4".to_owned(),
        "gitlab" if trimmed.ends_with("/api/v4") => trimmed.to_owned(),
        "gitlab" => format!("{trimmed}/api/v4"),
        _ => format!("{trimmed}/api/v1"),
    }
}

/// The header with a token that a forge expects.
fn credentials(forge: &str, token: &Secret, scope: CredentialScope) -> Credentials {
    match forge {
        "github" => Credentials::bearer(token, scope),
        "gitlab" => Credentials::header("private-token", token.clone(), scope),
        _ => Credentials::header("authorization", Secret::new(format!("token {}", token.expose())), scope),
    }
}

/// When the next request is permitted, if the rate limit is the reason of a refusal.
fn rate_limit(response: &Response) -> Option<String> {
    let number =
        |name: &str| response.headers(name).next().and_then(|value| value.trim().parse::<i64>().ok());
    let wait = number("retry-after");
    let is_limit = match response.status() {
        429 => true,
        403 => wait.is_some() || number("x-ratelimit-remaining") == Some(0),
        _ => false,
    };
    let reset = || number("x-ratelimit-reset").or_else(|| number("ratelimit-reset"));
    let time = || jiff::Timestamp::from_second(reset()?).ok();
    is_limit.then(|| match (wait, time()) {
        (Some(seconds), _) => format!("in {seconds} seconds"),
        (None, Some(time)) => format!("after {time}"),
        (None, None) => "later".to_owned(),
    })
}

#[cfg(test)]
mod tests;
