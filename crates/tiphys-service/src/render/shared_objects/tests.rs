use serde_json::{Value, json};
use tiphys_engine::Manifest;
use tiphys_model::project_rules::ProjectCluster;
use tiphys_model::resources::Destination;

use super::SharedObjects;
use crate::context::projects::KnownClusters;

fn object(api_version: &str, kind: &str, metadata: &Value) -> Manifest {
    let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
    Manifest::new(object.as_object().expect("an object").clone())
}

/// Adds objects of two applications with these destinations: server, name and namespace.
fn shared(destinations: [[&str; 3]; 2], objects: [&[Manifest]; 2]) -> Vec<String> {
    let known = KnownClusters::of_secrets(vec![ProjectCluster {
        server: "https://prod.example.org".to_owned(),
        name: "prod".to_owned(),
        ..ProjectCluster::default()
    }]);
    let mut all = SharedObjects::default();
    let mut messages = Vec::new();
    for (index, [server, name, namespace]) in destinations.into_iter().enumerate() {
        let destination =
            Destination { server: server.to_owned(), name: name.to_owned(), namespace: namespace.to_owned() };
        let application = ["argocd/a", "argocd/b"][index];
        messages.extend(all.add(known.of(&destination), namespace, application, objects[index]));
    }
    messages
}

#[test]
fn object_of_two_applications_in_one_cluster_is_shared() {
    let map = [object("v1", "ConfigMap", &json!({"name": "m"}))];
    let cases = [
        (["https://x", "", "ns"], ["https://x", "", "ns"], true),
        (["https://x/", "", "ns"], ["https://x", "", "ns"], true),
        (["https://x", "", "ns"], ["https://y", "", "ns"], false),
        (["https://x", "", "ns"], ["https://x", "", "other"], false),
        (["", "prod", "ns"], ["https://prod.example.org", "", "ns"], true),
        (["", "in-cluster", "ns"], ["https://kubernetes.default.svc", "", "ns"], true),
        (["", "unknown", "ns"], ["", "unknown", "ns"], true),
        (["", "unknown", "ns"], ["https://x", "", "ns"], false),
        (["", "", "ns"], ["", "", "ns"], false),
    ];
    for (first, second, expected) in cases {
        let messages = shared([first, second], [&map, &map]);
        let message = "ConfigMap/m is part of applications argocd/b and argocd/a";
        assert_eq!(messages, if expected { vec![message] } else { Vec::new() }, "{first:?} {second:?}");
    }
}

#[test]
fn objects_are_compared_by_scope_and_namespace() {
    let named = |name: &str, namespace: &str| json!({"name": name, "namespace": namespace});
    let cases = [
        ([("v1", "Namespace", json!({"name": "n"})), ("v1", "Namespace", named("n", "x"))], true),
        ([("v1", "ConfigMap", json!({"name": "n"})), ("v1", "ConfigMap", named("n", "one"))], true),
        ([("v1", "ConfigMap", json!({"name": "n"})), ("v1", "ConfigMap", json!({"name": "n"}))], false),
        ([("v1", "ConfigMap", named("n", "x")), ("v1", "Secret", named("n", "x"))], false),
        ([("apps/v1", "Deployment", named("n", "x")), ("apps/v1beta1", "Deployment", named("n", "x"))], true),
        ([("v1", "Pod", json!({"generateName": "n"})), ("v1", "Pod", json!({"generateName": "n"}))], false),
        (
            [
                ("apiextensions.k8s.io/v1", "CustomResourceDefinition", json!({"name": "n"})),
                ("apiextensions.k8s.io/v1", "CustomResourceDefinition", json!({"name": "n"})),
            ],
            false,
        ),
    ];
    for ([first, second], expected) in cases {
        let objects = [&first, &second].map(|(version, kind, metadata)| [object(version, kind, metadata)]);
        let destinations = [["https://x", "", "one"], ["https://x", "", "two"]];
        let messages = shared(destinations, [&objects[0], &objects[1]]);
        assert_eq!(messages.len(), usize::from(expected), "{first:?} {second:?}: {messages:?}");
    }
}
