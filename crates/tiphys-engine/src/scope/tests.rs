use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Scope, Scopes, set_namespace};
use crate::{Manifest, ServedKind, ServedKinds};

fn manifests(objects: Value) -> Vec<Manifest> {
    let Value::Array(objects) = objects else { panic!("a list") };
    objects.into_iter().map(|object| Manifest::new(object.as_object().expect("an object").clone())).collect()
}

fn crd(group: &str, kind: &str, scope: &str) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "x"}, "spec": {"group": group, "names": {"kind": kind}, "scope": scope}})
}

#[test]
fn scope_is_known_from_kubernetes_or_definition() {
    let scopes = Scopes::of(&manifests(json!([
        crd("example.com", "Cluster", "Cluster"),
        crd("example.com", "Thing", "Namespaced")
    ])));
    let cases = [
        ("", "ConfigMap", Scope::Namespaced),
        ("", "Namespace", Scope::Cluster),
        ("apps", "Deployment", Scope::Namespaced),
        ("rbac.authorization.k8s.io", "ClusterRole", Scope::Cluster),
        ("rbac.authorization.k8s.io", "Role", Scope::Namespaced),
        ("coordination.k8s.io", "Lease", Scope::Namespaced),
        ("resource.k8s.io", "DeviceTaintRule", Scope::Cluster),
        ("resource.k8s.io", "ResourceClaim", Scope::Namespaced),
        ("auditregistration.k8s.io", "AuditSink", Scope::Cluster),
        ("settings.k8s.io", "PodPreset", Scope::Namespaced),
        ("argoproj.io", "Application", Scope::Namespaced),
        ("argoproj.io", "ApplicationSet", Scope::Namespaced),
        ("argoproj.io", "AppProject", Scope::Namespaced),
        ("argoproj.io", "ClusterWorkflowTemplate", Scope::Unknown),
        ("example.com", "Cluster", Scope::Cluster),
        ("example.com", "Thing", Scope::Namespaced),
        ("example.com", "Other", Scope::Unknown),
        ("gateway.networking.k8s.io", "GatewayClass", Scope::Unknown),
    ];
    for (group, kind, expected) in cases {
        assert_eq!(scopes.scope(group, kind), expected, "{kind}.{group}");
    }
}

#[test]
fn missing_namespace_is_set_for_namespaced_kinds() {
    let mut objects = manifests(json!([
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "namespace": "own"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "c"}},
        {"apiVersion": "v1", "kind": "Service"},
        {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "d"}},
        {"metadata": {"name": "no kind"}},
    ]));
    let scopes = Scopes::of(&objects);
    let warnings = set_namespace(&mut objects, "ns", &scopes);
    let found: Vec<&str> = objects.iter().map(Manifest::namespace).collect();
    assert_eq!(found, ["ns", "own", "", "ns", "ns", ""]);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].message.contains("Thing.example.com"), "{}", warnings[0].message);
}

#[test]
fn served_kinds_have_scopes_after_definitions() {
    let kind = |kind: &str, scope| ServedKind {
        group: "example.org".to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: kind.to_lowercase(),
        scope,
        verbs: BTreeSet::new(),
    };
    let mut kinds = ServedKinds::default();
    kinds.insert(kind("Room", Scope::Namespaced));
    kinds.insert(kind("Tenant", Scope::Cluster));
    kinds.insert(kind("Guess", Scope::Unknown));
    let scopes = Scopes::of(&manifests(json!([crd("example.org", "Room", "Cluster")]))).with_served(&kinds);
    let expected = [
        ("Room", Scope::Cluster),
        ("Tenant", Scope::Cluster),
        ("Guess", Scope::Unknown),
        ("Other", Scope::Unknown),
    ];
    for (kind, scope) in expected {
        assert_eq!(scopes.scope("example.org", kind), scope, "{kind}");
    }
}
