//! The engine that renders a chart: the built-in one, or the `helm` program.

use std::fs;
use std::path::Path;

use tiphys_testkit::executable::make_executable;

use crate::generate::world::{Helm, World};

/// A template without anything special.
const PLAIN: &str = "kind: X\nmetadata: {name: {{ .Release.Name }}}\n";

/// A template that only the program can render.
const SIGNED: &str = "kind: X\nmetadata: {name: x}\ndata: {{ genCA \"x\" 1 | toJson | len }}\n";

/// The world without a helm on `PATH`.
fn without_helm(world: World) -> World {
    world.variable("TIPHYS_HELM", "no-such-helm")
}

#[test]
fn charts_need_no_program() {
    for engine in ["auto", "builtin", "builtin-helm3"] {
        let world = without_helm(World::chart(PLAIN)).variable("TIPHYS_HELM_ENGINE", engine);
        assert_eq!(world.generate(Helm::Four).names(), ["X/my-app"], "{engine}");
    }
}

#[test]
fn parameters_reach_both_engines() {
    let world = |engine: &str| {
        World::probe()
            .file("charts/probe/more.yaml", "list: [z]\nfrom: file\n")
            .file("charts/probe/text.txt", "of a file, with a comma\n")
            .array("value-files", &["more.yaml"])
            .text("values", "inline: {a: 1}\n")
            .text("set.number", "7")
            .text("set-string.text", "7")
            .text("set-file.file", "text.txt")
            .text("value.exact", "{\"a\": [1, \"x\"]}")
            .text("value.word", "\"a, b\"")
            .text("kube-version", "1.29.3")
            .array("api-versions", &["a/v1"])
            .variable("TIPHYS_HELM_ENGINE", engine)
    };
    for (helm, engine) in [(Helm::Four, "builtin"), (Helm::Three, "builtin-helm3")] {
        let program = world("program").generate(helm);
        let builtin = without_helm(world(engine)).generate(helm);
        assert_eq!((builtin.code, builtin.stdout), (Some(0), program.stdout));
        assert_eq!(world("compare").generate(helm).code, Some(0));
    }
}

#[test]
fn rules_are_those_of_the_helm_on_path() {
    const TEMPLATE: &str = "{{ range list \"A\" \"APIService\" \"MutatingWebhookConfiguration\" }}
---
kind: {{ . }}
metadata: {name: {{ $.Capabilities.HelmVersion.Version }}}
{{ end }}";
    let names = |helm, engine| {
        let world = World::chart(TEMPLATE).variable("TIPHYS_HELM_ENGINE", engine);
        world.generate(helm).names()
    };
    let of_three = ["APIService/v3.22.0", "A/v3.22.0", "MutatingWebhookConfiguration/v3.22.0"];
    let of_four = ["APIService/v4.3.1", "MutatingWebhookConfiguration/v4.3.1", "A/v4.3.1"];
    for engine in ["auto", "program", "compare"] {
        assert_eq!(names(Helm::Three, engine), of_three, "{engine}");
        assert_eq!(names(Helm::Four, engine), of_four, "{engine}");
    }
    assert_eq!(names(Helm::Three, "builtin"), of_four);
    assert_eq!(names(Helm::Four, "builtin-helm3"), of_three);
}

#[test]
fn program_renders_what_the_engine_cannot() {
    assert_eq!(World::chart(SIGNED).generate(Helm::Four).names(), ["X/x"]);
    let missing = without_helm(World::chart(SIGNED)).generate(Helm::Four);
    let message = missing.missing_program();
    assert!(
        message.contains("genCA is refused") && message.contains("no-such-helm was not found"),
        "{message}"
    );
    let builtin = World::chart(SIGNED).variable("TIPHYS_HELM_ENGINE", "builtin").generate(Helm::Four);
    assert!(builtin.only_helm().contains("genCA"), "{}", builtin.only_helm());
    assert!(builtin.only_helm().ends_with("; use --helm-engine program"), "{}", builtin.only_helm());
}

#[test]
fn wrapper_of_helm_renders_all_charts() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("helm").display().to_string();
    let script = "#!/bin/sh\n[ \"$1\" = version ] && echo v4.3.1 || printf 'kind: X\\nmetadata: {name: of-the-wrapper}\\n'\n";
    fs::write(&program, script).expect("a script");
    make_executable(Path::new(&program));
    let world = World::chart(PLAIN).variable("TIPHYS_HELM", &program);
    assert_eq!(world.generate(Helm::Four).names(), ["X/of-the-wrapper"]);
    let compared = world.variable("TIPHYS_HELM_ENGINE", "compare").generate(Helm::Four);
    assert_eq!(
        compared.difference(),
        "the built-in engine and helm differ: only the built-in engine renders X my-app in templates/t.yaml; use --helm-engine program, and report it"
    );
}

