//! Logs of the HTTP libraries contain no credentials, at no level.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tiphys_http::{CredentialScope, Credentials, Deadline, HttpClient, HttpUrl, Request, Target, Timeout};
use tiphys_model::access::{RepositoryAccess, Secret};
use tiphys_model::limits::Limit;
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart_server::{ChartServer, Transport};

const TIMEOUT: Timeout = Timeout { duration: Duration::from_mins(1), limit: Limit::FETCH_TIMEOUT };

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn credentials_are_in_no_log_line() {
    let lines = Lines::default();
    let writer = lines.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .init();
    let authority = Authority::new();
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    let proxied = "http://charts.example.invalid";
    for text in [server.url(), proxied.to_owned()] {
        let access = RepositoryAccess {
            ca_data: authority.pem().to_owned(),
            // Not used for loopback addresses.
            proxy: Secret::new("http://proxyuser:proxyword@127.0.0.1:1"),
            ..RepositoryAccess::default()
        };
        let client = HttpClient::new(&access, CredentialScope::AllServers, TIMEOUT, &|_| None).await;
        let client = client.expect("valid settings");
        let target = Target::new(HttpUrl::parse(&format!("{text}/a?token=query-word")).expect("a URL").0);
        let credentials = Credentials::basic("user", "server-word", CredentialScope::AllServers);
        let deadline = Deadline::after(TIMEOUT);
        let request = Request { target: &target, accept: "", credentials: Some(&credentials), deadline };
        let sent = client.get(&request).await;
        assert_eq!(sent.is_ok(), text != proxied, "{sent:?}");
        // The debug output of these types is part of the logs.
        tracing::info!(?client, ?target, ?credentials, ?request, ?sent);
        let form = [("refresh_token", "form-word")];
        let sent = client.post_form(&request, &form).await;
        tracing::info!(?sent);
    }
    let lines = lines.0.lock().expect("no thread panics").clone();
    let text = String::from_utf8_lossy(&lines);
    assert!(text.contains("hyper_util") && text.contains("reqwest"), "{text}");
    let encoded = ["dXNlcjpzZXJ2ZXItd29yZA==", "cHJveHl1c2VyOnByb3h5d29yZA=="];
    for secret in ["proxyword", "server-word", "query-word", "form-word"].into_iter().chain(encoded) {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}
