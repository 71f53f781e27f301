//! Credentials go to the servers in their scope.

use tiphys_http::{CredentialScope, Credentials, HttpError};
use tiphys_model::access::Secret;
use tiphys_testkit::chart_server::{ChartServer, Transport};

use crate::{get_with, origin, plain_client};

#[tokio::test]
async fn credentials_are_sent_to_servers_in_scope_only() {
    let (own, other) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
    let client = plain_client().await;
    let token = Secret::new("token");
    for (credentials, at_own, at_other) in [
        (Credentials::basic("user", "pass", origin(&own.url())), Some("Basic dXNlcjpwYXNz"), None),
        (Credentials::bearer(&token, origin(&own.url())), Some("Bearer token"), None),
        (
            Credentials::bearer(&token, CredentialScope::AllServers),
            Some("Bearer token"),
            Some("Bearer token"),
        ),
        // The same host with another port or scheme is another server.
        (Credentials::bearer(&token, origin("http://127.0.0.1:1")), None, None),
        (Credentials::bearer(&token, origin(&format!("https://{}", own.host()))), None, None),
    ] {
        for (server, expected) in [(&own, at_own), (&other, at_other)] {
            get_with(&client, &format!("{}/a", server.url()), Some(&credentials)).await.expect("a response");
            assert_eq!(server.requests()[0].header("Authorization"), expected);
            server.forget();
        }
    }
}

#[tokio::test]
async fn other_headers_are_sent_to_servers_in_scope_only() {
    let (own, other) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
    let credentials = Credentials::header("private-token", Secret::new("token"), origin(&own.url()));
    for (server, expected) in [(&own, Some("token")), (&other, None)] {
        let client = plain_client().await;
        get_with(&client, &format!("{}/a", server.url()), Some(&credentials)).await.expect("a response");
        let requests = server.requests();
        assert_eq!(requests[0].header("PRIVATE-TOKEN"), expected);
        assert_eq!(requests[0].header("Authorization"), None);
    }
}

#[tokio::test]
async fn token_that_is_not_a_header_value_is_rejected() {
    let server = ChartServer::start(Transport::Plain);
    let credentials = Credentials::bearer(&Secret::new("to\r\nken: x"), CredentialScope::AllServers);
    let error = get_with(&plain_client().await, &server.url(), Some(&credentials)).await.err();
    let expected = "the credentials cannot be sent in an HTTP header";
    assert_eq!(error, Some(HttpError::Other(expected.to_owned())));
    assert_eq!(server.requests(), []);
}
