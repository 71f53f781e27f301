use serde_json::{Value, json};
use tiphys_model::resources::{ApplicationSource, GoFields};

use super::{ChartKeys, FileKind};
use crate::helm::value_path::ValuePath;

const METADATA: &str = "{apiVersion: v2, name: api, version: 1.3.0}";

/// Whether the chart reads a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Read,
    Unread,
    /// The chart may read any value.
    Unknown,
}
use Answer::{Read, Unknown, Unread};

fn answer(files: &[(&str, &str)], path: &str) -> Answer {
    let path = ValuePath::of_name(path).expect("a valid path");
    match ChartKeys::of(files.iter().map(|(path, text)| (*path, text.as_bytes()))) {
        None => Unknown,
        Some(keys) if keys.can_read(&path) => Read,
        Some(_) => Unread,
    }
}

#[test]
fn templates_name_the_values_that_they_read() {
    let cases = [
        ("replicas: {{ .Values.replicaCount }}", "replicas", Unread),
        ("replicas: {{ .Values.replicaCount }}", "replicaCount", Read),
        ("{{ .Values.image.tag }}", "image.tag", Read),
        ("{{ .Values.image.tag }}", "image.pullPolicy", Unread),
        ("{{ .Values.image.tag }}", "image", Read),
        ("{{ .Values.image.tag }}", r"image\.tag", Unread),
        ("{{ index .Values.a \"b.c\" }}", r"a.b\.c", Read),
        ("{{ .Values.a | toYaml }}", "a.b.c", Read),
        ("{{- toYaml .Values.a | nindent 4 }}", "a.b", Read),
        ("{{- with .Values.a }}{{ toYaml . }}{{ end }}", "a.b", Read),
        ("{{- with .Values.a }}{{ toYaml . }}{{ end }}", "b", Unread),
        ("{{ with .Values.a }}{{ .b }}{{ end }}", "a.b", Read),
        ("{{ range $k, $v := .Values.a }}{{ $k }}: {{ $v }}{{ end }}", "a.b", Read),
        ("{{ range .Values.hosts }}{{ .name }}{{ end }}", "hosts[0].other", Read),
        ("{{ (index .Values.hosts 0).name }}", "hosts[0].other", Read),
        ("{{ index .Values \"a\" \"b\" }}", "c", Unknown),
        ("{{ index .Values.a \"b\" }}", "a.c", Read),
        ("{{ index .Values.a \"b-c\" }}", "x.b-c", Unread),
        ("{{ get .Values \"a\" }}", "a", Unknown),
        ("{{ dig \"b\" \"c\" 1 .Values.a }}", "a.x", Read),
        ("{{ dig \"a\" \"b\" 1 .Values }}", "x", Unknown),
        ("{{ pluck \"b\" .Values.a .Values.c | first }}", "c.d", Read),
        ("{{ (.Values.a).b }}", "a.c", Unread),
        ("{{ ((.Values.a).b).c }}", "a.b", Read),
        ("{{ ((.Values.a).b).c }}", "a.x", Unread),
        ("{{ default (.Values.a) .Values.b }}", "a.c", Read),
        ("{{ (default .Values.a .Values.b).c }}", "a.x", Read),
        ("{{ $.Values.a.b }}", "a.b", Read),
        ("{{ range .Values.x }}{{ $.Values.a.b }}{{ end }}", "a.c", Unread),
        ("{{ toYaml $.Values }}", "x", Unknown),
        ("{{ toYaml . }}", "x", Unknown),
        ("{{ toJson $ }}", "x", Unknown),
        ("{{ range $k, $v := . }}{{ end }}", "x", Unknown),
        ("{{ $root := . }}{{ $root.Values.a }}", "a", Read),
        ("{{ $root := . }}{{ $root.Values.a }}", "b", Unread),
        ("{{ $root := . -}}{{ toYaml $root }}", "b", Unknown),
        ("{{ $v := .Values }}{{ $v.a }}", "b", Unknown),
        ("{{ $a := .Values.a }}{{ $a.b }}", "a.c", Read),
        ("{{ include \"x\" . }}{{ define \"x\" }}{{ .Values.a }}{{ end }}", "b", Unread),
        ("{{ include \"x\" . }}{{ define \"x\" }}{{ toYaml . }}{{ end }}", "b", Unknown),
        ("{{ include \"x\" .Values }}", "b", Unknown),
        ("{{ include \"x\" .Values.a }}", "a.b", Read),
        ("{{ include \"x\" (dict \"root\" $ \"a\" .Values.a) }}", "a.b", Read),
        ("{{ include \"x\" (dict \"root\" $ \"a\" .Values.a) }}", "c", Unread),
        ("{{ include (print $.Template.BasePath \"/c.yaml\") . | sha256sum }}", "d", Unread),
        ("{{ dict \"root\" $ | toYaml }}", "c", Unknown),
        ("{{ template \"x\" $ }}", "c", Unread),
        ("{{ hasKey .Values \"a\" }}", "b", Unknown),
        ("{{ index . \"Values\" \"a\" }}", "b", Unknown),
        ("{{ .Values.AsMap }}", "b", Unknown),
        ("{{ .Values.PathValue \"a.b\" }}", "c", Unknown),
        ("{{ .Values.a.b }}{{/* .Values.c is old, as is d */}}", "c", Read),
        ("{{ .Values.a.b }}{{- /* .Values.c is old, as is d */ -}}", "d", Unread),
        ("{{ \"}}\" }}{{ .Values.a }}", "a", Read),
        ("{{ .Values.a }}", "global.x", Read),
        ("{{ .Values.a }}", "x\\.y", Unread),
        ("{{ `{{ .Values.b }}` }}", "b", Read),
        ("{{ tpl .Values.a . }}", "b", Unread),
        ("{{ tpl .Values.a . }}{{ `{{` }}", "b", Unknown),
        ("{{ if and .Values.a.on (not .Values.b.off) }}{{ end }}", "b.on", Read),
        ("{{ if and .Values.a.on (not .Values.b.off) }}{{ end }}", "a.no", Unread),
    ];
    for (template, path, expected) in cases {
        let files = [("Chart.yaml", METADATA), ("templates/x.yaml", template)];
        assert_eq!(answer(&files, path), expected, "{path} in {template}");
        let in_helpers = [("Chart.yaml", METADATA), ("templates/_helpers.tpl", template)];
        assert_eq!(answer(&in_helpers, path), expected, "{path} in {template} of _helpers.tpl");
        let in_subchart = [
            ("Chart.yaml", METADATA),
            ("charts/db/Chart.yaml", "{name: db, version: 1.0.0}"),
            ("charts/db/templates/NOTES.txt", template),
        ];
        assert_eq!(
            answer(&in_subchart, &format!("db.{path}")),
            expected,
            "{path} in {template} of a subchart"
        );
    }
}

