//! The version of Kubernetes and what the cluster has.

use crate::world::{Helm, World};

#[test]
fn the_kube_version_is_that_of_the_destination() {
    for helm in Helm::ALL {
        assert_eq!(World::probe().seen(helm, "kube"), "v1.34.2");
    }
}

#[test]
fn the_parameter_kube_version_beats_the_destination_and_is_normalised() {
    for helm in Helm::ALL {
        assert_eq!(World::probe().text("kube-version", "v1.30.11+IKS").seen(helm, "kube"), "v1.30.11");
    }
}

#[test]
fn a_kube_version_that_cannot_be_parsed_is_refused() {
    let answer = World::probe().text("kube-version", "latest").generate(Helm::Four);
    assert_eq!(
        answer.error(),
        r#"could not parse kubernetes version latest: could not parse "latest" as version"#
    );
}

#[test]
fn without_a_kube_version_helm_takes_its_own() {
    for (helm, own) in [(Helm::Four, "v1.37.0"), (Helm::Three, "v1.")] {
        let seen = World::probe().variable("KUBE_VERSION", "").seen(helm, "kube");
        assert!(seen.starts_with(own), "{seen}");
    }
}

#[test]
fn the_constraint_of_a_chart_is_enforced() {
    let world = || {
        World::chart("").file(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: chart\nversion: 0.1.0\nkubeVersion: '>=1.40.0'\n",
        )
    };
    for helm in Helm::ALL {
        let answer = world().generate(helm);
        let expected =
            "Error: chart requires kubeVersion: >=1.40.0 which is incompatible with Kubernetes v1.34.2";
        assert!(answer.error().contains(expected), "{}", answer.error());
        assert!(world().text("kube-version", "1.40.1").generate(helm).names().is_empty());
    }
}

#[test]
fn api_versions_are_those_of_the_destination_with_their_kinds() {
    for helm in Helm::ALL {
        let world = World::probe();
        assert_eq!((world.seen(helm, "deployments"), world.seen(helm, "a")), ("true".into(), "false".into()));
    }
}

#[test]
fn the_parameter_api_versions_replaces_those_of_the_destination() {
    for helm in Helm::ALL {
        let world = World::probe().array("api-versions", &["a/v1"]);
        assert_eq!((world.seen(helm, "deployments"), world.seen(helm, "a")), ("false".into(), "true".into()));
    }
}

#[test]
fn without_api_versions_there_is_no_option() {
    let world = World::probe().variable("KUBE_API_VERSIONS", "");
    assert_eq!(world.seen(Helm::Four, "deployments"), "false");
    let answer = world.text("set.a", "").text("release-name", "Bad_Name").generate(Helm::Four);
    assert!(answer.error().contains("--set a=****** --include-crds`"), "{}", answer.error());
}

#[test]
fn a_list_of_api_versions_beyond_what_one_argument_or_variable_holds_passes() {
    let many: Vec<String> =
        (0..20_000).map(|number| format!("group{number}.example.com/v1/Kind{number}")).collect();
    let many = format!("{},a/v1,apps/v1/Deployment", many.join(","));
    assert!(many.len() > 600_000);
    for helm in Helm::ALL {
        let world = World::probe().file("../versions", &many);
        let file = world.root().join("../versions").display().to_string();
        let world = world.variable("KUBE_API_VERSIONS", "").variable("KUBE_API_VERSIONS_FILE", &file);
        assert_eq!((world.seen(helm, "deployments"), world.seen(helm, "a")), ("true".into(), "true".into()));
    }
}
