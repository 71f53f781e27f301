use super::{RepositoryAccess, same_address, server_name};
use crate::context::RepositoryKind;

fn access(kind: RepositoryKind, url: &str) -> RepositoryAccess {
    RepositoryAccess { url: url.to_owned(), kind, ..RepositoryAccess::default() }
}

#[test]
fn an_address_gets_the_settings_of_its_repository_then_of_the_longest_template_then_of_a_registry_around_it()
{
    use RepositoryKind::{Git, Helm, Oci};
    let repositories = [
        access(Git, "https://example.org/charts"),
        access(Helm, "https://example.org/charts/"),
        access(Oci, "oci://registry.example.org/team"),
    ];
    let templates = [
        access(Helm, "https://example.org"),
        access(Helm, "https://example.org/more"),
        access(Oci, "oci://other.example.org"),
    ];
    for (address, expected) in [
        ("https://example.org/charts", Some("https://example.org/charts/")),
        ("https://example.org/else", Some("https://example.org")),
        ("https://example.org/more/x", Some("https://example.org/more")),
        ("https://example.org.evil.org/charts", None),
        ("registry.example.org/team", Some("oci://registry.example.org/team")),
        ("oci://registry.example.org/team", Some("oci://registry.example.org/team")),
        ("registry.example.org/team/web", Some("oci://registry.example.org/team")),
        ("registry.example.org.evil.org/team", None),
        ("other.example.org/x", Some("oci://other.example.org")),
        ("oci://other.example.org/x", Some("oci://other.example.org")),
    ] {
        let found = RepositoryAccess::find(&repositories, &templates, address).map(|one| one.url.as_str());
        assert_eq!(found, expected, "{address}");
    }
}

#[test]
fn a_slash_at_the_end_of_an_address_is_nothing() {
    assert!(same_address("https://example.org/a/", "https://example.org/a"));
    assert!(!same_address("https://example.org/a", "https://example.org/ab"));
}

#[test]
fn a_server_has_the_name_that_certificates_have() {
    for (address, expected) in [
        ("https://charts.example.org/a", Some("charts.example.org")),
        ("https://charts.example.org:8443?x", Some("charts.example.org")),
        ("https://user:p@ss@charts.example.org:8443/a", Some("charts.example.org")),
        ("oci://registry.example.org:5000/team", Some("registry.example.org")),
        ("registry.example.org:5000/team", Some("registry.example.org")),
        (" https://[::1]:8443/a", Some("::1")),
        ("https:///a", None),
        ("", None),
    ] {
        assert_eq!(server_name(address), expected, "{address:?}");
    }
}
