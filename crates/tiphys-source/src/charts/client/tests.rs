use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tiphys_access::{RepositoryAccess, Secret};
use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};

use super::super::place::{Asked, Place};
use super::{ChartSource, Client, Clients, Unanswered};
use crate::CredentialReach;
use crate::options::SourceOptions;
use crate::web::{Address, Ask, Bound, Deadline, Web};

/// A chart that anybody may have.
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
    SourceOptions::new(PathBuf::from("/nowhere"), Vec::new())
}

fn address(url: &str) -> Address {
    Address::parse(url).expect("a URL").0
}

/// The client for a repository on this server with these settings.
fn client(clients: &Clients, url: &str, change: impl FnOnce(&mut ChartSource)) -> Arc<Web> {
    let mut source = source(url);
    change(&mut source);
    clients.web(&source, &address(url), &options()).expect("it can be made")
}

#[test]
fn repositories_that_are_reached_alike_have_one_client() {
    let clients = Clients::default();
    let first = client(&clients, "https://a.example.org/x", |_| {});
    let with_login = |source: &mut ChartSource| source.access.password = Secret::new("p");
    for url in ["https://a.example.org/y", "https://b.example.org"] {
        assert!(Arc::ptr_eq(&first, &client(&clients, url, with_login)), "{url}");
    }
    let with_proxy =
        client(&clients, "https://a.example.org/x", |source| source.access.proxy = Secret::new("http://p:1"));
    assert!(!Arc::ptr_eq(&first, &with_proxy));
}

#[test]
fn what_is_for_one_server_makes_a_client_for_it_unless_it_is_for_all() {
    let clients = Clients::default();
    let insecure = |source: &mut ChartSource| source.access.insecure = true;
    let for_all = |source: &mut ChartSource| {
        source.access.insecure = true;
        source.credentials = CredentialReach::EveryServer;
    };
    let one = client(&clients, "https://a.example.org/x", insecure);
    assert!(Arc::ptr_eq(&one, &client(&clients, "https://A.example.org:443/y", insecure)));
    for other in [
        client(&clients, "https://b.example.org", insecure),
        client(&clients, "https://a.example.org:8443/x", insecure),
        client(&clients, "https://a.example.org/x", for_all),
        client(&clients, "https://a.example.org/x", |_| {}),
    ] {
        assert!(!Arc::ptr_eq(&one, &other));
    }
}

#[test]
fn a_dead_server_behind_a_redirection_is_held_against_itself_alone() {
    // Only who never answers has little time.
    let [narrow, wide] = [(2, "--narrow"), (600, "--wide")].map(|(seconds, option)| {
        move || Deadline::after(Bound { timeout: Duration::from_secs(seconds), option })
    });
    let (server, dead) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
    dead.fail("/", Some(Failure::Hang));
    server.file("/api.tgz", "api");
    for name in ["web", "db"] {
        server.redirect(&format!("/{name}.tgz"), &format!("{}/{name}.tgz", dead.url()));
    }
    let (clients, source, options) = (Clients::default(), source(&server.url()), options());
    let root = address(&server.url());
    let client = Client::new(&clients, (&source, "identity"), &options, root.clone());
    let place = Place::new(source.shown(), root, &source.access, false, &options);
    let told = |deadline, error: &Unanswered| {
        let asked = Asked { what: "a chart", action: "fetching a chart of", deadline };
        place.failed(asked, error).to_string()
    };
    let get = |url: String, deadline| {
        let answer = client.get(&address(&url), None, Ask { accept: "", deadline });
        answer.map(|answer| answer.status).map_err(|error| told(deadline, &error))
    };
    let waited = format!(
        "fetching a chart of repository {} did not end within 2s; see --narrow: it waited for {}",
        server.url(),
        dead.url()
    );
    assert_eq!(get(format!("{}/web.tgz", dead.url()), narrow()), Err(waited.clone()));
    for (name, expected) in [
        ("web", Err(format!("{waited}, to which {} redirects", server.url()))),
        ("api", Ok(200)),
        ("db", Err(format!("{waited}, to which {} redirects", server.url()))),
    ] {
        assert_eq!(get(format!("{}/{name}.tgz", server.url()), wide()), expected, "{name}");
    }
    assert_eq!(dead.requests().len(), 1, "nobody waits for it again");
}
