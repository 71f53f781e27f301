//! Redirects are responses with a target.

use tiphys_http::{HttpError, Target};
use tiphys_model::access::RepositoryAccess;
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart_server::{ChartServer, Transport};

use crate::raw_server::RawServer;
use crate::{client, get, plain_client, url};

#[tokio::test]
async fn redirects_are_returned_and_not_followed() {
    let (server, other) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
    let client = plain_client().await;
    let from = format!("{}/dir/file?query", server.url());
    for (location, expected) in [
        (format!("{}/x?y", other.url()), format!("{}/x?y", other.url())),
        ("next".to_owned(), format!("{}/dir/next", server.url())),
        ("/top#part".to_owned(), format!("{}/top", server.url())),
        ("//user:word@h.example.org/x".to_owned(), "http://h.example.org/x".to_owned()),
    ] {
        server.redirect("/dir/file", &location);
        let response = get(&client, &from).await.expect("a response");
        let expected = Target { url: url(&expected), redirected_from: Some(url(&from)) };
        assert_eq!(response.redirect(), Ok(Some(expected)), "{location}");
    }
    assert_eq!(other.requests(), []);
}

#[tokio::test]
async fn only_some_responses_with_a_location_are_redirects() {
    let client = plain_client().await;
    for (head, is_redirect) in [
        ("HTTP/1.1 301 x\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n", true),
        ("HTTP/1.1 303 x\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n", true),
        ("HTTP/1.1 307 x\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n", true),
        ("HTTP/1.1 308 x\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n", true),
        ("HTTP/1.1 302 x\r\nContent-Length: 0\r\n\r\n", false),
        ("HTTP/1.1 300 x\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n", false),
        ("HTTP/1.1 201 x\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n", false),
    ] {
        let server = RawServer::start([head]);
        let response = get(&client, &server.url()).await.expect("a response");
        assert_eq!(response.redirect().expect("it is valid").is_some(), is_redirect, "{head}");
    }
}

#[tokio::test]
async fn redirect_from_https_to_http_is_an_error() {
    let authority = Authority::new();
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    server.redirect("/a", "http://h.example.org/b?token=hidden");
    let access = RepositoryAccess { ca_data: authority.pem().to_owned(), ..RepositoryAccess::default() };
    let response = get(&client(&access, &server.url()).await, &format!("{}/a", server.url())).await;
    let expected = "it redirects from https to http://h.example.org/b?***, which is not encrypted";
    assert_eq!(response.expect("a response").redirect(), Err(HttpError::Other(expected.to_owned())));
}

#[tokio::test]
async fn redirect_to_another_scheme_is_an_error() {
    let server = ChartServer::start(Transport::Plain);
    let client = plain_client().await;
    for location in ["ftp://h/a", "file:///etc/passwd", "http://", "https://h:port/"] {
        server.redirect("/a", location);
        let response = get(&client, &format!("{}/a", server.url())).await.expect("a response");
        assert!(matches!(response.redirect(), Err(HttpError::Other(_))), "{location}");
    }
}
