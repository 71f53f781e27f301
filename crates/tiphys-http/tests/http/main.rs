//! The client against real servers on loopback.

mod cancelling;
mod credentials;
mod deadlines;
mod json;
mod logs;
mod proxies;
mod raw_server;
mod redirects;
mod requests;
mod responses;
mod tls;

use std::time::Duration;

use tiphys_http::{
    CredentialScope, Credentials, Deadline, HttpClient, HttpError, HttpUrl, Request, Response, Target,
    Timeout,
};
use tiphys_model::access::RepositoryAccess;
use tiphys_model::limits::Limit;

/// Longer than any test takes.
const LONG: Timeout = Timeout { duration: Duration::from_mins(1), limit: Limit::FETCH_TIMEOUT };

fn url(text: &str) -> HttpUrl {
    HttpUrl::parse(text).expect(text).0
}

fn origin(text: &str) -> CredentialScope {
    CredentialScope::Origin(url(text))
}

/// A client for the repository at `repository`.
async fn client(access: &RepositoryAccess, repository: &str) -> HttpClient {
    HttpClient::new(access, origin(repository), LONG, &|_| None).await.expect("the settings are valid")
}

/// A client without settings.
async fn plain_client() -> HttpClient {
    client(&RepositoryAccess::default(), "https://unused.example.org").await
}

async fn get(client: &HttpClient, text: &str) -> Result<Response, HttpError> {
    get_with(client, text, None).await
}

async fn get_with(
    client: &HttpClient,
    text: &str,
    credentials: Option<&Credentials>,
) -> Result<Response, HttpError> {
    let target = Target::new(url(text));
    client.get(&Request { target: &target, accept: "", credentials, deadline: Deadline::after(LONG) }).await
}

async fn body(response: Response) -> Result<String, HttpError> {
    let bytes = response.bytes(1 << 20).await?.expect("it is short");
    Ok(String::from_utf8(bytes).expect("it is UTF-8"))
}
