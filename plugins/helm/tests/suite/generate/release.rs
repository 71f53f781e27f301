//! Names and namespaces of the release, and its values in templates.

use serde_json::{Value, json};

use crate::generate::world::{Helm, World};

#[test]
fn release_has_the_application_name_without_namespace() {
    for helm in Helm::ALL {
        let world = World::probe().variable("ARGOCD_APP_NAME", "team_app");
        let release: Value = serde_json::from_str(&world.seen(helm, "release")).unwrap();
        assert_eq!(release["Name"], "app");
        let world = world.text("release-name", "other");
        let release: Value = serde_json::from_str(&world.seen(helm, "release")).unwrap();
        assert_eq!(release["Name"], "other");
    }
}

#[test]
fn release_is_the_first_revision_of_an_installation() {
    for helm in Helm::ALL {
        let release: Value = serde_json::from_str(&World::probe().seen(helm, "release")).unwrap();
        let expected = json!({
            "IsInstall": true, "IsUpgrade": false, "Name": "my-app", "Namespace": "my-ns", "Revision": 1, "Service": "Helm"
        });
        assert_eq!(release, expected);
    }
}

#[test]
fn invalid_release_name_has_the_error_of_helm() {
    let expected = "release name \"Bad_Name\": invalid release name, must match regex \
                    ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53";
    for helm in Helm::ALL {
        let answer = World::probe().text("release-name", "Bad_Name").generate(helm);
        assert!(answer.error().ends_with(expected), "{}", answer.error());
    }
}

#[test]
fn release_namespace_is_the_parameter_or_destination() {
    for helm in Helm::ALL {
        let world =
            World::chart("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Namespace }}'}\n");
        assert_eq!(world.generate(helm).names(), ["ConfigMap/my-ns"]);
        let world = world.text("namespace", "other");
        let objects = world.generate(helm).objects();
        // Objects do not get this namespace: that of the destination is set later.
        assert_eq!(objects[0]["metadata"], json!({ "name": "other" }));
        let none =
            World::chart("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Namespace }}'}\n")
                .variable("ARGOCD_APP_NAMESPACE", "");
        assert_eq!(none.generate(helm).names(), ["ConfigMap/default"]);
    }
}

#[test]
fn release_name_may_be_a_helm_template() {
    for helm in Helm::ALL {
        let world = World::probe().text("release-name", "{{ \"ABC\" | lower }}");
        let release: Value = serde_json::from_str(&world.seen(helm, "release")).unwrap();
        assert_eq!(release["Name"], "abc");
    }
}
