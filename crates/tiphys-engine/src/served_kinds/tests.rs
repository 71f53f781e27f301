use serde_json::{Value, json};

use super::{ServedKind, ServedKinds, UnknownKind, version};
use crate::manifest::tests::manifest;
use crate::{Manifest, Scope};

fn resource_list(group_version: &str, resources: &Value) -> Manifest {
    manifest(json!({"kind": "APIResourceList", "groupVersion": group_version, "resources": resources}))
}

fn found(kinds: &ServedKinds, group: &str, kind: &str, version: Option<&str>) -> String {
    match kinds.find(group, kind, version) {
        Ok(ServedKind { plural, scope, .. }) => {
            let found = kinds.find(group, kind, version).expect("it was found").api_version();
            format!("{found} {plural} {scope:?}")
        }
        Err(error) => error.to_string(),
    }
}

/// Returns the versions of a kind, the preferred one first, from the error for a version that is not served.
fn versions(kinds: &ServedKinds, group: &str, kind: &str) -> Vec<String> {
    match kinds.find(group, kind, Some("none")) {
        Err(UnknownKind::Version { served, .. }) => served,
        other => panic!("{other:?}"),
    }
}

#[test]
fn kinds_of_kubernetes_are_found() {
    let kinds = ServedKinds::built_in();
    let cases = [
        ("", "ConfigMap", None, "v1 configmaps Namespaced"),
        ("", "Endpoints", None, "v1 endpoints Namespaced"),
        ("", "Namespace", Some("v1"), "v1 namespaces Cluster"),
        ("networking.k8s.io", "Ingress", None, "networking.k8s.io/v1 ingresses Namespaced"),
        ("networking.k8s.io", "NetworkPolicy", None, "networking.k8s.io/v1 networkpolicies Namespaced"),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            None,
            "autoscaling/v2 horizontalpodautoscalers Namespaced",
        ),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            Some("v1"),
            "autoscaling/v1 horizontalpodautoscalers Namespaced",
        ),
    ];
    for (group, kind, version, expected) in cases {
        assert_eq!(found(&kinds, group, kind, version), expected);
    }
    let unknown: Vec<String> =
        kinds.iter().filter(|kind| kind.scope == Scope::Unknown).map(ServedKind::full_name).collect();
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn unknown_kind_is_reported_with_near_names() {
    let mut kinds = ServedKinds::built_in();
    kinds.set_failed("metrics.k8s.io");
    kinds.set_failed("apps");
    let cases = [
        ("app", "Deployment", None, r#"the cluster serves no API group "app"; did you mean apps?"#),
        (
            "extensions",
            "Ingress",
            None,
            r#"the cluster serves no API group "extensions"; did you mean Ingress.networking.k8s.io?"#,
        ),
        ("example.com", "Widget", None, r#"the cluster serves no API group "example.com""#),
        (
            "",
            "Configmap",
            None,
            "the cluster serves no kind Configmap in the core group; did you mean ConfigMap?",
        ),
        (
            "",
            "Deployment",
            None,
            "the cluster serves no kind Deployment in the core group; did you mean Deployment.apps?",
        ),
        ("batch", "Widget", None, r#"the cluster serves no kind Widget in the group "batch""#),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            Some("v2beta1"),
            r#"the cluster does not serve HorizontalPodAutoscaler of the group "autoscaling" in version v2beta1, but in v2, v1"#,
        ),
        (
            "metrics.k8s.io",
            "PodMetrics",
            None,
            r#"the cluster cannot report the kinds of the group "metrics.k8s.io"; check its APIService (`kubectl get apiservices`)"#,
        ),
        // A kind that is known although its group failed.
        ("apps", "Deployment", None, "apps/v1 deployments Namespaced"),
    ];
    for (group, kind, version, expected) in cases {
        assert_eq!(found(&kinds, group, kind, version), expected);
    }
    assert_eq!(kinds.failed_groups().collect::<Vec<_>>(), ["apps", "metrics.k8s.io"]);
    assert!(matches!(kinds.find("apps", "Widget", None), Err(UnknownKind::DiscoveryFailed { .. })));
}

#[test]
fn definition_adds_its_served_versions() {
    let definition = |spec: Value| {
        manifest(
            json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}),
        )
    };
    let mut kinds = ServedKinds::default();
    kinds.add_definition(&definition(json!({
        "group": "example.com",
        "scope": "Cluster",
        "names": {"kind": "Widget", "plural": "widgetry"},
        "versions": [
            {"name": "v1alpha1", "served": true}, {"name": "v1", "served": true},
            {"name": "v2", "served": false}, {"name": "v1beta1", "served": true}
        ]
    })));
    kinds.add_definition(&definition(json!({"group": "example.org", "names": {}})));
    assert_eq!(found(&kinds, "example.com", "Widget", None), "example.com/v1 widgetry Cluster");
    assert_eq!(versions(&kinds, "example.com", "Widget"), ["v1", "v1beta1", "v1alpha1"]);
    assert!(matches!(kinds.find("example.org", "Widget", None), Err(UnknownKind::Group { .. })));
}

