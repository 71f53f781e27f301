//! `insecure` and the client certificate apply to the repository's own server; to other servers only with `passCredentials`.

use tiphys_model::access::{RepositoryAccess, Secret};
use tiphys_source::CredentialReach;
use tiphys_testkit::certificates::{Authority, Identity};
use tiphys_testkit::chart_server::{Access, ChartServer, Transport};

use crate::charts::workbench::{Workbench, chart, failure, fetch, log_in, pair, web, with};

/// Part of the message for other servers.
const HINT: &str = "apply to its own server only; set passCredentials: true in the Application's helm block";

fn show(access: &mut RepositoryAccess, client: &Identity) {
    access.tls_client_cert_data.clone_from(&client.certificate_pem);
    access.tls_client_cert_key = Secret::new(client.key_pem.clone());
}

/// Fetches a chart from another server: once the index names that server, once the own server redirects to it.
async fn check(own: &ChartServer, other: &ChartServer, settings: impl Fn(&mut RepositoryAccess)) {
    other.repository("/charts", &[web("1.0.0")]);
    own.repository_elsewhere("/named", &[web("1.0.0")], &format!("{}/charts/", other.url()));
    own.repository("/moved", &[web("1.0.0")]);
    own.redirect("/moved/web-1.0.0.tgz", &format!("{}/charts/web-1.0.0.tgz", other.url()));
    for repository in ["/named", "/moved"] {
        let mut source = with(chart(&(own.url() + repository), "web", "1.0.0"), &settings);
        let text = failure(&Workbench::new().sources(), &source).await;
        assert!(text.contains("TLS: ") && text.contains(HINT), "{repository}: {text}");
        assert_eq!(other.requests(), [], "{repository}");
        source.credentials = CredentialReach::EveryServer;
        let found = fetch(&Workbench::new().sources(), &source).await.expect("it is fetched");
        assert_eq!(found, pair("1.0.0", "1.0.0"), "{repository}");
        other.forget();
    }
}

#[tokio::test]
async fn insecure_is_for_the_repositorys_own_server_only() {
    let (authority, others) = (Authority::new(), Authority::new());
    let (identity, of_other) = (authority.server(), others.server());
    let own = ChartServer::start(Transport::Tls(&identity));
    let other = ChartServer::start(Transport::Tls(&of_other));
    check(&own, &other, |access| access.insecure = true).await;
}

#[tokio::test]
async fn client_certificate_is_for_the_own_server_only() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let (identity, client) = (authority.server(), clients.client());
    let own = ChartServer::start(Transport::MutualTls(&identity, &clients));
    let other = ChartServer::start(Transport::MutualTls(&identity, &clients));
    check(&own, &other, |access| {
        authority.pem().clone_into(&mut access.ca_data);
        show(access, &client);
    })
    .await;
}

#[tokio::test]
async fn repositories_do_not_share_client_certificates() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let (identity, client) = (authority.server(), clients.client());
    let [one, other] = [(); 2].map(|()| {
        let server = ChartServer::start(Transport::MutualTls(&identity, &clients));
        server.repository("/charts", &[web("1.0.0")]);
        server
    });
    let trusting = |server: &ChartServer| {
        with(chart(&format!("{}/charts", server.url()), "web", "1.0.0"), |access| {
            authority.pem().clone_into(&mut access.ca_data);
        })
    };
    let bench = Workbench::new();
    let sources = bench.sources();
    fetch(&sources, &with(trusting(&one), |access| show(access, &client))).await.expect("it is fetched");
    fetch(&sources, &with(trusting(&other), |access| show(access, &client))).await.expect("it is fetched");
    let text = failure(&sources, &trusting(&other)).await;
    assert!(text.contains("TLS: ") && !text.contains(HINT), "{text}");
}

#[tokio::test]
async fn token_server_on_another_host_needs_a_certificate() {
    let (authority, others) = (Authority::new(), Authority::new());
    let (identity, of_other) = (authority.server(), others.server());
    let registry = ChartServer::start(Transport::Tls(&identity));
    let tokens = ChartServer::start(Transport::Tls(&of_other));
    registry.images("charts", &[web("1.0.0")]);
    registry.protect("/v2/", Access::Token).tokens_of(&tokens.url());
    let source = with(chart(&format!("{}/charts", registry.host()), "web", "1.0.0"), |access| {
        log_in(access);
        access.insecure = true;
    });
    let text = failure(&Workbench::new().sources(), &source).await;
    let expected = format!("the registry's token: {}: TLS: ", tokens.url());
    assert!(text.contains(&expected) && text.contains(HINT), "{text}");
    assert!(!text.contains("speaks no TLS"), "{text}");
    assert_eq!(tokens.requests(), []);
}
