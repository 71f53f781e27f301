//! Sent requests.

use tiphys_http::{Deadline, Request, Target};
use tiphys_testkit::chart_server::{ChartServer, Transport};

use crate::raw_server::RawServer;
use crate::{LONG, get, plain_client, url};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[tokio::test]
async fn requests_have_only_the_necessary_headers() {
    let server = RawServer::start([OK]);
    get(&plain_client().await, &format!("{}/a?b", server.url())).await.expect("a response");
    let host = server.host();
    let version = env!("CARGO_PKG_VERSION");
    let expected =
        format!("GET /a?b HTTP/1.1\r\naccept: */*\r\nuser-agent: tiphys/{version}\r\nhost: {host}\r\n\r\n");
    let mut expected: Vec<&str> = expected.split("\r\n").collect();
    let requests = server.requests();
    let mut head: Vec<&str> = requests[0].split("\r\n").collect();
    expected.sort_unstable();
    head.sort_unstable();
    assert_eq!(head, expected);
}

#[tokio::test]
async fn urls_are_sent_as_written() {
    let (server, client) = (ChartServer::start(Transport::Plain), plain_client().await);
    let paths = [
        "/",
        "/a%2Fb%2fc/%41~-._!$&'()*+,;=:@/d//e/",
        "/a%/%zz/..b/c../...",
        "/a?X-Amz-Signature=0aF%2F%2B&b=/?:@!$()*,;=+-._~%27&c",
        "/a?",
        "/?x=../../y&z=%2e%2e/",
        "/%C3%A4|^",
    ];
    for path in paths {
        get(&client, &(server.url() + path)).await.expect("a response");
    }
    let requested: Vec<String> = server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(requested, paths);
}

#[tokio::test]
async fn cookies_are_not_sent_back() {
    let server = RawServer::start([
        "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        OK,
    ]);
    let (client, text) = (plain_client().await, server.url());
    for _ in 0..2 {
        get(&client, &text).await.expect("a response");
    }
    let requests = server.requests();
    assert!(!requests[1].to_ascii_lowercase().contains("cookie"), "{requests:?}");
}

#[tokio::test]
async fn forms_are_percent_encoded() {
    let server = ChartServer::start(Transport::Plain);
    let target = Target::new(url(&format!("{}/token", server.url())));
    let request = Request {
        target: &target,
        accept: "application/json",
        credentials: None,
        deadline: Deadline::after(LONG),
    };
    let form = [("grant_type", "refresh_token"), ("token", "a&b=c d+ä")];
    plain_client().await.post_form(&request, &form).await.expect("a response");
    let requests = server.requests();
    assert_eq!(requests[0].method, "POST");
    assert_eq!(requests[0].body, "grant_type=refresh_token&token=a%26b%3Dc%20d%2B%C3%A4");
    assert_eq!(requests[0].header("Accept"), Some("application/json"));
    assert_eq!(requests[0].header("Content-Type"), Some("application/x-www-form-urlencoded"));
}
