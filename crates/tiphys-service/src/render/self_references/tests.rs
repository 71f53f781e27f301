use serde_json::{Value, json};
use tiphys_engine::{LookUp, Manifest, ValueConsumer, look_ups};
use tiphys_model::resources::{Application, DynamicParameter, ResourceReference};

use super::self_references;

#[test]
fn look_ups_of_own_objects_are_reported() {
    let manifests = [
        manifest(
            &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dns", "namespace": "shop"}}),
        ),
        manifest(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain"}})),
        manifest(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})),
        manifest(
            &json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}),
        ),
    ];
    let mut application = Application::default();
    application.spec.destination.namespace = "shop".to_owned();
    // Group, kind, namespace and name of a look-up, and the object of the warning.
    let cases = [
        (["", "ConfigMap", "shop", "dns"], Some("ConfigMap shop/dns")),
        (["", "ConfigMap", "", "dns"], Some("ConfigMap shop/dns")),
        (["", "ConfigMap", "shop", "plain"], Some("ConfigMap plain")),
        (["", "Namespace", "", "shop"], Some("Namespace shop")),
        (["", "Namespace", "ignored", "shop"], Some("Namespace shop")),
        (["apps", "Deployment", "shop", "web"], Some("Deployment.apps shop/web")),
        (["", "ConfigMap", "infra", "dns"], None),
        (["", "ConfigMap", "infra", "plain"], None),
        (["", "Secret", "shop", "dns"], None),
        (["extensions", "Deployment", "shop", "web"], None),
        (["apps", "Deployment", "shop", "other"], None),
    ];
    for (object, expected) in cases {
        let expected = expected.map(|object| {
            format!(
                "dynamic parameter \"p\" reads {object}, which the application renders itself: changes take effect one sync late"
            )
        });
        let found = self_references(&application, &look_ups_of(object), &manifests);
        assert_eq!(found, Vec::from_iter(expected), "{object:?}");
    }
}

fn manifest(value: &Value) -> Manifest {
    Manifest::new(value.as_object().expect("an object").clone())
}

fn look_ups_of([group, kind, namespace, name]: [&str; 4]) -> Vec<LookUp> {
    let resource_ref = ResourceReference {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        ..ResourceReference::default()
    };
    let parameter = DynamicParameter { name: "p".to_owned(), resource_ref, ..DynamicParameter::default() };
    look_ups([&parameter], &[], ValueConsumer::Plugin).expect("valid parameters")
}
