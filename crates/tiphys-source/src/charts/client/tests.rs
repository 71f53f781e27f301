use std::path::PathBuf;
use std::sync::Arc;

use tiphys_params::context::{RepositoryAccess, Secret};

use super::{ChartSource, Clients};
use crate::CredentialReach;
use crate::options::SourceOptions;
use crate::web::{Address, Web};

/// The client for a repository on this server with these settings.
fn client(clients: &Clients, url: &str, change: impl FnOnce(&mut ChartSource)) -> Arc<Web> {
    let mut source = ChartSource {
        repo_url: url.to_owned(),
        chart: "web".to_owned(),
        target_revision: "1.0.0".to_owned(),
        access: RepositoryAccess::default(),
        credentials: CredentialReach::OwnServer,
        own_logins: None,
    };
    change(&mut source);
    let (server, _) = Address::parse(url).expect("a URL");
    let options = SourceOptions::new(PathBuf::from("/nowhere"), Vec::new());
    clients.web(&source, &server, &options).expect("it can be made")
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
