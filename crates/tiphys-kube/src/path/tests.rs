use tiphys_engine::{Scope, ServedKind};

use super::{collection, object};

fn kind(group: &str, plural: &str, scope: Scope) -> ServedKind {
    ServedKind {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: "K".to_owned(),
        plural: plural.to_owned(),
        scope,
        verbs: ["get".to_owned()].into(),
    }
}

#[test]
fn paths_are_those_of_the_kubernetes_api() {
    let (pods, roles) = (
        kind("", "pods", Scope::Namespaced),
        kind("rbac.authorization.k8s.io", "clusterroles", Scope::Cluster),
    );
    let cases = [
        (object(&pods, "ns", "a"), Some("/api/v1/namespaces/ns/pods/a")),
        (collection(&pods, Some("ns")), Some("/api/v1/namespaces/ns/pods")),
        (collection(&pods, None), Some("/api/v1/pods")),
        (
            object(&roles, "", "system:a b?"),
            Some("/apis/rbac.authorization.k8s.io/v1/clusterroles/system:a%20b%3F"),
        ),
        (object(&roles, "ns", "a"), Some("/apis/rbac.authorization.k8s.io/v1/clusterroles/a")),
        (object(&pods, "", "a"), None),
        (object(&pods, "ns", ""), None),
        (object(&pods, "ns", ".."), None),
        (object(&pods, "..", "a"), None),
        (object(&pods, "ns", "a/log"), None),
        (object(&pods, "ns/secrets", "a"), None),
        (object(&pods, "ns", "%2e%2e"), None),
    ];
    for (found, expected) in cases {
        assert_eq!(found.as_deref(), expected);
    }
}
