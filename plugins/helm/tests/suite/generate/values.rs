//! Value files and inline values: order, precedence, size.

use serde_json::json;

use crate::generate::world::{Helm, World};

#[test]
fn last_value_file_wins() {
    for helm in Helm::ALL {
        let world = World::probe()
            .file("charts/probe/a.yaml", "from: a\nonly: a\n")
            .file("charts/probe/b.yaml", "from: b\n")
            .array("value-files", &["a.yaml", "b.yaml"]);
        assert_eq!(world.values(helm), json!({ "from": "b", "only": "a", "list": ["a", "b", "c"] }));
    }
}

#[test]
fn duplicate_value_file_keeps_its_first_place() {
    let world = World::probe()
        .file("charts/probe/a.yaml", "from: a\n")
        .file("charts/probe/b.yaml", "from: b\n")
        .array("value-files", &["a.yaml", "b.yaml", "a.yaml"]);
    for helm in Helm::ALL {
        assert_eq!(world.values(helm)["from"], "b");
    }
}

#[test]
fn trailing_newline_of_a_value_file_name_is_ignored() {
    for (name, expected) in [("a.yaml\n", "a"), ("a.yaml\r\n", "a"), ("/charts/probe/a.yaml\n\n", "a")] {
        let world = World::probe().file("charts/probe/a.yaml", "from: a\n").array("value-files", &[name]);
        for helm in Helm::ALL {
            assert_eq!(world.values(helm)["from"], expected, "{name:?}");
        }
    }
    // Argo CD itself looks up optional files and patterns, with the newline.
    let world = World::probe().file("charts/probe/a.yaml", "from: a\n").array("value-files", &["a.yaml\n"]);
    let world = world.text("ignore-missing-value-files", "true");
    assert_eq!(world.values(Helm::Four)["from"], "chart");
    let world = World::probe().file("charts/probe/a.yaml", "from: a\n").array("value-files", &["*.yaml\n"]);
    assert!(!world.generate(Helm::Four).error().is_empty());
}

#[test]
fn inline_values_override_all_files() {
    let world = World::probe()
        .file("charts/probe/a.yaml", "from: a\nonly: a\n")
        .array("value-files", &["a.yaml"])
        .text("values", "from: inline\n");
    for helm in Helm::ALL {
        assert_eq!(world.values(helm)["from"], "inline");
        assert_eq!(world.values(helm)["only"], "a");
    }
}

#[test]
fn values_object_overrides_inline_yaml() {
    let world = World::probe().text("values", "from: text\nonly: text\n").text(
        "values-object",
        r#"{"from":"object","big":9007199254740993,"f":1e3,"u":"\u00fc\ud83d\ude00","n":null}"#,
    );
    for helm in Helm::ALL {
        let values = world.values(helm);
        assert_eq!((&values["from"], &values["only"]), (&json!("object"), &json!(null)));
        assert_eq!((&values["f"], &values["u"]), (&json!(1000), &json!("ü😀")));
    }
}

#[test]
fn inline_values_are_not_expanded() {
    let world = World::probe().text("values", "from: $ARGOCD_APP_NAME $$ ${NOPE}\n");
    for helm in Helm::ALL {
        assert_eq!(world.values(helm)["from"], "$ARGOCD_APP_NAME $$ ${NOPE}");
    }
}

#[test]
fn inline_values_may_be_a_megabyte() {
    let text = "x".repeat(1 << 20);
    let world = World::probe().text("values", &format!("large: \"{text}\"\n"));
    for helm in Helm::ALL {
        assert_eq!(world.values(helm)["large"].as_str().map(str::len), Some(1 << 20));
    }
}

#[test]
fn missing_value_file_is_skipped_only_on_request() {
    let world = || World::probe().array("value-files", &["missing.yaml", "none*.yaml"]);
    for helm in Helm::ALL {
        let answer = World::probe().array("value-files", &["missing.yaml"]).generate(helm);
        let expected =
            "Error: open <path to cached source>/charts/probe/missing.yaml: no such file or directory";
        assert!(answer.error().ends_with(expected), "{}", answer.error());
        let values = world().text("ignore-missing-value-files", "true").values(helm);
        assert_eq!(values["from"], "chart");
    }
    let expected = "error resolving helm value files: values file glob \"none*.yaml\" matched no files";
    assert_eq!(world().generate(Helm::Four).error(), expected);
}

#[test]
fn patterns_are_expanded_in_order() {
    for helm in Helm::ALL {
        let values = |files: &[&str]| {
            let world = World::probe()
                .file("charts/probe/env/a.yaml", "from: a\na: 1\n")
                .file("charts/probe/env/b.yaml", "from: b\n")
                .file("charts/probe/env/sub/c.yaml", "from: c\n");
            world.array("value-files", files).values(helm)["from"].clone()
        };
        assert_eq!(values(&["env/*.yaml"]), "b");
        assert_eq!(values(&["env/**/*.yaml"]), "c");
        assert_eq!(values(&["env/*.yaml", "env/a.yaml"]), "a", "a named file keeps its place");
    }
}

#[test]
fn bracket_in_the_application_path_is_literal() {
    for helm in Helm::ALL {
        let world = World::new("we[b]")
            .file("we[b]/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 0.1.0\n")
            .file("we[b]/templates/t.yaml", "kind: X\nmetadata: {name: '{{ .Values.from }}'}\n")
            .file("we[b]/a.yaml", "from: a\n")
            .file("web/a.yaml", "from: decoy\n")
            .array("value-files", &["a.yaml"]);
        assert_eq!(world.generate(helm).names(), ["X/a"]);
    }
}
