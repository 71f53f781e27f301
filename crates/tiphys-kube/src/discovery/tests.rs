use serde_json::json;
use tiphys_engine::{ServedKind, ServedKinds};

use super::{add_groups, group_versions, groups};

#[test]
fn aggregated_discovery_is_read() {
    let list = json!({"kind": "APIGroupDiscoveryList", "items": [
        {"metadata": {"name": "example.com"}, "versions": [
            {"version": "v1beta1", "freshness": "Current", "resources": [
                {"resource": "widgetry", "responseKind": {"group": "example.com", "version": "v1beta1", "kind": "Widget"},
                 "scope": "Namespaced", "verbs": ["get", "list"], "subresources": [{"subresource": "status"}]},
                {"resource": "parts", "responseKind": {"group": "", "version": "", "kind": ""}, "scope": "Cluster"}
            ]},
            {"version": "v1", "freshness": "Current", "resources": [
                {"resource": "widgetry", "responseKind": {"kind": "Widget"}, "scope": "Namespaced", "verbs": ["get"]}
            ]}
        ]},
        {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1beta1", "freshness": "Stale"}]}
    ]});
    let mut kinds = ServedKinds::default();
    add_groups(&mut kinds, &list);
    let names: Vec<String> = kinds.iter().map(ServedKind::full_name).collect();
    assert_eq!(names, ["Widget.example.com"]);
    let widget = kinds.find("example.com", "Widget", None).expect("a served kind");
    assert!(widget.version == "v1beta1" && widget.plural == "widgetry" && widget.has_verb("list"));
    assert!(kinds.find("example.com", "Widget", Some("v1")).is_ok_and(|kind| !kind.has_verb("list")));
    assert_eq!(kinds.failed_groups().collect::<Vec<_>>(), ["metrics.k8s.io"]);
}

#[test]
fn groups_of_older_servers_are_read() {
    let list = json!({"kind": "APIGroupList", "groups": [{
        "name": "autoscaling",
        "versions": [{"groupVersion": "autoscaling/v1", "version": "v1"}, {"groupVersion": "autoscaling/v2", "version": "v2"}],
        "preferredVersion": {"groupVersion": "autoscaling/v2", "version": "v2"}
    }]});
    let string = str::to_owned;
    assert_eq!(groups(&list), [(string("autoscaling"), vec![string("v2"), string("v1")])]);
    assert_eq!(
        group_versions(&list),
        [
            (string("autoscaling"), string("/apis/autoscaling/v1")),
            (string("autoscaling"), string("/apis/autoscaling/v2"))
        ]
    );
    let core = json!({"kind": "APIVersions", "versions": ["v1"]});
    assert_eq!(group_versions(&core), [(String::new(), string("/api/v1"))]);
}
