use super::{RepositoryAccess, same_address};
use crate::access::RepositoryKind;

#[test]
fn addresses_are_compared_as_in_argo_cd_without_trailing_slash() {
    for (url, address, expected) in [
        ("https://example.org/charts", "https://example.org/charts", true),
        ("https://example.org/charts/", "https://example.org/charts", true),
        ("HTTPS://Example.org/Charts", "https://example.org/charts", true),
        ("https://example.org/charts.git", "https://example.org/charts", true),
        (" https://example.org/charts", "https://example.org/charts ", true),
        ("oci://registry.example.org:5000/Team", "registry.example.org:5000/team", true),
        ("registry.example.org/team", "oci://registry.example.org/team/", true),
        ("https://example.org/charts", "https://example.org/charts/more", false),
        ("https://example.org/charts", "http://example.org/charts", false),
        ("https://example.org/charts", "example.org/charts", false),
        ("git@example.org:Team/apps.git", "ssh://git@Example.org/team/apps", true),
        ("ssh://git@example.org/team/apps.git", "git@example.org:team/apps", true),
        ("git@example.org:team/apps", "example.org:team/apps", false),
        ("bob@registry.example.org/team", "oci://bob@registry.example.org/team", true),
        ("", "", false),
    ] {
        let access = RepositoryAccess { url: url.to_owned(), ..RepositoryAccess::default() };
        assert_eq!(access.is_at(address), expected, "{url:?} {address:?}");
    }
}

#[test]
fn template_does_not_match_address_with_parent_segment() {
    let template =
        RepositoryAccess { url: "https://example.org/team".to_owned(), ..RepositoryAccess::default() };
    for (address, expected) in [
        ("https://example.org/team/apps..old.git", true),
        ("https://example.org/team/../other/apps.git", false),
        ("https://example.org/team/%2E%2e/other", false),
        ("https://example.org/team\\..\\other", false),
        ("https://example.org/team/..", false),
    ] {
        assert_eq!(template.prefix_length(address).is_some(), expected, "{address}");
    }
}

#[test]
fn template_matches_addresses_with_its_prefix_on_same_host() {
    use RepositoryKind::{Git, Helm, Oci};
    for (kind, url, address, expected) in [
        (Helm, "https://example.org", "https://example.org/charts", true),
        (Git, "HTTPS://example.org/", "https://Example.org/charts", true),
        (Helm, "https://example.org/cha", "https://example.org/charts", true),
        (Helm, "https://example.org", "https://example.org.evil.org/charts", false),
        (Helm, "https://example.org", "https://example.org:8443/charts", false),
        (Helm, "https://", "https://example.org/charts", false),
        (Helm, "", "https://example.org/charts", false),
        (Helm, "registry.example.org", "registry.example.org/team", true),
        (Helm, "oci://registry.example.org", "registry.example.org/team", false),
        (Helm, "oci://registry.example.org", "oci://registry.example.org/team", true),
        (Oci, "oci://registry.example.org", "registry.example.org/team", true),
        (Oci, "oci://registry.example.org", "oci://registry.example.org/team", true),
        (Oci, "oci://registry.example.org", "registry.example.org.evil.org/team", false),
        (Git, "git@example.org", "git@example.org:team/apps.git", true),
        (Git, "git@example.org:team", "ssh://git@example.org/team/apps", true),
        (Git, "ssh://git@example.org/", "git@example.org:team/apps", true),
        (Git, "git@example.org", "git@example.org.evil.org:team/apps", false),
        (Git, "https://example.org", "git@example.org:team/apps", false),
    ] {
        let template = RepositoryAccess { url: url.to_owned(), kind, ..RepositoryAccess::default() };
        let found = RepositoryAccess::template_of(std::slice::from_ref(&template), "", address);
        assert_eq!(found.is_some(), expected, "{url:?} {address:?}");
    }
}

#[test]
fn trailing_slash_of_address_is_ignored() {
    assert!(same_address("https://example.org/a/", "https://example.org/a"));
    assert!(!same_address("https://example.org/a", "https://example.org/ab"));
}
