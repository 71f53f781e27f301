use serde_json::{Value, json};

use super::Ownership;
use crate::manifest::tests::manifest;
use crate::{Manifest, TrackingMethod};

fn ownership(method: TrackingMethod, installation_id: &str) -> Ownership {
    Ownership { method, label_key: "app".to_owned(), installation_id: installation_id.to_owned() }
}

/// A Deployment `shop/web` with additional metadata.
fn deployment(metadata: Value) -> Manifest {
    let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}});
    if let (Some(own), Value::Object(more)) = (object["metadata"].as_object_mut(), metadata) {
        own.extend(more);
    }
    manifest(object)
}

fn tracked(id: &str) -> Value {
    json!({"annotations": {"argocd.argoproj.io/tracking-id": id}})
}

#[test]
fn tracking_id_determines_owner_and_pruning() {
    let own = "guestbook:apps/Deployment:shop/web";
    let guestbook = Some("guestbook");
    let cases = [
        (deployment(tracked(own)), guestbook, guestbook),
        (
            deployment(tracked("argocd_guestbook:apps/Deployment:shop/web")),
            Some("argocd_guestbook"),
            Some("argocd_guestbook"),
        ),
        (deployment(json!({})), None, None),
        (deployment(json!({"labels": {"app": "guestbook"}})), None, None),
        (deployment(tracked("guestbook")), None, None),
        (deployment(tracked(":apps/Deployment:shop/web")), None, None),
        (deployment(tracked("guestbook:Deployment:shop/web")), None, None),
        // Copied from another object, as some operators do.
        (deployment(tracked("guestbook:apps/Deployment:shop/other")), guestbook, None),
        (deployment(tracked("guestbook:apps/Deployment:other/web")), guestbook, None),
        (deployment(tracked("guestbook:apps/StatefulSet:shop/web")), guestbook, None),
        (
            deployment(
                json!({"annotations": {"argocd.argoproj.io/tracking-id": own}, "ownerReferences": [{"uid": "1"}]}),
            ),
            guestbook,
            None,
        ),
        (
            deployment(
                json!({"annotations": {"argocd.argoproj.io/tracking-id": own}, "ownerReferences": []}),
            ),
            guestbook,
            guestbook,
        ),
    ];
    for method in [TrackingMethod::Annotation, TrackingMethod::AnnotationAndLabel] {
        let ownership = ownership(method, "");
        for (live, owner, remover) in &cases {
            assert_eq!((ownership.owner(live), ownership.removed_by(live)), (*owner, *remover), "{live:?}");
        }
    }
}

#[test]
fn cluster_scoped_object_is_tracked_with_a_namespace() {
    let live = manifest(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop",
        "annotations": {"argocd.argoproj.io/tracking-id": "guestbook:/Namespace:shop/shop"}}}));
    assert_eq!(ownership(TrackingMethod::Annotation, "").removed_by(&live), Some("guestbook"));
}

#[test]
fn label_determines_owner_with_label_tracking() {
    let labelled = json!({"labels": {"app": "guestbook"}, "annotations": {"argocd.argoproj.io/tracking-id": "x:apps/Deployment:shop/other"}});
    let live = deployment(labelled);
    assert_eq!(ownership(TrackingMethod::Label, "").removed_by(&live), Some("guestbook"));
    assert_eq!(ownership(TrackingMethod::None, "").removed_by(&live), None);
    let endpoints = manifest(
        json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "web", "labels": {"app": "guestbook"}}}),
    );
    let label = ownership(TrackingMethod::Label, "");
    assert_eq!((label.owner(&endpoints), label.removed_by(&endpoints)), (Some("guestbook"), None));
}

#[test]
fn object_of_another_installation_has_no_owner() {
    let id = "guestbook:apps/Deployment:shop/web";
    let of = |installation: &str| {
        deployment(
            json!({"annotations": {"argocd.argoproj.io/tracking-id": id, "argocd.argoproj.io/installation-id": installation}}),
        )
    };
    let cases = [
        ("one", of("one"), Some("guestbook")),
        ("one", of("two"), None),
        ("one", deployment(tracked(id)), None),
        ("", of("two"), Some("guestbook")),
    ];
    for (own, live, expected) in cases {
        assert_eq!(ownership(TrackingMethod::Annotation, own).owner(&live), expected, "{own:?} {live:?}");
    }
}

#[test]
fn custom_resource_definition_has_no_owner() {
    let id = "guestbook:apiextensions.k8s.io/CustomResourceDefinition:/x";
    let live = manifest(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "x", "annotations": {"argocd.argoproj.io/tracking-id": id}}}));
    assert_eq!(ownership(TrackingMethod::Annotation, "").owner(&live), None);
}

#[test]
fn kinds_of_controllers_and_events_are_not_pruned() {
    let cases = [
        ("", "ConfigMap", true),
        ("", "Event", false),
        ("", "Endpoints", false),
        ("apps", "Deployment", true),
        ("events.k8s.io", "Event", false),
        ("metrics.k8s.io", "PodMetrics", false),
        ("discovery.k8s.io", "EndpointSlice", false),
        ("apiextensions.k8s.io", "CustomResourceDefinition", false),
        ("example.org", "Event", true),
    ];
    for (group, kind, expected) in cases {
        assert_eq!(Ownership::prunes(group, kind), expected, "{group}/{kind}");
    }
}
