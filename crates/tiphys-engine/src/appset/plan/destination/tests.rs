use tiphys_model::resources::InCluster::{Disabled, Enabled};

use super::{DestinationCluster, check_destination};

#[test]
fn disabled_cluster_of_argo_cd_is_not_found() {
    const OWN: &str = "https://kubernetes.default.svc";
    let cluster =
        |name: &str, server: &str| DestinationCluster { name: name.to_owned(), server: server.to_owned() };
    let known = [
        cluster("mine", OWN),
        cluster("prod", "https://prod"),
        cluster("two", OWN),
        cluster("two", "https://two/"),
    ];
    let by_url = |server: &str| {
        format!(
            "error getting cluster by server \"{server}\": rpc error: code = NotFound desc = cluster \"{OWN}\" is disabled"
        )
    };
    let by_name = |name: &str| format!("there are no clusters with this name: {name}");
    for clusters in [None, Some(&known[..])] {
        for (name, server, expected) in [
            ("", OWN, Err(by_url(OWN))),
            ("", "https://kubernetes.default.svc//", Err(by_url("https://kubernetes.default.svc//"))),
            ("in-cluster", "", Err(by_name("in-cluster"))),
            ("mine", "", if clusters.is_some() { Err(by_name("mine")) } else { Ok(()) }),
            ("two", "", Ok(())),
            ("prod", "", Ok(())),
            ("", "https://prod/", Ok(())),
        ] {
            let checked = check_destination(name, server, clusters, Disabled);
            assert_eq!(checked, expected, "{name} {server} {clusters:?}");
            let is_ambiguous = name == "two" && clusters.is_some();
            assert_eq!(
                check_destination(name, server, clusters, Enabled).is_err(),
                is_ambiguous,
                "{name} {server}"
            );
        }
    }
    let named = [cluster("in-cluster", "https://other")];
    assert_eq!(check_destination("in-cluster", "", Some(&named), Disabled), Ok(()));
}
