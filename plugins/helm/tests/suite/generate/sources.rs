//! The other commands: `match`, `check` and `version`.

use crate::generate::world::{Helm, World};

#[test]
fn chart_directory_is_detected_by_file_names() {
    for (file, expected) in [
        ("Chart.yaml", "Chart.yaml\n"),
        ("MyChart.yaml", "MyChart.yaml\n"),
        ("chart.yaml", ""),
        ("sub/Chart.yaml", ""),
    ] {
        let answer = World::new("app").file(&format!("app/{file}"), "").run(Helm::Four, "match");
        assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (Some(0), expected, ""));
    }
}

#[test]
fn check_prints_what_would_run() {
    let answer = World::probe().text("values", "a: 1\n").text("set.b", "x").run(Helm::Four, "check");
    let lines: Vec<&str> = answer.stdout.lines().collect();
    assert!(
        lines[0].starts_with("helm: v4.3.1 /") && lines[0].ends_with("/target/tools/bin/helm"),
        "{answer:?}"
    );
    let expected = "command: helm template . --name-template my-app --namespace my-ns --kube-version 1.34.2 --set b=****** --values <temp file with \
                    values from source.helm.values/valuesObject> --api-versions v1 --api-versions apps/v1 --api-versions \
                    apps/v1/Deployment --include-crds";
    assert_eq!(lines[1..], [expected]);
    let answer = World::probe().text("skip-crd", "true").run(Helm::Four, "check");
    assert_eq!(answer.error(), "parameter skip-crd is unknown; did you mean skip-crds?");
}

#[test]
fn version_prints_both_versions() {
    let answer = World::probe().run(Helm::Four, "version");
    assert!(answer.stdout.starts_with("tiphys-helm 0.0.0"), "{answer:?}");
    assert!(answer.stdout.contains("\nhelm: v4.3.1 /"), "{answer:?}");
    let answer = World::probe().variable("TIPHYS_HELM", "no-such-helm").run(Helm::Four, "version");
    assert_eq!(answer.code, Some(0));
    assert!(
        answer.stdout.contains("\nhelm: failed running helm: no-such-helm was not found in PATH"),
        "{answer:?}"
    );
}

#[test]
fn invalid_usage_exits_with_2() {
    let answer = World::probe().run(Helm::Four, "generat");
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""));
    assert!(answer.stderr.contains("'generate'"), "{}", answer.stderr);
}
