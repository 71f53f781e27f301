//! The rendered objects: CRDs, tests, subcharts, notes, lists.

use crate::generate::world::{Helm, World};

/// A chart with a CRD, tests, notes and a subchart with the same.
fn umbrella() -> World {
    let definition = |name: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {name}}}\n"
        )
    };
    let pod = |name: &str, hook: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  annotations: {{helm.sh/hook: '{hook}'}}\n"
        )
    };
    World::new("chart")
        .file(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: chart\nversion: 0.1.0\ndependencies: [{name: sub, version: 0.1.0, condition: sub.enabled}]\n",
        )
        .file("chart/crds/own.yaml", &definition("own.example.com"))
        .file("chart/templates/t.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n")
        .file("chart/templates/tests/plain.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n")
        .file("chart/templates/tests/test.yaml", &pod("test", "test"))
        .file("chart/templates/tests/both.yaml", &pod("both", "test,post-install"))
        .file("chart/templates/hook.yaml", &pod("hook", "pre-install"))
        .file("chart/templates/NOTES.txt", "Thank you for installing.\n")
        .file("chart/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 0.1.0\n")
        .file("chart/charts/sub/crds/sub.yaml", &definition("sub.example.com"))
        .file("chart/charts/sub/templates/t.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sub}\n")
}

/// Sorted names: the two versions of helm print hooks in different orders.
fn sorted(world: &World, helm: Helm) -> Vec<String> {
    let mut names = world.generate(helm).names();
    names.sort();
    names.into_iter().map(|name| name.rsplit('/').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn crds_come_first_and_can_be_skipped() {
    for helm in Helm::ALL {
        let names = umbrella().generate(helm).names();
        let definitions = names.iter().take(2).map(String::as_str).collect::<Vec<_>>();
        assert_eq!(
            definitions,
            ["CustomResourceDefinition/own.example.com", "CustomResourceDefinition/sub.example.com"],
            "{names:?}"
        );
        let names = sorted(&umbrella().text("skip-crds", "true"), helm);
        assert_eq!(names, ["own", "plain", "sub", "both", "hook", "test"]);
    }
}

#[test]
fn disabled_subchart_is_not_rendered() {
    for helm in Helm::ALL {
        let names = sorted(&umbrella().text("set.sub.enabled", "false"), helm);
        assert_eq!(names, ["own", "plain", "own.example.com", "both", "hook", "test"]);
    }
}

#[test]
fn skip_tests_keeps_ordinary_objects_in_their_directory() {
    for helm in Helm::ALL {
        let names = sorted(&umbrella().text("skip-tests", "true").text("skip-crds", "true"), helm);
        assert_eq!(names, ["own", "plain", "sub", "hook"]);
    }
}

#[test]
fn notes_and_warnings_are_not_manifests() {
    for helm in Helm::ALL {
        let world = umbrella().file(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: chart\nversion: 0.1.0\ndeprecated: true\ndependencies: [{name: sub, version: 0.1.0}]\n",
        );
        let answer = world.generate(helm);
        assert!(
            !answer.stdout.contains("Thank you") && !answer.stdout.contains("deprecated"),
            "{}",
            answer.stdout
        );
        // Helm's warnings are not printed on success, as in Argo CD.
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    }
}

#[test]
fn chart_without_objects_is_valid() {
    for helm in Helm::ALL {
        assert_eq!(World::chart("").generate(helm).names(), [""; 0]);
    }
}

#[test]
fn values_are_validated_unless_that_is_skipped() {
    let world = || {
        World::probe()
            .file("charts/probe/values.schema.json", r#"{"properties":{"from":{"type":"integer"}}}"#)
    };
    for helm in Helm::ALL {
        let answer = world().generate(helm);
        assert!(
            answer.error().contains("Error: values don't meet the specifications of the schema"),
            "{}",
            answer.error()
        );
        assert_eq!(world().text("skip-schema-validation", "true").values(helm)["from"], "chart");
    }
}

#[test]
fn library_chart_is_rejected() {
    for helm in Helm::ALL {
        let world = World::chart("")
            .file("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 0.1.0\ntype: library\n");
        assert!(world.generate(helm).error().contains("Error: library charts are not installable"));
    }
}

#[test]
fn templates_have_no_access_to_a_cluster() {
    for helm in Helm::ALL {
        assert_eq!(World::probe().seen(helm, "found"), "{}");
    }
}

#[test]
fn output_is_deterministic() {
    for helm in Helm::ALL {
        let world = umbrella().text("set.b", "1").text("set.a", "2").text("set-string.c", "3");
        assert_eq!(world.generate(helm).stdout, world.generate(helm).stdout);
    }
}

#[test]
fn chart_may_be_the_root_of_the_repository() {
    for helm in Helm::ALL {
        let world = World::new("")
            .file("Chart.yaml", "apiVersion: v2\nname: chart\nversion: 0.1.0\n")
            .file("v.yaml", "name: root\n")
            .file("templates/t.yaml", "kind: X\nmetadata: {name: '{{ .Values.name }}'}\n")
            .array("value-files", &["/v.yaml"]);
        assert_eq!(world.generate(helm).names(), ["X/root"]);
    }
}
