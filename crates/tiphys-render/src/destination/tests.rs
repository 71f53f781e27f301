use tiphys_model::resources::Destination;

use super::DestinationVersions;

fn to(name: &str, server: &str) -> Destination {
    Destination { name: name.to_owned(), server: server.to_owned(), namespace: String::new() }
}

#[test]
fn a_clusters_own_versions_win_over_those_for_all() {
    let mut versions = DestinationVersions::default();
    versions.set_kube_version(None, "1.33.0".to_owned());
    versions.set_kube_version(Some("edge".to_owned()), "1.28.3".to_owned());
    versions.set_kube_version(Some("https://prod:6443".to_owned()), "1.30.1".to_owned());
    versions.set_kube_version(Some("in-cluster".to_owned()), "1.31.0".to_owned());
    versions.set_api_versions(Some("edge".to_owned()), vec!["v1".to_owned()]);
    let cases = [
        (to("edge", ""), "1.28.3"),
        (to("", "https://prod:6443"), "1.30.1"),
        (to("", "https://kubernetes.default.svc"), "1.31.0"),
        (to("in-cluster", ""), "1.31.0"),
        (to("other", ""), "1.33.0"),
        (to("", ""), "1.33.0"),
    ];
    for (destination, expected) in cases {
        assert_eq!(versions.kube_version(&destination), expected, "{destination:?}");
    }
    assert_eq!(versions.api_versions(&to("edge", "")), ["v1"]);
    assert!(versions.api_versions(&to("other", "")).is_empty());
}
