//! Deadlines, and servers that cannot be reached.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use tiphys_http::{Deadline, HttpClient, HttpError, Request, Target, Timeout};
use tiphys_model::access::RepositoryAccess;
use tiphys_model::limits::Limit;
use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};

use crate::{LONG, body, get, origin, plain_client, url};

const SHORT: Timeout = Timeout { duration: Duration::from_millis(300), limit: Limit::LOOKUP_TIMEOUT };

#[tokio::test]
async fn deadline_covers_head_and_body() {
    let (server, client) = (ChartServer::start(Transport::Plain), plain_client().await);
    server.file("/a", "0123456789");
    let target = Target::new(url(&format!("{}/a", server.url())));
    let request =
        || Request { target: &target, accept: "", credentials: None, deadline: Deadline::after(SHORT) };
    server.fail("/a", Some(Failure::Hang));
    assert_eq!(client.get(&request()).await.err(), Some(HttpError::Timeout(SHORT)));
    server.fail("/a", Some(Failure::HangInBody));
    let response = client.get(&request()).await.expect("a response");
    assert_eq!(body(response).await, Err(HttpError::Timeout(SHORT)));
}

#[tokio::test]
async fn nothing_is_sent_after_the_deadline() {
    let (server, client) = (ChartServer::start(Transport::Plain), plain_client().await);
    let target = Target::new(url(&server.url()));
    let timeout = Timeout { duration: Duration::ZERO, limit: Limit::LOOKUP_TIMEOUT };
    for deadline in
        [Deadline::after(timeout), Deadline::after(LONG).min(timeout), Deadline::after(timeout).min(LONG)]
    {
        let request = Request { target: &target, accept: "", credentials: None, deadline };
        assert_eq!(client.get(&request).await.err(), Some(HttpError::Timeout(timeout)));
    }
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn connecting_has_a_timeout_that_covers_the_tls_handshake() {
    // The operating system accepts the connection; nothing is ever read or written.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let text = format!("https://{}", silent.local_addr().expect("it is bound"));
    let client = HttpClient::new(&RepositoryAccess::default(), origin(&text), SHORT, &|_| None).await;
    let error = get(&client.expect("valid settings"), &text).await.err();
    assert_eq!(error, Some(HttpError::ConnectTimeout(SHORT)));
}

#[tokio::test]
async fn earlier_deadline_wins_over_the_connect_timeout() {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let target = Target::new(url(&format!("https://{}", silent.local_addr().expect("it is bound"))));
    let request =
        Request { target: &target, accept: "", credentials: None, deadline: Deadline::after(SHORT) };
    let error = plain_client().await.get(&request).await.err();
    assert_eq!(error, Some(HttpError::Timeout(SHORT)));
}

#[tokio::test]
async fn unreachable_servers_are_distinguished_from_other_failures() {
    let client = plain_client().await;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let closed = format!("http://{}/?token=hidden", listener.local_addr().expect("it is bound"));
    drop(listener);
    for (text, expected) in [
        (closed.as_str(), "Connection refused (os error 111)"),
        ("http://host.invalid/?token=hidden", "failed to lookup address information: "),
    ] {
        match get(&client, text).await {
            Err(HttpError::NoConnection(error)) => {
                assert!(error.to_string().starts_with(expected), "{error}");
            }
            other => panic!("expected no connection, found {other:?}"),
        }
    }
}
