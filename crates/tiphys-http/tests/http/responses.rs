//! Received responses.

use tiphys_http::HttpError;
use tiphys_model::access::RepositoryAccess;
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};

use crate::raw_server::RawServer;
use crate::{body, client, get, plain_client, url};

#[tokio::test]
async fn unsuccessful_responses_are_not_errors() {
    let (server, client) = (ChartServer::start(Transport::Plain), plain_client().await);
    for (status, line) in
        [(401, "401 Unauthorized"), (404, "404 Not Found"), (503, "503 Service Unavailable"), (599, "599")]
    {
        server.fail("/", Some(Failure::Status(status)));
        let response = get(&client, &server.url()).await.expect("a response");
        assert_eq!((response.status(), response.status_line().as_str()), (status, line));
    }
}

#[tokio::test]
async fn header_values_are_returned_in_order() {
    let server = RawServer::start(["HTTP/1.1 200 OK\r\nLink: a\r\nlink: b, c\r\nContent-Length: 0\r\n\r\n"]);
    let response = get(&plain_client().await, &server.url()).await.expect("a response");
    assert_eq!(response.headers("Link").collect::<Vec<_>>(), ["a", "b, c"]);
    assert_eq!(response.headers("x-missing").count(), 0);
}

#[tokio::test]
async fn next_page_is_read_from_links() {
    let (server, client) = (ChartServer::start(Transport::Plain), plain_client().await);
    let invalid = "the link to its next page is invalid; expected an http or https URL";
    for (links, next) in [
        (&[][..], Ok(None)),
        (&["</b>; rel=\"prev\""], Ok(None)),
        (&["</b>; rel=\"nextish\""], Ok(None)),
        (&["</b>; rel=\"prev\", </b?c=x,y&page=3>; rel=\"next\""], Ok(Some("SERVER/b?c=x,y&page=3"))),
        (&["</b>; rel=\"first\"", "<c>; title=\"x\"; rel=next"], Ok(Some("SERVER/c"))),
        (&["<https://h.example.org/c>;rel=\"next\""], Ok(Some("https://h.example.org/c"))),
        (&["<ftp://h.example.org/c>; rel=\"next\""], Err(HttpError::Other(invalid.to_owned()))),
    ] {
        let headers: Vec<_> = links.iter().map(|link| ("Link".to_owned(), (*link).to_owned())).collect();
        server.answer("/a", 200, &headers, "");
        let response = get(&client, &format!("{}/a", server.url())).await.expect("a response");
        let expected = next.map(|next| next.map(|next| url(&next.replace("SERVER", &server.url()))));
        assert_eq!(response.next_page(), expected, "{links:?}");
    }
}

#[tokio::test]
async fn bodies_are_not_decompressed() {
    let server =
        RawServer::start(["HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain"]);
    let response = get(&plain_client().await, &server.url()).await.expect("a response");
    assert_eq!(body(response).await.expect("a body"), "plain");
    let requests = server.requests();
    assert!(!requests[0].to_ascii_lowercase().contains("accept-encoding"), "{requests:?}");
}

#[tokio::test]
async fn bodies_are_streamed() {
    let server = ChartServer::start(Transport::Plain);
    server.file("/large", vec![b'x'; 1 << 20]).fail("/large", Some(Failure::HangInBody));
    let mut response =
        get(&plain_client().await, &format!("{}/large", server.url())).await.expect("a response");
    let mut received = 0;
    // The server sends the other half only when it ends.
    while received < 1 << 19 {
        received += response.chunk().await.expect("it is sent").expect("the body has not ended").len();
    }
    assert_eq!(received, 1 << 19);
}

#[tokio::test]
async fn bodies_that_end_early_are_errors() {
    let client_of_plain = plain_client().await;
    for response in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
    ] {
        let server = RawServer::start([response]);
        let response = get(&client_of_plain, &server.url()).await.expect("a response");
        assert!(matches!(body(response).await, Err(HttpError::Other(_))));
    }
    let authority = Authority::new();
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    server.file("/half", "0123456789").fail("/half", Some(Failure::HalfOfABody));
    let access = RepositoryAccess { ca_data: authority.pem().to_owned(), ..RepositoryAccess::default() };
    let response = get(&client(&access, &server.url()).await, &format!("{}/half", server.url())).await;
    assert!(matches!(body(response.expect("a response")).await, Err(HttpError::Other(_))));
}

#[tokio::test]
async fn body_may_have_exactly_the_maximum_size() {
    let server = ChartServer::start(Transport::Plain);
    server.file("/file", "0123456789");
    let (client, text) = (plain_client().await, format!("{}/file", server.url()));
    for (max, expected) in [(10, Some(b"0123456789".to_vec())), (9, None), (0, None)] {
        let response = get(&client, &text).await.expect("a response");
        assert_eq!(response.bytes(max).await, Ok(expected), "{max}");
    }
    server.file("/file", "");
    let response = get(&client, &text).await.expect("a response");
    assert_eq!(response.bytes(0).await, Ok(Some(Vec::new())));
}

#[tokio::test]
async fn endless_headers_are_rejected() {
    let mut head = "HTTP/1.1 200 OK\r\n".to_owned();
    head += &format!("x: {}\r\n", "y".repeat(1 << 10)).repeat(1 << 10);
    let server = RawServer::start([head.leak()]);
    assert!(matches!(get(&plain_client().await, &server.url()).await, Err(HttpError::Other(_))));
}

#[tokio::test]
async fn responses_that_are_not_http_are_rejected() {
    for response in
        ["", "hello\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"]
    {
        let server = RawServer::start([response]);
        let error = get(&plain_client().await, &format!("{}/?token=hidden", server.url())).await;
        let error = error.err().unwrap_or_else(|| panic!("{response:?} is rejected"));
        assert!(matches!(error, HttpError::Other(_)) && !error.to_string().contains("hidden"), "{error}");
    }
}