#[test]
fn resource_list_adds_kinds_without_subresources() {
    let mut kinds = ServedKinds::default();
    let lists = [
        ("v1", json!([{"name": "pods", "kind": "Pod", "namespaced": true, "verbs": ["get", "list"]}])),
        (
            "example.com/v1beta1",
            json!([
                {"name": "widgetry", "kind": "Widget", "namespaced": false, "verbs": ["get"]},
                {"name": "widgetry/status", "kind": "Widget", "namespaced": false, "verbs": ["patch"]},
                {"name": "widgetry/scale", "kind": "Scale", "group": "autoscaling", "version": "v1", "namespaced": false}
            ]),
        ),
        ("example.com/v1", json!([{"name": "widgetry", "kind": "Widget", "namespaced": false}])),
    ];
    for (group_version, resources) in &lists {
        kinds.add_resource_list(resource_list(group_version, resources).object()).expect("a valid list");
    }
    assert_eq!(found(&kinds, "", "Pod", None), "v1 pods Namespaced");
    assert_eq!(found(&kinds, "example.com", "Widget", None), "example.com/v1 widgetry Cluster");
    assert!(kinds.find("", "Pod", None).is_ok_and(|kind| kind.has_verb("get") && !kind.has_verb("watch")));
    assert!(matches!(kinds.find("autoscaling", "Scale", None), Err(UnknownKind::Group { .. })));
    // A version that is added again is replaced.
    let again = resource_list("v1", &json!([{"name": "pods", "kind": "Pod", "namespaced": false}]));
    kinds.add_resource_list(again.object()).expect("a valid list");
    assert_eq!(found(&kinds, "", "Pod", None), "v1 pods Cluster");
    assert_eq!(versions(&kinds, "", "Pod"), ["v1"]);
    kinds.prefer("example.com", vec!["v1beta1".to_owned()]);
    assert_eq!(found(&kinds, "example.com", "Widget", None), "example.com/v1beta1 widgetry Cluster");
    assert_eq!(
        kinds.api_versions(),
        [
            "example.com/v1",
            "example.com/v1/Widget",
            "example.com/v1beta1",
            "example.com/v1beta1/Widget",
            "v1",
            "v1/Pod"
        ]
    );
}

#[test]
fn invalid_resource_list_is_rejected() {
    let cases = [
        (json!({"resources": []}), "groupVersion"),
        (json!({"groupVersion": "a/b/c", "resources": []}), "groupVersion"),
        (json!({"groupVersion": "v1"}), "resources"),
        (json!({"groupVersion": "v1", "resources": [{"kind": "Pod"}]}), "resources[].name"),
        (json!({"groupVersion": "v1", "resources": [{"name": "pods"}]}), "resources[].kind"),
        (
            json!({"groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod"}]}),
            "resources[].namespaced",
        ),
    ];
    for (list, field) in cases {
        let error = ServedKinds::default().add_resource_list(manifest(list).object()).expect_err(field);
        assert_eq!(error.field, field);
    }
}

#[test]
fn object_adds_its_kind_or_version() {
    let object = |api_version: &str, kind: &str, namespace: &str| {
        manifest(
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "namespace": namespace}}),
        )
    };
    let mut kinds = ServedKinds::built_in();
    kinds.add_object(&object("example.com/v1", "Policy", "ns"));
    kinds.add_object(&object("example.com/v1", "Policy", ""));
    kinds.add_object(&object("example.com/v1", "Zone", ""));
    kinds.add_object(&object("batch/v1beta1", "CronJob", "ns"));
    kinds.add_object(&object("a/b/c", "Invalid", "ns"));
    assert_eq!(found(&kinds, "example.com", "Policy", None), "example.com/v1 policies Namespaced");
    assert_eq!(found(&kinds, "example.com", "Zone", None), "example.com/v1 zones Cluster");
    assert_eq!(versions(&kinds, "batch", "CronJob"), ["v1", "v1beta1"]);
}

#[test]
fn versions_are_ordered_as_in_kubernetes() {
    // The example of the page that `version::priority` names.
    let expected =
        ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
    let mut versions = expected;
    versions.reverse();
    versions.sort_by_key(|name| version::priority(name));
    assert_eq!(versions, expected);
}
