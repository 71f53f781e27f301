use serde_json::{Value, json};
use tiphys_model::resources::{APPLICATION, decode_value};

use super::apply_template_patch;

fn application(value: &Value) -> Value {
    decode_value(&APPLICATION, value).unwrap().value
}

fn base() -> Value {
    application(&json!({
        "metadata": {"name": "app", "labels": {"a": "1", "b": "2"}, "finalizers": ["f1", "f2"]},
        "spec": {
            "project": "p",
            "destination": {"server": "s", "namespace": "n"},
            "syncPolicy": {"syncOptions": ["A=1", "B=2"], "automated": {"prune": true}},
            "source": {"repoURL": "r", "helm": {"values": "v", "valuesObject": {"s": 1, "o": {"x": 1}, "l": [1]}}},
        },
    }))
}

#[test]
fn patch_is_merged_as_in_argo_cd() {
    let cases = [
        // (patch, pointer, expected)
        ("", "/metadata/name", json!("app")),
        ("null", "/metadata/name", json!("app")),
        ("metadata: {labels: {b: null, c: x}}", "/metadata/labels", json!({"a": "1", "c": "x"})),
        (
            "spec: {syncPolicy: {syncOptions: [X=1]}}",
            "/spec/syncPolicy",
            json!({"automated": {"prune": true}, "syncOptions": ["X=1"]}),
        ),
        ("spec: {syncPolicy: null}", "/spec/syncPolicy", json!(null)),
        ("spec: {project: other}", "/spec/project", json!("p")),
        ("spec:", "/spec", json!({"destination": {}, "project": "p"})),
        ("spec: {revisionHistoryLimit: 2.0}", "/spec/revisionHistoryLimit", json!(2)),
        (
            "spec: {source: {helm: {valuesObject: {s: [1, {a: null}], new: {n1: null, e: {}, l: []}}}}}",
            "/spec/source/helm/valuesObject",
            json!({"s": [1, {}], "o": {"x": 1}, "l": [1], "new": {"e": {}, "l": []}}),
        ),
        // Finalizers are merged: those of the patch in its order, the others where the original has them.
        ("metadata: {finalizers: [x]}", "/metadata/finalizers", json!(["x", "f1", "f2"])),
        ("metadata: {finalizers: [f2, x, f2]}", "/metadata/finalizers", json!(["f1", "f2", "x"])),
        ("metadata: {finalizers: []}", "/metadata/finalizers", json!(["f1", "f2"])),
        // Letter case counts when merging, but the result is decoded again.
        (
            "SPEC: {destination: {namespace: other}}",
            "/spec/destination",
            json!({"server": "s", "namespace": "n"}),
        ),
        ("status: {health: {status: Healthy}}", "/status", json!(null)),
        ("operation: {sync: {}}", "/operation", json!({"sync": {}, "initiatedBy": {}, "retry": {}})),
        ("metadata: {name: first}\n---\nmetadata: {name: second}", "/metadata/name", json!("first")),
        ("metadata: {name: first, name: second}", "/metadata/name", json!("second")),
        ("spec: 5\nspec: {revisionHistoryLimit: 3}", "/spec/revisionHistoryLimit", json!(3)),
        (" {\"metadata\":{\"name\":\"json\"}} ", "/metadata/name", json!("json")),
        // Directives.
        ("metadata: {labels: {$patch: replace, c: x}}", "/metadata/labels", json!({"c": "x"})),
        ("metadata: {labels: {$patch: delete}}", "/metadata/labels", json!(null)),
        ("metadata: {annotations: {$patch: delete}}", "/metadata/annotations", json!(null)),
        ("metadata: {$deleteFromPrimitiveList/finalizers: [f1]}", "/metadata/finalizers", json!(["f2"])),
        (
            "spec: {destination: {$retainKeys: [namespace, name], name: c}}",
            "/spec/destination",
            json!({"namespace": "n", "name": "c"}),
        ),
        (
            "$patch: replace
metadata: {name: x}",
            "/metadata",
            json!({"name": "x"}),
        ),
        (
            "spec: {source: {helm: {valuesObject: {new: {$patch: delete}}}}}",
            "/spec/source/helm/valuesObject/new",
            json!(null),
        ),
        ("spec: {source: {helm: {valuesObject: null}}}", "/spec/source/helm", json!({"values": "v"})),
        ("metadata: {finalizers: [x, f2, z]}", "/metadata/finalizers", json!(["x", "f1", "f2", "z"])),
        ("metadata: {finalizers: [z, f1, x]}", "/metadata/finalizers", json!(["z", "f1", "x", "f2"])),
        ("SPEC: {revisionHistoryLimit: 3}", "/spec/revisionHistoryLimit", json!(3)),
    ];
    for (patch, pointer, expected) in cases {
        let patched = apply_template_patch(base(), patch).unwrap();
        assert_eq!(patched.pointer(pointer).cloned().unwrap_or_default(), expected, "{patch}");
    }
}

#[test]
fn patches_that_do_not_apply_are_rejected() {
    let cases = [
        (
            "hello",
            r#"invalid templatePatch "\"hello\"": json: cannot unmarshal string into Go value of type v1alpha1.Application"#,
        ),
        (
            "metadata: {labels: {a: 5}}",
            r#"invalid templatePatch "{\"metadata\":{\"labels\":{\"a\":5}}}": json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string"#,
        ),
        (
            "{\"a\n\u{1}",
            "invalid templatePatch \"{\\\"a\\n\\x01\": line 1, column 4: a control character in a string must be escaped",
        ),
        ("a: [", "error while converting template to json \"a: [\": line 1, column 5: "),
        (
            "spec: {source: {helm: {valuesObject: {o: {x: 2}}}}}",
            r#"error while applying templatePatch template to json "{\"spec\":{\"source\":{\"helm\":{\"valuesObject\":{\"o\":{\"x\":2}}}}}}": unable to find api field in struct RawExtension for the json field "o""#,
        ),
        (
            "metadata: {labels: {$patch: other}}",
            r#"error while applying templatePatch template to json "{\"metadata\":{\"labels\":{\"$patch\":\"other\"}}}": unknown patch type: other in map: map[$patch:other]"#,
        ),
        (
            "metadata: {$setElementOrder/finalizers: [f2]}",
            r#"error while applying templatePatch template to json "{\"metadata\":{\"$setElementOrder/finalizers\":[\"f2\"]}}": $setElementOrder/finalizers is not supported; write the list in its order"#,
        ),
        (
            "spec: {destination: {$retainKeys: [namespace], name: c}}",
            r#"error while applying templatePatch template to json "{\"spec\":{\"destination\":{\"$retainKeys\":[\"namespace\"],\"name\":\"c\"}}}": invalid patch format of retainKeys"#,
        ),
        (
            "spec: {source: {helm: {valuesObject: {l: [2]}}}}",
            r#"error while applying templatePatch template to json "{\"spec\":{\"source\":{\"helm\":{\"valuesObject\":{\"l\":[2]}}}}}": unable to find api field in struct RawExtension for the json field "l""#,
        ),
    ];
    for (patch, message) in cases {
        let error = apply_template_patch(base(), patch).unwrap_err().to_string();
        assert!(error.starts_with(message), "{patch}\n{error}\n{message}");
    }
}
