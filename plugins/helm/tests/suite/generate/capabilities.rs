//! The version of Kubernetes and the API versions of the cluster.

use crate::generate::world::{Helm, World};

#[test]
fn kube_version_is_that_of_the_destination() {
    for helm in Helm::ALL {
        assert_eq!(World::probe().seen(helm, "kube"), "v1.34.2");
    }
}

#[test]
fn kube_version_parameter_wins_and_is_normalized() {
    for helm in Helm::ALL {
        assert_eq!(World::probe().text("kube-version", "v1.30.11+IKS").seen(helm, "kube"), "v1.30.11");
    }
}

#[test]
fn invalid_kube_version_is_rejected() {
    let answer = World::probe().text("kube-version", "latest").generate(Helm::Four);
    assert_eq!(
        answer.error(),
        r#"could not parse kubernetes version latest: could not parse "latest" as version"#
    );
}

#[test]
fn missing_kube_version_is_that_of_helm() {
    for (helm, own) in [(Helm::Four, "v1.37.0"), (Helm::Three, "v1.")] {
        let seen = World::probe().variable("KUBE_VERSION", "").seen(helm, "kube");
        assert!(seen.starts_with(own), "{seen}");
    }
}

#[test]
fn kube_version_constraint_of_a_chart_is_enforced() {
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
fn api_versions_are_those_of_the_destination() {
    for helm in Helm::ALL {
        let world = World::probe();
        assert_eq!((world.seen(helm, "deployments"), world.seen(helm, "a")), ("true".into(), "false".into()));
    }
}

#[test]
fn api_versions_parameter_replaces_the_destinations() {
    for helm in Helm::ALL {
        let world = World::probe().array("api-versions", &["a/v1"]);
        assert_eq!((world.seen(helm, "deployments"), world.seen(helm, "a")), ("false".into(), "true".into()));
    }
}

#[test]
fn missing_api_versions_have_no_option() {
    let world = World::probe().variable("KUBE_API_VERSIONS", "");
    assert_eq!(world.seen(Helm::Four, "deployments"), "false");
    let answer = world.text("set.a", "").text("release-name", "Bad_Name").generate(Helm::Four);
    assert!(answer.error().contains("--set a=****** --include-crds`"), "{}", answer.error());
}

#[test]
fn api_versions_may_exceed_one_argument_or_variable() {
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
