//! Requests through a proxy. Loopback addresses never use one, so the servers have names that do not exist.

use tiphys_http::{ConnectError, CredentialScope, Credentials, HttpClient, HttpError};
use tiphys_model::access::{RepositoryAccess, Secret};
use tiphys_testkit::canned_server::CannedServer;
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart_server::{ChartServer, Transport};

use crate::raw_server::RawServer;
use crate::{LONG, body, client, get, get_with, origin};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const HTTP: &str = "http://charts.example.invalid/a?b";
const HTTPS: &str = "https://charts.example.invalid/a?b";

/// `user:p@ss/w:rd%` in a URL and in a header.
const LOGIN: &str = "user:p%40ss%2Fw%3Ard%25";
const LOGIN_BASE64: &str = "dXNlcjpwQHNzL3c6cmQl";

fn via(proxy: &str) -> RepositoryAccess {
    RepositoryAccess { proxy: Secret::new(proxy), ..RepositoryAccess::default() }
}

#[tokio::test]
async fn http_requests_are_sent_to_the_proxy() {
    let proxy = RawServer::start([OK]);
    let access = via(&format!("http://{LOGIN}@{}", proxy.host()));
    let credentials = Credentials::basic("user", "pass", origin(HTTP));
    let response =
        get_with(&client(&access, HTTP).await, HTTP, Some(&credentials)).await.expect("a response");
    assert_eq!(body(response).await.expect("a body"), "ok");
    let requests = proxy.requests();
    let head = requests[0].to_ascii_lowercase();
    assert!(head.starts_with(&format!("get {HTTP} http/1.1\r\n")), "{head}");
    assert!(head.contains("\r\nhost: charts.example.invalid\r\n"), "{head}");
    assert!(requests[0].contains(&format!(": Basic {LOGIN_BASE64}\r\n")), "{head}");
    assert!(requests[0].contains(": Basic dXNlcjpwYXNz\r\n"), "{head}");
}

#[tokio::test]
async fn https_requests_are_tunnelled() {
    let identity = Authority::new().server();
    let server = ChartServer::start(Transport::Tls(&identity));
    server.file("/a", "ok");
    let proxy = CannedServer::tunnel(&server.host());
    let access = RepositoryAccess { insecure: true, ..via(&format!("{LOGIN}@{}", proxy.host())) };
    let credentials = Credentials::basic("user", "pass", origin(HTTPS));
    let client = client(&access, HTTPS).await;
    let response = get_with(&client, HTTPS, Some(&credentials)).await.expect("a response");
    assert_eq!(body(response).await.expect("a body"), "ok");
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].path.as_str()), (1, "/a?b"));
    assert_eq!(requests[0].header("Authorization"), Some("Basic dXNlcjpwYXNz"));
    assert_eq!(requests[0].header("Proxy-Authorization"), None);
    let [request] = &proxy.requests()[..] else { panic!("one request") };
    assert_eq!((&*request.method, &*request.path), ("CONNECT", "charts.example.invalid:443"));
    let expected = format!("Basic {LOGIN_BASE64}");
    assert_eq!(request.header("Proxy-Authorization"), Some(&*expected), "{request:?}");
    let shown = format!("{request:?}");
    assert!(!shown.contains("dXNlcjpwYXNz"), "the proxy does not get the server's credentials: {shown}");
}

#[tokio::test]
async fn tunnelled_server_needs_a_trusted_certificate() {
    let identity = Authority::new().server();
    let server = ChartServer::start(Transport::Tls(&identity));
    let proxy = CannedServer::tunnel(&server.host());
    let error = get(&client(&via(&proxy.host()), HTTPS).await, HTTPS).await.err();
    assert!(matches!(error, Some(HttpError::Tls(_))), "{error:?}");
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn proxy_that_refuses_to_connect_is_reported() {
    for response in [
        "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
        "",
    ] {
        let proxy = RawServer::start([response]);
        let error = get(&client(&via(&proxy.url()), HTTPS).await, HTTPS).await.err();
        let expected = "the proxy refused to connect to it";
        assert_eq!(
            error,
            Some(HttpError::NoConnection(ConnectError::Other(expected.to_owned()))),
            "{response}"
        );
    }
}

#[tokio::test]
async fn unreachable_proxy_is_not_bypassed() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let proxy = listener.local_addr().expect("it is bound").to_string();
    drop(listener);
    for text in [HTTP, HTTPS] {
        let error = get(&client(&via(&proxy), text).await, text).await.err();
        let expected = "Connection refused (os error 111)";
        assert_eq!(
            error,
            Some(HttpError::NoConnection(ConnectError::Refused(expected.to_owned()))),
            "{text}"
        );
    }
}

#[tokio::test]
async fn invalid_proxy_is_not_bypassed() {
    let server = ChartServer::start(Transport::Plain);
    for proxy in ["socks5://p:1", "http://p{}:1", "ftp://user:hidden@p"] {
        let client = client(&via(proxy), HTTP).await;
        let error = get(&client, HTTP).await.err();
        let expected = "its proxy is not a valid URL; expected http or https";
        assert_eq!(error, Some(HttpError::Other(expected.to_owned())), "{proxy}");
        // It does not matter for servers that are reached directly.
        get(&client, &server.url()).await.expect("a response");
    }
}

#[tokio::test]
async fn environment_selects_the_proxy() {
    let proxy = RawServer::start([OK]);
    let address = proxy.url();
    let environment = |name: &str| match name {
        "http_proxy" => Some(address.clone()),
        "NO_PROXY" => Some("direct.example.invalid".to_owned()),
        _ => None,
    };
    let access = RepositoryAccess::default();
    let client = HttpClient::new(&access, CredentialScope::AllServers, LONG, &environment).await;
    let client = client.expect("valid settings");
    get(&client, HTTP).await.expect("a response");
    for direct in ["http://direct.example.invalid/", "http://sub.direct.example.invalid/", HTTPS] {
        match get(&client, direct).await {
            Err(HttpError::NoConnection(ConnectError::UnknownHost(_))) => {}
            other => panic!("expected no connection, found {other:?}"),
        }
    }
    assert_eq!(proxy.requests().len(), 1);
}