#[test]
fn other_files_of_a_chart_name_values() {
    const TEMPLATE: (&str, &str) = ("templates/x.yaml", "{{ .Values.a }}");
    const WITH_TPL: (&str, &str) = ("templates/x.yaml", "{{ tpl (.Files.Get \"files/x.conf\") . }}");
    type Files = &'static [(&'static str, &'static str)];
    let cases: [(Files, &str, Answer); 22] = [
        (&[TEMPLATE, ("values.yaml", "b: 1\n")], "b", Read),
        (&[TEMPLATE, ("values.yaml", "b: {\"c\": 1}\n")], "b.c", Read),
        (&[TEMPLATE, ("values.yaml", "b: {c: 1}\n")], "b.d", Unread),
        (&[TEMPLATE, ("values.yaml", "# b: 1\n")], "b", Read),
        (&[TEMPLATE, ("values.yaml", "# the number of b\na: 1\n")], "b", Unread),
        (&[TEMPLATE, ("values.schema.json", "{\"properties\": {\"b\": {}}}")], "b", Read),
        (&[TEMPLATE, ("values.schema.json", "{\"description\": \"not b\"}")], "b", Unread),
        (&[TEMPLATE, ("files/x.conf", "{{ .Values.b }}")], "b", Unread),
        (&[WITH_TPL, ("files/x.conf", "{{ .Values.b }}")], "b", Read),
        (&[WITH_TPL, ("files/x.conf", "{{ .Values.b }}")], "c", Unread),
        (&[WITH_TPL, ("values.yaml", "x: '{{ .Values.b }}'")], "b", Read),
        (&[TEMPLATE, ("charts/db-1.0.0.tgz", "")], "b", Unknown),
        (&[TEMPLATE, ("charts/README.md", "")], "b", Unread),
        (&[TEMPLATE, ("charts/db/Chart.yaml", "{name: db}")], "db.b", Unread),
        (
            &[TEMPLATE, ("charts/db/Chart.yaml", "{name: db}"), ("charts/db/values.yaml", "b: 1")],
            "db.b",
            Read,
        ),
        (
            &[TEMPLATE, ("charts/db/Chart.yaml", "{name: db}"), ("charts/db/charts/x-1.tgz", "")],
            "db.b",
            Unknown,
        ),
        (&[TEMPLATE, ("requirements.yaml", "dependencies: [{name: db}]")], "b", Unknown),
        (&[TEMPLATE, ("charts/db/Chart.yaml", "{name: db, dependencies: [{name: x}]}")], "b", Unknown),
        (
            &[
                TEMPLATE,
                ("charts/db/Chart.yaml", "{name: db}"),
                (
                    "requirements.yaml",
                    "dependencies: [{name: db, alias: store, condition: 'store.on,b', tags: [c]}]",
                ),
            ],
            "store.on",
            Read,
        ),
        (
            &[
                TEMPLATE,
                ("charts/db/Chart.yaml", "{name: db}"),
                ("requirements.yaml", "dependencies: [{name: db, tags: [front]}]"),
            ],
            "tags.front",
            Read,
        ),
        (
            &[
                TEMPLATE,
                ("charts/db/Chart.yaml", "{name: db}"),
                ("requirements.yaml", "dependencies: [{name: db, import-values: [data]}]"),
            ],
            "x",
            Unknown,
        ),
        (&[("templates/x.yaml", "{{ .Values.a"), ("values.yaml", "{{")], "b", Unread),
    ];
    for (files, path, expected) in cases {
        let all: Vec<_> = [("Chart.yaml", METADATA)].into_iter().chain(files.iter().copied()).collect();
        assert_eq!(answer(&all, path), expected, "{path} in {files:?}");
    }
    assert_eq!(answer(&[TEMPLATE], "b"), Unknown, "without Chart.yaml");
    assert_eq!(answer(&[("Chart.yaml", "a: ["), TEMPLATE], "b"), Unknown, "an invalid Chart.yaml");
}

