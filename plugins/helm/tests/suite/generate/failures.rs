//! Helm's failures word for word, with both versions: the files of `tests/testdata/failures`, which `UPDATE=1` writes.

use std::path::Path;

use serde_json::json;
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart_server::{ChartServer, Transport};
use tiphys_testkit::fixture;
use tiphys_testkit::registry::{Registry, RegistryAccess};

use crate::generate::dependencies::umbrella;
use crate::generate::remotes::{chart, with_dep};
use crate::generate::world::{Helm, World};

/// A failing world, and the numbers in its message that vary, such as ports.
struct Case {
    name: &'static str,
    world: World,
    ports: Vec<u16>,
}

/// Runs the cases with both versions of helm and compares the messages with the files.
fn check(cases: &[Case]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testdata/failures");
    for Case { name, world, ports } in cases {
        let messages = Helm::ALL.map(|helm| {
            let answer = world.generate(helm);
            assert_ne!(answer.code, Some(0), "{name}: {answer:?}");
            ports.iter().fold(answer.stderr, |text, port| text.replace(&port.to_string(), "PORT"))
        });
        let [four, three] = messages;
        fixture::compare(
            &folder.join(format!("{name}.txt")),
            &format!("-- helm 4 --\n{four}\n-- helm 3 --\n{three}\n"),
        );
    }
}

fn case(name: &'static str, world: World) -> Case {
    Case { name, world, ports: Vec::new() }
}

/// A chart with these lines in `Chart.yaml` after the first two.
fn with_metadata(lines: &str) -> World {
    World::chart("").file("chart/Chart.yaml", &format!("apiVersion: v2\nname: chart\n{lines}"))
}

#[test]
fn failures_of_values_are_reported_word_for_word() {
    let world = || {
        World::chart("")
            .file("chart/list.yaml", "- a\n")
            .file("chart/bad.yaml", "a: 1\nb: [\n")
            .file("chart/folder/x.yaml", "")
    };
    let with_file = |file: &str| world().array("value-files", &[file]);
    let schema = r#"{"required": ["image"], "properties": {"port": {"type": "integer"}}}"#;
    check(&[
        case("value-file-missing", with_file("missing.yaml")),
        case("value-file-folder", with_file("folder")),
        case("value-file-not-yaml", with_file("bad.yaml")),
        case("value-file-list", with_file("list.yaml")),
        case(
            "value-file-of-s3",
            with_file("s3://bucket/v.yaml").variable("TIPHYS_HELM_VALUES_FILE_SCHEMES", "s3"),
        ),
        case("inline-values-not-yaml", world().text("values", "a: [\n")),
        case("set-without-a-value", world().text("set.a,b", "1")),
        case("set-escaped-comma", world().text("set.a", r"\,\\,,")),
        case("set-negative-index", world().text("set.l[-1]", "1")),
        case("set-open-list", world().text("set-string.a", "{x")),
        case("set-file-missing", world().text("set-file.f", "missing")),
        case("schema", world().file("chart/values.schema.json", schema).text("set-string.port", "80")),
        case("schema-broken", world().file("chart/values.schema.json", "{\"type\": 5}")),
        case("schema-not-json", world().file("chart/values.schema.json", "{")),
    ]);
}

#[test]
fn failures_of_charts_are_reported_word_for_word() {
    check(&[
        case("release-name", World::chart("").text("release-name", "Bad_Name")),
        case("kube-version", World::chart("").text("kube-version", "abc")),
        case("kube-version-constraint", with_metadata("version: 0.1.0\nkubeVersion: '>=1.40.0'\n")),
        case("template-fail", World::chart("{{ fail \"stop\" }}")),
        case("template-required", World::chart("{{ required \"need a\" .Values.a }}")),
        case("template-syntax", World::chart("{{ nofunc }}")),
        case("template-nil-pointer", World::chart("{{ .Values.a.b.c }}")),
        case("template-not-yaml", World::chart("a:\n  b: 1\n c: [\n")),
        case("chart-missing", World::new("chart").file("chart/MyChart.yaml", "name: x\n")),
        case("chart-not-yaml", World::chart("").file("chart/Chart.yaml", "name: a\n  b: [\n")),
        case("chart-wrong-type", with_metadata("version: 0.1.0\nkeywords: 5\n")),
        case("chart-without-version", with_metadata("")),
        case("chart-library", with_metadata("version: 0.1.0\ntype: library\n")),
    ]);
}

#[test]
fn failures_of_dependencies_are_reported_word_for_word() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &[chart("dep", "1.0.0")]);
    let authority = Authority::new();
    let identity = authority.server();
    let registry = Registry::start(RegistryAccess::Open, Transport::Tls(&identity), &authority);
    registry.push("charts", &chart("other", "1.0.0"));
    let registry_url = format!("{}/charts", registry.host());
    let known =
        json!([{ "url": registry_url, "type": "helm", "enableOCI": true, "caData": authority.pem() }]);
    let registry_port =
        registry.host().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let lock = "dependencies:\n- name: dep\n  repository: file://../dep\n  version: 0.1.0\n\
                digest: sha256:0000000000000000000000000000000000000000000000000000000000000000\ngenerated: \"2026-01-01T00:00:00Z\"\n";
    let beside = || {
        umbrella("{name: dep, version: 0.1.0, repository: 'file://../dep'}").chart_files(
            "charts/dep",
            "dep",
            "0.1.0",
            "",
        )
    };
    let of = |name, world, port| Case { name, world, ports: vec![port] };
    let port = server.port();
    let url = server.url();
    check(&[
        case("dependency-missing", umbrella("{name: sub, version: 0.1.0, repository: ''}")),
        case("dependency-lock-stale", beside().file("charts/app/Chart.lock", lock)),
        case("dependency-name-unknown", umbrella("{name: sub, version: 0.1.0, repository: '@foo'}")),
        of("dependency-repository-missing", with_dep("1.0.0", &format!("{url}/nowhere")), port),
        of("dependency-version-missing", with_dep("2.0.0", &format!("{url}/stable")), port),
        of(
            "dependency-image-missing",
            with_dep("1.0.0", &format!("oci://{registry_url}")).repositories(&known),
            registry_port,
        ),
        of(
            "value-file-of-a-url-missing",
            World::chart("").array("value-files", &[&format!("{url}/v.yaml")]),
            port,
        ),
    ]);
}
