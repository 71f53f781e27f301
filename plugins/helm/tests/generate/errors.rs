//! The texts of failures: Argo CD's around helm's, for both versions of helm (`spec/helm-parity.md` 4.4).

use crate::world::{Helm, World};

/// How native shows the command of these cases.
const COMMAND: &str = "helm template . --name-template my-app --namespace my-ns --kube-version 1.34.2";

fn whole(options: &str, stderr: &str) -> String {
    let options = if options.is_empty() { String::new() } else { format!("{options} ") };
    format!(
        "failed to execute helm template command: failed running helm: `{COMMAND} {options}<api versions removed> --include-crds` failed \
         exit status 1: {stderr}"
    )
}

#[test]
fn a_failure_shows_the_command_and_what_helm_said() {
    let world = || {
        World::probe()
            .file("charts/probe/list.yaml", "- a\n")
            .file("charts/probe/bad.yaml", "a: [\n")
            .file("charts/probe/folder/x.yaml", "")
    };
    let place = "<path to cached source>/charts/probe";
    let of_file = |file: &str| format!("--values {place}/{file}");
    for helm in Helm::ALL {
        let cases = [
            ("missing.yaml", format!("Error: open {place}/missing.yaml: no such file or directory")),
            ("folder", format!("Error: read {place}/folder: is a directory")),
        ];
        for (file, stderr) in cases {
            let answer = world().array("value-files", &[file]).generate(helm);
            assert_eq!(answer.error(), whole(&of_file(file), &stderr));
        }
        for (file, words) in [
            ("bad.yaml", "error converting YAML to JSON: yaml: line 1: did not find expected node content"),
            ("list.yaml", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ] {
            let answer = world().array("value-files", &[file]).generate(helm);
            let beginning = whole(&of_file(file), &format!("Error: failed to parse {place}/{file}: "));
            assert!(
                answer.error().starts_with(&beginning) && answer.error().ends_with(words),
                "{}",
                answer.error()
            );
        }
    }
}

#[test]
fn the_file_of_inline_values_is_not_told() {
    for helm in Helm::ALL {
        let answer = World::probe().text("values", "a: [\n").generate(helm);
        let file = "<temp file with values from source.helm.values/valuesObject>";
        let beginning = whole(&format!("--values {file}"), &format!("Error: failed to parse {file}: "));
        assert!(answer.error().starts_with(&beginning), "{}", answer.error());
    }
}

#[test]
fn values_that_helm_cannot_set_fail_with_its_text() {
    let cases = [
        (
            "set.l[-1]",
            "1",
            "--set l[-1]=1",
            "Error: failed parsing --set data: negative -1 index not allowed",
        ),
        (
            "set-string.a",
            "{x",
            "--set-string a={x",
            "Error: failed parsing --set-string data: list must terminate with '}'",
        ),
        (
            "set-file.f",
            "missing",
            "--set-file f=<path to cached source>/charts/probe/missing",
            "Error: failed parsing --set-file data: open <path to cached source>/charts/probe/missing: no such file or directory",
        ),
    ];
    for (name, value, option, stderr) in cases {
        for helm in Helm::ALL {
            let answer = World::probe().text(name, value).generate(helm);
            assert!(answer.error().starts_with(&whole(option, stderr)), "{}", answer.error());
        }
    }
}

#[test]
fn failures_of_templates_are_told_as_helm_tells_them() {
    let debug = "\n\nUse --debug flag to render out invalid YAML";
    let cases = [
        ("{{ fail \"stop\" }}", "Error: execution error at (chart/templates/t.yaml:1:3): stop"),
        (
            "{{ required \"need a\" .Values.a }}",
            "Error: execution error at (chart/templates/t.yaml:1:3): need a",
        ),
        ("{{ nofunc }}", "Error: parse error at (chart/templates/t.yaml:1): function \"nofunc\" not defined"),
        (
            "a: [",
            "Error: YAML parse error on chart/templates/t.yaml: error converting YAML to JSON: yaml: line 1: did not find expected node content",
        ),
    ];
    for (template, stderr) in cases {
        for helm in Helm::ALL {
            let answer = World::chart(template).generate(helm);
            assert_eq!(answer.error(), whole("", &format!("{stderr}{debug}")));
        }
    }
    let answer = World::chart("{{ .Values.a.b.c }}").generate(Helm::Four);
    let stderr = "Error: chart/templates/t.yaml:1:10\n  executing \"chart/templates/t.yaml\" at <.Values.a.b.c>:\n    nil pointer evaluating \
                  interface {}.b";
    assert_eq!(answer.error(), whole("", &format!("{stderr}{debug}")));
    let answer = World::chart("{{ .Values.a.b.c }}").generate(Helm::Three);
    assert!(answer.error().contains("nil pointer evaluating interface {}.b"), "{}", answer.error());
}

#[test]
fn a_folder_without_a_chart_fails_as_in_native() {
    let answer = World::new("charts").file("charts/MyChart.yaml", "name: x\n").generate(Helm::Four);
    let place = "<path to cached source>/charts/Chart.yaml";
    let expected = format!(
        "error getting helm repos: error retrieving helm dependency repos: error reading helm chart from {place}: open {place}: no such file \
         or directory"
    );
    assert_eq!(answer.error(), expected);
}

#[test]
fn a_chart_s_own_file_that_is_none_fails_with_the_text_of_helm_or_its_line() {
    let answer = World::chart("").file("chart/Chart.yaml", "name: a\n  b: [\n").generate(Helm::Four);
    let beginning = "error getting helm repos: error retrieving helm dependency repos: error unmarshalling the helm chart while getting helm \
                     dependency repos: error converting YAML to JSON: yaml: line 2: ";
    assert!(answer.error().starts_with(beginning), "{}", answer.error());
    for helm in Helm::ALL {
        let answer = World::chart("").file("chart/Chart.yaml", "apiVersion: v2\nname: a\n").generate(helm);
        assert!(
            answer.error().contains("Error: validation: chart.metadata.version is required"),
            "{}",
            answer.error()
        );
    }
}

#[test]
fn a_version_of_helm_that_argo_cd_does_not_know_is_refused_in_its_words() {
    let answer = World::probe().text("version", "3").generate(Helm::Four);
    let expected = "error initializing helm app object: failed to create new helm command: helm version '3' is not supported";
    assert_eq!(answer.error(), expected);
    for version in ["v3", "v4", ""] {
        assert_eq!(World::probe().text("version", version).values(Helm::Four)["from"], "chart");
    }
}

#[test]
fn a_helm_that_is_not_there_or_too_old_is_named_with_what_to_do() {
    let answer = World::probe().variable("TIPHYS_HELM", "no-such-helm").generate(Helm::Four);
    let expected =
        "failed running helm: no-such-helm was not found on PATH; install helm 4, or name one in TIPHYS_HELM";
    assert_eq!(answer.error(), expected);
    let cases = [
        (
            "v2.17.0",
            "is helm v2.17.0, which is not supported; install helm 4, or helm 3.20 or later, or name one in TIPHYS_HELM",
        ),
        (
            "v5.0.0",
            "is helm v5.0.0, which is not supported; install helm 4, or helm 3.20 or later, or name one in TIPHYS_HELM",
        ),
        (
            "hello",
            "says that its version is \"hello\", which is no version of helm; name another one in TIPHYS_HELM",
        ),
    ];
    for (version, expected) in cases {
        // Above the repository, so that its path is no part of the machine's that a test looks for.
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("helm").display().to_string();
        std::fs::write(&program, format!("#!/bin/sh\necho {version}\n")).unwrap();
        crate::security::make_executable(&program);
        let answer = World::probe().variable("TIPHYS_HELM", &program).generate(Helm::Four);
        assert_eq!(answer.error(), format!("{program} {expected}"));
    }
}