#[test]
fn values_of_every_block_are_checked() {
    let plain = "{{ .Values.read }}";
    let tpl = "{{ tpl .Values.read . }}";
    let cases: [(&str, Value, &[&str]); 12] = [
        (
            plain,
            json!({"helm": {"parameters": [{"name": "gone", "value": "1"}, {"name": "read", "value": "1"}]}}),
            &["set.gone"],
        ),
        (
            plain,
            json!({"helm": {"parameters": [{"name": "gone", "value": "1", "forceString": true}]}}),
            &["set.gone"],
        ),
        (plain, json!({"helm": {"fileParameters": [{"name": "gone", "path": "x"}]}}), &["set-file.gone"]),
        (
            plain,
            json!({"helm": {"valuesObject": {"gone": {"a": 1, "b": []}, "read": {"c": 1}}}}),
            &["values-object", "values-object"],
        ),
        (plain, json!({"helm": {"values": "gone: 1\nread: 2\n"}}), &["values"]),
        (plain, json!({"helm": {"values": "["}}), &[]),
        (plain, json!({"helm": {"valueFiles": ["x.yaml"], "values": "gone: 1\n"}}), &["values"]),
        (
            plain,
            json!({"plugin": {"name": "helm", "parameters": [{"name": "set.gone", "string": "1"}, {"name": "values", "string": "gone: 1"}]}}),
            &["set.gone", "values"],
        ),
        (
            plain,
            json!({"plugin": {"name": "other", "parameters": [{"name": "set.gone", "string": "1"}]}}),
            &[],
        ),
        (tpl, json!({"helm": {"valueFiles": ["x.yaml"], "values": "gone: 1\n"}}), &[]),
        (tpl, json!({"helm": {"values": "gone: 1\nread: '{{ .Values.gone }}'\n"}}), &[]),
        (tpl, json!({"helm": {"values": "gone: 1\nread: '{{ .Values.other }}'\n"}}), &["values"]),
    ];
    for (template, source, expected) in cases {
        let files = [("Chart.yaml", METADATA), ("templates/x.yaml", template)];
        let keys = ChartKeys::of(files.map(|(path, text)| (path, text.as_bytes())))
            .expect("a chart without secrets");
        let source = ApplicationSource::of_json(&source).expect("a valid source");
        let found = keys.without_effect(&source, None);
        assert_eq!(
            found.iter().map(|value| value.parameter.as_str()).collect::<Vec<_>>(),
            expected,
            "{source:?}"
        );
        assert_eq!(keys.chart(), "api 1.3.0");
    }
}

#[test]
fn kinds_of_files_are_those_of_helm() {
    let cases = [
        ("Chart.yaml", FileKind::Metadata),
        ("charts/a/Chart.yaml", FileKind::MetadataOfSubchart),
        ("charts/a/charts/b/templates/x/y.txt", FileKind::Template),
        ("templates/charts/a.tgz", FileKind::Template),
        ("charts/a.tgz", FileKind::Packed),
        ("values-prod.yaml", FileKind::Other),
        ("charts/a/values.yaml", FileKind::Values),
        ("crds/x.yaml", FileKind::Other),
    ];
    for (path, kind) in cases {
        assert_eq!(FileKind::of(path), kind, "{path}");
    }
}
