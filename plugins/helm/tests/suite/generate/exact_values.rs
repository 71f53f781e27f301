//! `value.PATH`: helm gets one JSON value exactly, and no other program, argument or message contains it.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use tiphys_testkit::executable::make_executable;

use crate::generate::world::{Answer, Helm, World};

/// Strings that `--set`, YAML, a shell or a template would change.
const STRINGS: &[&str] = &[
    "",
    " ",
    "\n",
    " leading and trailing \n\n",
    "line one\r\nline two",
    "tab\tand\u{0}nul",
    "{a},image.repository=evil,z={b}",
    "{}",
    "[]",
    "a,b=c",
    r"back\slash\,\\",
    "${ARGOCD_APP_NAME} $ARGOCD_APP_NAME $$ `id` $(id)",
    "{{ .Release.Name }}",
    "\"double\" and 'single'",
    "# comment",
    "&anchor *alias !tag %directive @at - item ? key : value | > ~",
    "---\nsecond: document\n...",
    "true",
    "True",
    "null",
    "NULL",
    "~",
    "0",
    "007",
    "1000000",
    "1e6",
    "0x1F",
    ".inf",
    "2026-11-23",
    "12:30",
    "yes",
    "<<",
    "=",
    "-",
    "--help",
    "/etc/hostname",
    "https://127.0.0.1:9/x",
    "\u{7f}\u{85}\u{9f}\u{a0}\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}\u{fffd}",
    "ü 日本 😀 e\u{301}",
    "</script>&",
];

impl World {
    /// Sets a value as JSON.
    fn exact(self, path: &str, value: &Value) -> Self {
        self.text(&format!("value.{path}"), &value.to_string())
    }
}

/// Sets each value at a path of its own, and returns what templates see. No other value may change.
fn set(helm: Helm, values: &[Value]) -> Vec<Value> {
    let world = values.iter().enumerate().fold(World::probe(), |world, (index, value)| {
        world.exact(&format!("v{index}"), value).exact(&format!("nested.v{index}.x"), value)
    });
    let mut found = world.values(helm);
    let set: Vec<Value> = (0..values.len())
        .map(|index| {
            let nested = found["nested"][format!("v{index}")]["x"].take();
            let value = found[format!("v{index}")].take();
            assert_eq!(value, nested);
            value
        })
        .collect();
    assert_eq!((&found["from"], &found["list"]), (&json!("chart"), &json!(["a", "b", "c"])));
    let known = |key: &str| ["from", "list", "nested"].contains(&key) || key.starts_with('v');
    assert!(found.as_object().expect("an object").keys().all(|key| known(key)), "nothing else is set");
    set
}

#[test]
fn exact_strings_are_verbatim() {
    let mut strings: Vec<Value> = STRINGS.iter().map(|text| json!(text)).collect();
    strings.push(json!("0123456789abcdef".repeat(1 << 16)));
    for helm in Helm::ALL {
        for (value, set) in strings.iter().zip(set(helm, &strings)) {
            assert!(*value == set, "{value:.100} with {helm:?}: {set:.100}");
        }
    }
}

#[test]
fn exact_lists_and_maps_are_verbatim() {
    let map: Value = STRINGS.iter().map(|text| ((*text).to_owned(), json!(text))).collect();
    let values = [
        json!([]),
        json!({}),
        json!(STRINGS),
        map.clone(),
        json!({ "a": [map, { "b": [[], {}, null, true, -1, 1_000_000, 1.5, 1e300] }] }),
    ];
    for helm in Helm::ALL {
        for (value, set) in values.iter().zip(set(helm, &values)) {
            assert!(
                tiphys_yaml::write_go_json(value) == tiphys_yaml::write_go_json(&set),
                "{helm:?}: {value} {set}"
            );
        }
    }
}