#[test]
fn comparison_names_the_engine_that_fails() {
    const FAILING: &str = "{{ fail \"name a team\" }}";
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("helm").display().to_string();
    for (template, result, expected) in [
        (
            PLAIN,
            "echo Error: broken >&2; exit 1",
            "only the built-in engine renders the chart: chart chart: broken",
        ),
        (
            FAILING,
            "echo 'kind: X'",
            "only helm renders the chart: chart chart: templates/t.yaml:1:3: name a team",
        ),
    ] {
        fs::write(&program, format!("#!/bin/sh\n[ \"$1\" = version ] && echo v4.3.1 && exit; {result}\n"))
            .expect("a script");
        make_executable(Path::new(&program));
        let world = World::chart(template).variable("TIPHYS_HELM", &program);
        let answer = world.variable("TIPHYS_HELM_ENGINE", "compare").generate(Helm::Four);
        assert!(answer.difference().contains(expected), "{}", answer.stderr);
    }
    let random = World::chart("kind: X\nmetadata: {name: x}\ndata: {{ randAlphaNum 8 }}\n");
    assert_eq!(random.variable("TIPHYS_HELM_ENGINE", "compare").generate(Helm::Four).names(), ["X/x"]);
    let both = World::chart(FAILING).variable("TIPHYS_HELM_ENGINE", "compare").generate(Helm::Four);
    assert!(both.error().starts_with("failed to execute helm template command"), "{}", both.stderr);
}

#[test]
fn failing_chart_is_reported_without_a_program() {
    let world = without_helm(World::chart("{{ required \"name a team\" .Values.team }}"));
    let answer = world.generate(Helm::Four);
    assert_eq!(answer.code, Some(1));
    let cause = "chart chart: templates/t.yaml:1:3: name a team\n";
    assert!(answer.stderr.contains(cause), "{}", answer.stderr);
}

#[test]
fn violated_schema_is_reported_without_the_value() {
    let world = World::chart(PLAIN)
        .file("chart/values.schema.json", r#"{"properties": {"size": {"type": "integer"}}}"#)
        .text("set-string.size", "s3cret-size");
    let answer = without_helm(world).generate(Helm::Four);
    assert!(answer.error().contains("- at '/size': "), "{}", answer.stderr);
    assert!(!answer.stderr.contains("s3cret-size"), "{}", answer.stderr);
}

#[test]
fn deeply_nested_charts_end_the_chart() {
    let mut world = World::chart(PLAIN).variable("TIPHYS_HELM_ENGINE", "builtin");
    let mut folder = "chart".to_owned();
    for _ in 0..150 {
        folder.push_str("/charts/c");
        world = world.file(&format!("{folder}/Chart.yaml"), "{apiVersion: v2, name: c, version: 0.1.0}");
    }
    assert!(world.generate(Helm::Four).only_helm().contains("is nested too deeply"));
}

#[test]
fn links_with_a_million_paths_end_the_chart() {
    let mut world = World::chart(PLAIN).variable("TIPHYS_HELM_ENGINE", "builtin").file("d20/file", "");
    for level in 0..20 {
        world = world.file(&format!("d{level}/file"), "");
        for link in ["a", "b"] {
            world = world.link(&format!("d{level}/{link}"), &format!("../d{}", level + 1));
        }
    }
    let answer = world.link("chart/start", "../d0").generate(Helm::Four);
    assert!(answer.only_helm().contains("the chart has too many files"), "{}", answer.stderr);
}

#[test]
fn large_values_end_the_chart() {
    let world = |file: &str| {
        let world = World::chart(PLAIN).variable("TIPHYS_HELM_ENGINE", "builtin");
        world.file(file, &vec![b'#'; (64 << 20) + 1]).array("value-files", &["large.yaml"])
    };
    let of_caller = world("chart/large.yaml").generate(Helm::Four);
    assert!(
        of_caller.only_helm().contains("large.yaml has more than 67108864 bytes"),
        "{}",
        of_caller.stderr
    );
    let of_chart = world("chart/values.yaml").file("chart/large.yaml", "").generate(Helm::Four);
    assert!(of_chart.only_helm().contains("have more than 67108864 bytes"), "{}", of_chart.stderr);
}

#[test]
fn limits_of_the_engine_end_one_chart() {
    let hours = "{{ range until 20000 }}{{ range until 20000 }}{{ end }}{{ end }}";
    let large = "{{ range until 100000 }}kind: X\n{{ end }}";
    for (template, variable, value) in
        [(hours, "TIPHYS_HELM_STEPS_MAX", "100000"), (large, "TIPHYS_HELM_OUTPUT_MAX", "1000")]
    {
        let answer = World::chart(template).variable(variable, value).generate(Helm::Four);
        let expected = format!("increase {variable}");
        assert!(answer.error().contains("chart/templates/t.yaml:1"), "{}", answer.error());
        assert!(answer.error().contains(&expected), "{}", answer.error());
    }
}
