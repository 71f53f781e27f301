//! Requests with JSON, compressed answers, and connections to other servers.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use tiphys_http::{
    ConnectError, ConnectTo, CredentialScope, Credentials, Deadline, HttpClient, HttpError, Request,
    Response, Target,
};
use tiphys_model::access::{RepositoryAccess, Secret};
use tiphys_testkit::canned_server::{Canned, CannedServer};
use tiphys_testkit::certificates::Authority;

use crate::raw_server::RawServer;
use crate::{LONG, origin, plain_client, url};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

pub(crate) async fn post(client: &HttpClient, target: &Target) -> Result<Response, HttpError> {
    let token = Credentials::bearer(&Secret::new("t0ken"), origin("http://plugin.example.invalid"));
    let request = Request { target, accept: "", credentials: Some(&token), deadline: Deadline::after(LONG) };
    client.post_json(&request, Bytes::from_static(b"{\"a\":1}\n")).await
}

async fn client_to(access: &RepositoryAccess, connect_to: &str) -> HttpClient {
    let connect_to: ConnectTo = connect_to.parse().expect("it is valid");
    let scope = CredentialScope::AllServers;
    let client = HttpClient::with_connect_to(access, scope, LONG, &|_| None, &[connect_to]).await;
    client.expect("the settings are valid")
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).expect("writing to a list");
    encoder.finish().expect("writing to a list")
}

#[tokio::test]
async fn json_is_posted_to_another_server_with_exact_headers() {
    let server = RawServer::start([OK]);
    let client = client_to(
        &RepositoryAccess { proxy: Secret::new("http://127.0.0.1:1"), ..RepositoryAccess::default() },
        &format!("plugin.example.invalid:80={}", server.host()),
    )
    .await;
    let from = url("http://plugin.example.invalid/from");
    let target = Target { url: url("http://plugin.example.invalid/a?b"), redirected_from: Some(from) };
    post(&client, &target).await.expect("a response");
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "POST /a?b HTTP/1.1\r\ncontent-type: application/json\r\naccept-encoding: gzip\r\n\
         referer: http://plugin.example.invalid/from\r\nuser-agent: tiphys/{version}\r\n\
         authorization: Bearer t0ken\r\nhost: plugin.example.invalid\r\ncontent-length: 8\r\n\r\n"
    );
    let mut expected: Vec<&str> = expected.split("\r\n").collect();
    let requests = server.requests();
    let mut head: Vec<&str> = requests[0].split("\r\n").collect();
    expected.sort_unstable();
    head.sort_unstable();
    assert_eq!(head, expected);
}

#[tokio::test]
async fn tls_name_is_that_of_the_url() {
    let authority = Authority::new();
    let server = CannedServer::start(Some(&authority.server()), |_| Canned::new(200, "ok"));
    let access = RepositoryAccess { ca_data: authority.pem().to_owned(), ..RepositoryAccess::default() };
    let client = client_to(&access, &format!("localhost:443={}", server.host())).await;
    post(&client, &Target::new(url("https://localhost/"))).await.expect("a response");
    assert_eq!(server.requests()[0].header("Host"), Some("localhost"));
    let client = client_to(&access, &format!("plugin.svc:443={}", server.host())).await;
    let error = post(&client, &Target::new(url("https://plugin.svc/"))).await.expect_err("another name");
    let text = error.to_string();
    assert!(text.starts_with("TLS: invalid peer certificate: certificate not valid for name"), "{text}");
}

#[tokio::test]
async fn json_is_posted_through_a_proxy() {
    let proxy = RawServer::start([OK]);
    let access = RepositoryAccess { proxy: Secret::new(proxy.url()), ..RepositoryAccess::default() };
    let client = crate::client(&access, "http://unused.example.invalid").await;
    post(&client, &Target::new(url("http://plugin.example.invalid/a"))).await.expect("a response");
    let requests = proxy.requests();
    assert!(requests[0].starts_with("POST http://plugin.example.invalid/a HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[0].contains(": Bearer t0ken\r\n"), "{requests:?}");
}

#[tokio::test]
async fn connections_are_reused_and_credentials_stay_in_scope() {
    let server = CannedServer::start(None, |_| Canned::new(200, "ok"));
    let client = plain_client().await;
    for _ in 0..3 {
        let response = post(&client, &Target::new(url(&server.url()))).await.expect("a response");
        assert_eq!(crate::body(response).await.as_deref(), Ok("ok"));
    }
    assert_eq!(server.connections(), 1);
    let requests = server.requests();
    assert_eq!((requests[2].body.as_str(), requests[2].header("Authorization")), ("{\"a\":1}\n", None));
}

#[tokio::test]
async fn refused_connections_are_reported() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let closed = format!("http://{}/", listener.local_addr().expect("it is bound"));
    drop(listener);
    let error = post(&plain_client().await, &Target::new(url(&closed))).await.err();
    let expected = "Connection refused (os error 111)";
    assert_eq!(error, Some(HttpError::NoConnection(ConnectError::Refused(expected.to_owned()))));
}

#[tokio::test]
async fn gzip_is_decompressed_within_the_limit() {
    let zeros = vec![b'0'; 1 << 20];
    let packed = gzip(&zeros);
    let packed_length = u64::try_from(packed.len()).expect("it is short");
    let encoded = |body: &[u8]| Canned::new(200, body).with("Content-Encoding", "GZIP");
    let server = {
        let (packed, two) = (encoded(&packed), encoded(&[gzip(b"one "), gzip(b"two")].concat()));
        CannedServer::start(None, move |request| match request.path.as_str() {
            "/zeros" => packed.clone(),
            "/two" => two.clone(),
            "/empty" => encoded(b""),
            "/invalid" => encoded(b"plain"),
            _ => Canned::new(200, "plain"),
        })
    };
    let client = plain_client().await;
    for (path, max, expected) in [
        ("/zeros", 1 << 20, Ok(Some(zeros.clone()))),
        ("/zeros", (1 << 20) - 1, Ok(None)),
        ("/zeros", packed_length - 1, Ok(None)),
        ("/two", 100, Ok(Some(b"one two".to_vec()))),
        ("/empty", 0, Ok(Some(Vec::new()))),
        ("/plain", 5, Ok(Some(b"plain".to_vec()))),
        ("/plain", 4, Ok(None)),
        ("/invalid", 100, Err(HttpError::Other("its body is not valid gzip".to_owned()))),
    ] {
        let target = Target::new(url(&format!("{}{path}", server.url())));
        let response = post(&client, &target).await.expect("a response");
        assert!(response.decompressed_bytes(max).await == expected, "{path} {max}");
    }
}