#[test]
fn exact_values_have_their_types() {
    let template = "
{{- define \"seen\" }}{{ kindOf . }} {{ . }}{{ end }}
seen: {{ list (include \"seen\" .Values.a) (include \"seen\" .Values.b) (include \"seen\" .Values.c) (include \"seen\" .Values.d)
  (include \"seen\" .Values.e) (include \"seen\" .Values.f) (include \"seen\" .Values.g.n) (hasKey .Values \"gone\") | toJson }}
";
    for helm in Helm::ALL {
        let world = World::chart(template)
            .file("chart/values.yaml", "gone: 1\n")
            .exact("a", &json!(0))
            .exact("b", &json!(-1))
            .exact("c", &json!(1_000_000))
            .exact("d", &json!(i64::MIN))
            .exact("e", &json!(i64::MAX))
            .exact("f", &json!(false))
            .exact("g", &json!({ "n": 1_000_000 }))
            .exact("gone", &Value::Null);
        let seen = world.generate(helm).objects().swap_remove(0)["seen"].take();
        let expected = json!([
            "int64 0",
            "int64 -1",
            "int64 1000000",
            "int64 -9223372036854775808",
            "int64 9223372036854775807",
            "bool false",
            "float64 1e+06",
            false
        ]);
        assert_eq!(seen, expected, "{helm:?}");
    }
}

#[test]
fn exact_values_override_files_and_have_any_path() {
    for helm in Helm::ALL {
        let world = World::probe()
            .file("charts/probe/a.yaml", "from: file\nm: {a: file, b: file, l: [1]}\nl: [1, 2]\n")
            .array("value-files", &["a.yaml"])
            .text("values", "from: inline\nm: {a: inline}\n")
            .text("set.m.set", "1")
            .exact("from", &json!("exact"))
            .exact(r"m.a\.b\,c\=d\[0]", &json!("dots"))
            .exact("m.a", &json!({ "x": [1] }))
            .exact("m.l", &json!([]))
            .exact("l[1]", &json!("item"))
            .exact("l[2].x", &json!(7));
        let expected = json!({
            "from": "exact", "l": [1, "item", { "x": 7 }], "list": ["a", "b", "c"],
            "m": { "a": { "x": [1] }, "b": "file", "l": [], "set": 1, "a.b,c=d[0]": "dots" }
        });
        assert_eq!(world.values(helm), expected, "{helm:?}");
    }
}

#[test]
fn announcement_does_not_contain_exact_values() {
    let world = World::probe().exact("from", &json!("hunter22")).exact("new", &json!("hunter22"));
    let answer = world.run(Helm::Four, "announce");
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    assert!(answer.stdout.contains("set.from") && !answer.stdout.contains("hunter22"), "{}", answer.stdout);
}

#[test]
fn exact_values_are_only_in_private_files_of_helm() {
    let fake = "#!/bin/sh
[ \"$1\" = version ] && { echo v4.3.1; exit; }
tr '\\0' '\\n' < /proc/$$/environ; tr '\\0' '\\n' < /proc/$$/cmdline
echo FILES; cd \"$HOME\"; stat -c '%a %n' exact*; cat exact*
";
    let secrets = [json!("hunter22"), json!({ "key": "hunter22" })];
    let world = World::probe()
        .file("../helm", fake)
        .variable("ARGOCD_APP_PARAMETERS", r#"[{"name":"value.a","string":"\"hunter22\""}]"#)
        .variable("PARAM_VALUE_A", "hunter22")
        .exact("a", &secrets[0])
        .exact("m", &secrets[1])
        .exact("n", &json!(5));
    let program = world.root().join("../helm").display().to_string();
    make_executable(Path::new(&program));
    let answer = world.variable("TIPHYS_HELM", &program).generate(Helm::Four);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    let (seen, files) = answer.stdout.split_once("FILES\n").expect("the fake helm prints files");
    assert_eq!(files, "600 exact\n600 exact-0\n{\"m\":{\"key\":\"hunter22\"}}hunter22");
    assert!(seen.contains("\n--set\nn=5\n") && seen.contains("\n--set-file\na=/"), "{seen}");
    for unexpected in ["hunter22", "ARGOCD_APP_PARAMETERS", "PARAM_"] {
        assert!(!seen.contains(unexpected), "{unexpected}: {seen}");
    }
}

/// A value, and templates and schemas that fail with it.
#[test]
fn exact_values_are_redacted_in_messages() {
    let schema = |rule: &str| format!(r#"{{"properties": {{"v": {rule}}}}}"#);
    let lines = "first secret\n\tsecond: 'secret' \"word\"\n";
    let cases = [
        ("{{ fail .Values.v }}", json!("s3cr"), String::new()),
        ("{{ fail (printf \"%q\" .Values.v) }}", json!(lines), String::new()),
        ("{{ fail (indent 8 .Values.v) }}", json!(lines), String::new()),
        ("{{ fail (toJson .Values.v) }}", json!({ "a": ["se<c>ret", lines] }), String::new()),
        ("{{ fail (toString .Values.v) }}", json!({ "a": ["secret", 1_234_567] }), String::new()),
        ("{{ tpl .Values.v . }}", json!("secret {{"), String::new()),
        ("{{ fromYaml .Values.v | toJson | fail }}", json!("secret: [secret"), String::new()),
        ("{{ index .Values.v 1 }}", json!("secret"), String::new()),
        ("{{ .Values.v.missing }}", json!("secret"), String::new()),
        ("{{ include .Values.v . }}", json!("secret"), String::new()),
        ("{{ mustToDate \"2006\" .Values.v }}", json!("secret"), String::new()),
        ("a: {{ .Values.v }}", json!("[secret"), String::new()),
        ("{{ .Values.v }}", json!("secret"), String::new()),
        ("", json!("pa'ss\"word"), schema(r#"{"pattern": "^x"}"#)),
        ("", json!(1_234_567), schema(r#"{"maximum": 5}"#)),
        ("", json!(-12_345), schema(r#"{"minimum": 5}"#)),
        ("", json!({ "a": "secret" }), schema(r#"{"properties": {"a": {"enum": ["x"]}}}"#)),
    ];
    for helm in Helm::ALL {
        for (template, value, schema) in &cases {
            let world = World::chart(template).exact("v", value);
            let world =
                if schema.is_empty() { world } else { world.file("chart/values.schema.json", schema) };
            let answer = world.generate(helm);
            assert_hidden(
                &answer,
                &["s3cr", "ecre", "pa'ss", "pa\\'ss", "second", "1234567", "1.234", "12,3", "1234"],
            );
            let checked = world.run(helm, "check");
            assert_eq!(checked.code, Some(0), "{checked:?}");
            assert!(!checked.stdout.contains("ecret") && !checked.stdout.contains("s3cr"), "{checked:?}");
        }
    }
}

#[test]
fn large_exact_value_is_redacted_where_output_is_cut() {
    let value = (0..150_000_u32).map(|number| format!("{number:06}-")).collect::<Vec<_>>().concat();
    for helm in Helm::ALL {
        let world = World::chart("{{ fail .Values.v }}").exact("v", &json!(value));
        let answer = world.generate(helm);
        assert_hidden(&answer, &["000000-", "149999-", "00-"]);
        assert!(answer.error().contains("bytes left out"), "{}", answer.error());
    }
}

#[test]
fn exact_values_are_redacted_in_messages_of_kustomize() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.v }}, namespace: x}\n---\napiVersion: v1\n\
                    kind: ConfigMap\nmetadata: {name: {{ .Values.v }}, namespace: x}\n";
    let world = World::chart(manifest)
        .file("overlay/kustomization.yaml", "resources: [helm-output.yaml]\n")
        .text("kustomize-dir", "/overlay")
        .exact("v", &json!("s3cret"));
    let answer = world.generate(Helm::Four);
    assert!(answer.error().contains("******"), "{}", answer.error());
    assert_hidden(&answer, &["s3cret"]);
}

/// The run failed, and its message contains none of these.
fn assert_hidden(answer: &Answer, secrets: &[&str]) {
    let error = answer.error();
    assert!(error.contains("failed exit status"), "{error:.500}");
    for secret in secrets {
        assert!(!error.contains(secret), "{secret}: {error:.2000}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn any_exact_string_is_verbatim(strings in prop::collection::vec(any::<String>(), 100)) {
        let values = [vec![json!(strings)], strings.iter().map(|text| json!(text)).collect()].concat();
        for helm in Helm::ALL {
            prop_assert_eq!(&set(helm, &values), &values);
        }
    }
}
