use std::collections::BTreeMap;

use tiphys_params::context::RepositoryAccess;

use super::{ContextSettings, ScopedAccess};

#[test]
fn a_repository_has_its_servers_own_authority_unless_it_has_one() {
    let access = |url: &str, ca_data: &str| {
        let access = RepositoryAccess {
            url: url.to_owned(),
            ca_data: ca_data.to_owned(),
            ..RepositoryAccess::default()
        };
        ScopedAccess { project: None, access }
    };
    let settings = ContextSettings {
        repositories: vec![
            access("https://charts.example.org:8443/a", ""),
            access("https://charts.example.org/b", "own"),
            access("registry.example.org/c", ""),
            access("https://other.example.org", ""),
        ],
        server_certificates: BTreeMap::from([
            ("charts.example.org".to_owned(), "charts".to_owned()),
            ("registry.example.org".to_owned(), "registry".to_owned()),
        ]),
        ..ContextSettings::default()
    };
    let project = settings.project("default");
    let found = settings.of_project(&settings.repositories, &project);
    let found: Vec<&str> = found.iter().map(|access| access.ca_data.as_str()).collect();
    assert_eq!(found, ["charts", "own", "registry", ""]);
    let unknown = settings.with_certificates(RepositoryAccess::default(), "oci://registry.example.org/d");
    assert_eq!(unknown.ca_data, "registry");
}
