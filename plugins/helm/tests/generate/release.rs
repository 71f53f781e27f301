//! Names, namespaces and what templates see of the release.

use serde_json::{Value, json};

use crate::world::{Helm, World};

#[test]
fn a_release_is_named_after_the_application_without_its_namespace() {
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
fn a_release_is_the_first_of_an_installation() {
    for helm in Helm::ALL {
        let release: Value = serde_json::from_str(&World::probe().seen(helm, "release")).unwrap();
        let expected = json!({
            "IsInstall": true, "IsUpgrade": false, "Name": "my-app", "Namespace": "my-ns", "Revision": 1, "Service": "Helm"
        });
        assert_eq!(release, expected);
    }
}

#[test]
fn a_bad_release_name_fails_with_the_text_of_helm() {
    let expected = "release name \"Bad_Name\": invalid release name, must match regex \
                    ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53";
    for helm in Helm::ALL {
        let answer = World::probe().text("release-name", "Bad_Name").generate(helm);
        assert!(answer.error().ends_with(expected), "{}", answer.error());
    }
}

#[test]
fn the_namespace_of_the_release_is_the_parameter_or_that_of_the_destination() {
    for helm in Helm::ALL {
        let world =
            World::chart("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Namespace }}'}\n");
        assert_eq!(world.generate(helm).names(), ["ConfigMap/my-ns"]);
        let world = world.text("namespace", "other");
        let objects = world.generate(helm).objects();
        // Objects get no namespace of it: that is the destination's, later.
        assert_eq!(objects[0]["metadata"], json!({ "name": "other" }));
        let none =
            World::chart("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Namespace }}'}\n")
                .variable("ARGOCD_APP_NAMESPACE", "");
        assert_eq!(none.generate(helm).names(), ["ConfigMap/default"]);
    }
}

#[test]
fn a_release_name_may_be_a_template_of_helm() {
    for helm in Helm::ALL {
        let world = World::probe().text("release-name", "{{ \"ABC\" | lower }}");
        let release: Value = serde_json::from_str(&world.seen(helm, "release")).unwrap();
        assert_eq!(release["Name"], "abc");
    }
}
