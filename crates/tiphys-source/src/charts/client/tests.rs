use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tiphys_http::{Deadline, HttpClient, HttpUrl, Timeout};
use tiphys_model::access::{RepositoryAccess, Secret};
use tiphys_model::limits::Limit;
use tiphys_model::limits::Limits;
use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};

use super::super::error_context::{ErrorContext, Operation};
use super::super::opened::LearnedLogins;
use super::{ChartSource, Client, Clients, Parameters, RequestFailure};
use crate::CredentialReach;
use crate::options::SourceOptions;

/// A chart of a repository without credentials.
fn source(url: &str) -> ChartSource {
    ChartSource {
        repo_url: url.to_owned(),
        chart: "web".to_owned(),
        target_revision: "1.0.0".to_owned(),
        access: RepositoryAccess::default(),
        credentials: CredentialReach::OwnServer,
        own_logins: None,
    }
}

fn options() -> SourceOptions {
    SourceOptions::new(PathBuf::from("/nowhere"), Vec::new(), &Limits::default())
}

fn parsed(url: &str) -> HttpUrl {
    HttpUrl::parse(url).expect("a URL").0
}

/// The HTTP client for a repository with changed settings.
async fn client(clients: &Clients, url: &str, change: impl FnOnce(&mut ChartSource)) -> Arc<HttpClient> {
    let mut source = source(url);
    change(&mut source);
    clients.client(&source, &parsed(url), &options()).await.expect("it can be created")
}

#[tokio::test]
async fn repositories_with_the_same_settings_share_a_client() {
    let clients = Clients::default();
    let first = client(&clients, "https://a.example.org/x", |_| {}).await;
    let with_login = |source: &mut ChartSource| source.access.password = Secret::new("p");
    for url in ["https://a.example.org/y", "https://b.example.org"] {
        assert!(Arc::ptr_eq(&first, &client(&clients, url, with_login).await), "{url}");
    }
    let proxy = |source: &mut ChartSource| source.access.proxy = Secret::new("http://p:1");
    assert!(!Arc::ptr_eq(&first, &client(&clients, "https://a.example.org/x", proxy).await));
}

#[tokio::test]
async fn own_server_settings_have_a_client_per_server() {
    let clients = Clients::default();
    let insecure = |source: &mut ChartSource| source.access.insecure = true;
    let for_all = |source: &mut ChartSource| {
        source.access.insecure = true;
        source.credentials = CredentialReach::EveryServer;
    };
    let one = client(&clients, "https://a.example.org/x", insecure).await;
    assert!(Arc::ptr_eq(&one, &client(&clients, "https://A.example.org:443/y", insecure).await));
    for other in [
        client(&clients, "https://b.example.org", insecure).await,
        client(&clients, "https://a.example.org:8443/x", insecure).await,
        client(&clients, "https://a.example.org/x", for_all).await,
        client(&clients, "https://a.example.org/x", |_| {}).await,
    ] {
        assert!(!Arc::ptr_eq(&one, &other));
    }
}

#[tokio::test]
async fn timeout_after_a_redirect_is_remembered_for_its_server_only() {
    // Only the request that is never answered has a short timeout.
    let [narrow, wide] = [(2, Limit::LOOKUP_TIMEOUT), (600, Limit::FETCH_TIMEOUT)].map(|(seconds, limit)| {
        move || Deadline::after(Timeout { duration: Duration::from_secs(seconds), limit })
    });
    let (server, dead) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
    dead.fail("/", Some(Failure::Hang));
    server.file("/api.tgz", "api");
    for name in ["web", "db"] {
        server.redirect(&format!("/{name}.tgz"), &format!("{}/{name}.tgz", dead.url()));
    }
    let (clients, source, options) = (Clients::default(), source(&server.url()), options());
    let root = parsed(&server.url());
    let client = Client::new(&clients, (&source, "identity"), &options, root.clone());
    let opened = source.opened(&LearnedLogins::default()).await.expect("nothing is read");
    let errors = ErrorContext::new(&opened, root, false, &options);
    let message = |deadline, failure: &RequestFailure| {
        let operation = Operation { what: "a chart", action: "fetching a chart of", deadline };
        errors.failed(operation, failure).to_string()
    };
    let get = async |url: String, deadline| {
        let parameters = Parameters { accept: "", credentials: None, deadline };
        let response = client.get(&parsed(&url), parameters).await;
        response.map(|response| response.status()).map_err(|failure| message(deadline, &failure))
    };
    let waited = format!(
        "fetching a chart of repository {} did not end within 2s: it waited for {}",
        server.url(),
        dead.url()
    );
    assert_eq!(get(format!("{}/web.tgz", dead.url()), narrow()).await, Err(waited.clone()));
    for (name, expected) in [
        ("web", Err(format!("{waited}, to which {} redirects", server.url()))),
        ("api", Ok(200)),
        ("db", Err(format!("{waited}, to which {} redirects", server.url()))),
    ] {
        assert_eq!(get(format!("{}/{name}.tgz", server.url()), wide()).await, expected, "{name}");
    }
    assert_eq!(dead.requests().len(), 1, "the timeout is remembered");
}
