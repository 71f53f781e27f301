use serde_json::{Value, json};
use tiphys_yaml::{Step, read_document, read_json};

use super::{
    APPLICATION, APPLICATION_SET, APPLICATION_SET_TEMPLATE, FieldPath, GoStruct, GoType, StringSite,
    canonical, decode_fields, decode_value, locate, map_strings, print_go_json,
};

/// Every field of an Application, in Go's order, none with a zero value.
const WHOLE_APPLICATION: &str = r#"
{"kind":"Application","apiVersion":"argoproj.io/v1alpha1",
"metadata":{"name":"n","generateName":"g","namespace":"ns","selfLink":"l","uid":"u","resourceVersion":"1","generation":2,
"creationTimestamp":"2024-01-02T03:04:05Z","deletionTimestamp":"2024-01-02T03:04:06Z","deletionGracePeriodSeconds":0,
"labels":{"a":"b"},"annotations":{"c":""},
"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"u","controller":false,"blockOwnerDeletion":true}],
"finalizers":["f"],
"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","time":"2024-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}},"subresource":"s"}]},
"spec":{
"source":{"repoURL":"r","path":"p","targetRevision":"t",
"helm":{"valueFiles":["v"],"parameters":[{"name":"n","value":"v","forceString":true}],"releaseName":"r","values":"a: 1","fileParameters":[{"name":"n","path":"p"}],"version":"v3","passCredentials":true,"ignoreMissingValueFiles":true,"skipCrds":true,"valuesObject":{"a":[1,null,{"b":1.5}]},"namespace":"n","kubeVersion":"1","apiVersions":["v1"],"skipTests":true,"skipSchemaValidation":true},
"kustomize":{"namePrefix":"p","nameSuffix":"s","images":["i"],"commonLabels":{"a":"b"},"version":"v","commonAnnotations":{"a":"b"},"forceCommonLabels":true,"forceCommonAnnotations":true,"namespace":"n","commonAnnotationsEnvsubst":true,"replicas":[{"name":"a","count":1},{"name":"b","count":"2"}],
"patches":[{"path":"p","patch":"x","target":{"group":"g","version":"v","kind":"k","name":"n","namespace":"ns","annotationSelector":"a","labelSelector":"l"},"options":{"allowNameChange":false}}],
"components":["c"],"ignoreMissingComponents":true,"labelWithoutSelector":true,"kubeVersion":"1","apiVersions":["v1"],"labelIncludeTemplates":true},
"directory":{"recurse":true,"jsonnet":{"extVars":[{"name":"n","value":"v","code":true}],"tlas":[{"name":"n","value":"","code":true}],"libs":["l"]},"exclude":"e","include":"i","disableExtensionFilter":true},
"plugin":{"name":"n","env":[{"name":"E","value":"v"}],"parameters":[{"name":"s","string":""},{"name":"m","map":{}},{"name":"a","array":[]},{"name":""}]},
"chart":"c","ref":"r","name":"n","tagPrefix":"t"},
"destination":{"server":"s","namespace":"n","name":"n"},
"project":"p",
"syncPolicy":{"automated":{"prune":false,"selfHeal":true,"allowEmpty":false,"enabled":true},"syncOptions":["A=1"],"retry":{"limit":-1,"backoff":{"duration":"5s","factor":0,"maxDuration":"3m"},"refresh":true},"managedNamespaceMetadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}},
"ignoreDifferences":[{"group":"g","kind":"","name":"n","namespace":"ns","jsonPointers":["/a"],"jqPathExpressions":[".a"],"managedFieldsManagers":["m"]}],
"info":[{"name":"n","value":"v"}],
"revisionHistoryLimit":0,
"sources":[{"repoURL":""}],
"sourceHydrator":{"drySource":{"repoURL":"r","targetRevision":"t","path":"p","helm":{},"kustomize":{},"directory":{},"plugin":{}},"syncSource":{"targetBranch":"b","path":"p","repoURL":"r"},"hydrateTo":{"targetBranch":"b"}}},
"operation":{"sync":{"revision":"r","prune":true,"dryRun":true,"syncStrategy":{"apply":{"force":true},"hook":{"force":true}},"resources":[{"group":"g","kind":"k","name":"n","namespace":"ns"}],"source":{"repoURL":"r"},"manifests":["m"],"syncOptions":["A=1"],"sources":[{"repoURL":"r"}],"revisions":["r"],"autoHealAttemptsCount":1},
"initiatedBy":{"username":"u","automated":true},"info":[null,{"name":"n","value":"v"}],"retry":{"limit":1}}}"#;

fn whole_application() -> String {
    WHOLE_APPLICATION.lines().collect()
}

#[test]
fn whole_application_prints_as_written() {
    let text = whole_application();
    let decoded = decode_fields(&APPLICATION, &read_json(text.as_bytes()).unwrap()).unwrap();
    assert_eq!(decoded.unknown, []);
    assert_eq!(print_go_json(&APPLICATION, &decoded.value), text);
    assert_eq!(decode_value(&APPLICATION, &decoded.value).unwrap().value, decoded.value);
    assert_eq!(canonical(&APPLICATION, decoded.value.clone()), decoded.value);
}

/// The sample above covers the table: a field that is added there must be added here.
#[test]
fn whole_application_has_every_field() {
    let value: Value = serde_json::from_str(&whole_application()).unwrap();
    let mut missing = Vec::new();
    missing_fields(&APPLICATION, &[&value], "", &mut missing);
    // Two strings of the same type as the ones above; a second sample of each source type would say the same.
    let hydrator = |path: &String| path.contains("drySource.") || path.contains("operation.sync.source");
    let other =
        |path: &String| path.contains(".sources.") || path.contains("operation.retry.") || path == "status";
    missing.retain(|path| !hydrator(path) && !other(path));
    assert_eq!(missing, [""; 0]);
}

fn missing_fields(kind: &'static GoStruct, samples: &[&Value], path: &str, missing: &mut Vec<String>) {
    for field in kind.fields {
        let found: Vec<&Value> = samples.iter().filter_map(|sample| sample.get(field.name)).collect();
        let path = format!("{path}{}", field.name);
        if found.is_empty() {
            missing.push(path.clone());
        }
        match field.kind.base() {
            GoType::Struct(of) => missing_fields(of, &found, &format!("{path}."), missing),
            GoType::List(item) => {
                if let GoType::Struct(of) = item.base() {
                    let items: Vec<&Value> =
                        found.iter().filter_map(|list| list.as_array()).flatten().collect();
                    missing_fields(of, &items, &format!("{path}."), missing);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn zero_values_are_printed_as_in_go() {
    let application = |spec: &str| format!("{{\"metadata\":{{}},\"spec\":{spec}}}");
    let cases = [
        // (input, canonical JSON in Go's order)
        ("{}", application(r#"{"destination":{},"project":""}"#)),
        ("null", application(r#"{"destination":{},"project":""}"#)),
        (r#"{"spec":null,"operation":null,"status":{"x":1}}"#, application(r#"{"destination":{},"project":""}"#)),
        (
            r#"{"spec":{"syncPolicy":{},"sources":[],"info":null,"source":{"helm":{"valuesObject":null,"valueFiles":[],"skipCrds":false}}}}"#,
            application(r#"{"source":{"repoURL":"","helm":{}},"destination":{},"project":"","syncPolicy":{}}"#),
        ),
        (
            r#"{"spec":{"source":{"directory":{"jsonnet":{"libs":[]}},"plugin":{"parameters":[{"map":null},{"array":null},{"string":null}]}}}}"#,
            application(
                r#"{"source":{"repoURL":"","directory":{},"plugin":{"parameters":[{"name":"","map":{}},{"name":"","array":[]},{"name":""}]}},"destination":{},"project":""}"#,
            ),
        ),
        (
            r#"{"operation":{"sync":{"revision":"x"}}}"#,
            r#"{"metadata":{},"spec":{"destination":{},"project":""},"operation":{"sync":{"revision":"x"},"initiatedBy":{},"retry":{}}}"#
                .to_owned(),
        ),
        (r#"{"metadata":{"creationTimestamp":null,"labels":{"a":null}}}"#,
            r#"{"metadata":{"labels":{"a":""}},"spec":{"destination":{},"project":""}}"#.to_owned()),
    ];
    for (input, expected) in cases {
        let decoded = decode_fields(&APPLICATION, &read_json(input.as_bytes()).unwrap()).unwrap();
        assert_eq!(print_go_json(&APPLICATION, &decoded.value), expected, "{input}");
    }
}

#[test]
fn keys_are_matched_as_in_go() {
    let cases = [
        // Keys differ in case; an exact key is preferred; the last one wins; structs and maps merge; null clears pointers only.
        (
            r#"{"SPEC":{"Project":"p"},"MetaData":{"LABELS":{"A":"b"}}}"#,
            json!({"labels": {"A": "b"}}),
            json!("p"),
            json!(null),
        ),
        (r#"{"spec":{"project":"a","PROJECT":"b"}}"#, json!({}), json!("b"), json!(null)),
        (r#"{"spec":{"project":"a"},"Spec":{"syncPolicy":{}}}"#, json!({}), json!("a"), json!({})),
        (
            r#"{"spec":{"project":"a","syncPolicy":{},"Project":null,"SyncPolicy":null}}"#,
            json!({}),
            json!("a"),
            json!(null),
        ),
        (r#"{"metadata":{"uid":"u","UID":null}}"#, json!({"uid": "u"}), json!(""), json!(null)),
        (
            r#"{"metadata":{"labels":{"a":"1"},"Labels":{"b":"2"}}}"#,
            json!({"labels": {"a": "1", "b": "2"}}),
            json!(""),
            json!(null),
        ),
        (
            r#"{"metadata":{"ownerReferences":[{"name":"a"},{"name":"b"}],"OwnerReferences":[{"kind":"K"}]}}"#,
            json!({"ownerReferences": [{"apiVersion": "", "kind": "K", "name": "a", "uid": ""}]}),
            json!(""),
            json!(null),
        ),
    ];
    for (input, metadata, project, sync_policy) in cases {
        let value = decode_fields(&APPLICATION, &read_json(input.as_bytes()).unwrap()).unwrap().value;
        assert_eq!(value["metadata"], metadata, "{input}");
        assert_eq!(value["spec"]["project"], project, "{input}");
        assert_eq!(value["spec"]["syncPolicy"], sync_policy, "{input}");
    }
}

/// Input, Go's error after `json: cannot unmarshal `, path, our words.
const WRONG_TYPES: &[(&str, &str, &str, &str)] = &[
    ("[]", "array into Go value of type v1alpha1.Application", "", "expected an object, found a list"),
    (
        r#"{"spec":5}"#,
        "number into Go struct field Application.spec of type v1alpha1.ApplicationSpec",
        "spec",
        "expected an object, found a number",
    ),
    (
        r#"{"spec":{"source":5}}"#,
        "number into Go struct field ApplicationSpec.spec.source of type v1alpha1.ApplicationSource",
        "spec.source",
        "expected an object, found a number",
    ),
    (
        r#"{"metadata":{"annotations":{"a":5}}}"#,
        "number into Go struct field ObjectMeta.metadata.annotations of type string",
        "metadata.annotations.a",
        "expected a string, found a number; put it in quotes",
    ),
    (
        r#"{"metadata":{"labels":[]}}"#,
        "array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        "metadata.labels",
        "expected an object, found a list",
    ),
    (
        r#"{"spec":{"syncPolicy":{"automated":{"prune":"yes"}}}}"#,
        "string into Go struct field SyncPolicyAutomated.spec.syncPolicy.automated.prune of type bool",
        "spec.syncPolicy.automated.prune",
        "expected a boolean, found a string",
    ),
    (
        r#"{"spec":{"syncPolicy":{"syncOptions":"A"}}}"#,
        "string into Go struct field SyncPolicy.spec.syncPolicy.syncOptions of type v1alpha1.SyncOptions",
        "spec.syncPolicy.syncOptions",
        "expected a list, found a string",
    ),
    (
        r#"{"spec":{"syncPolicy":{"syncOptions":["A",2]}}}"#,
        "number into Go struct field SyncPolicy.spec.syncPolicy.syncOptions of type string",
        "spec.syncPolicy.syncOptions[1]",
        "expected a string, found a number; put it in quotes",
    ),
    (
        r#"{"spec":{"revisionHistoryLimit":1.5}}"#,
        "number 1.5 into Go struct field ApplicationSpec.spec.revisionHistoryLimit of type int64",
        "spec.revisionHistoryLimit",
        "expected an integer, found a number",
    ),
    (
        r#"{"spec":{"revisionHistoryLimit":"1"}}"#,
        "string into Go struct field ApplicationSpec.spec.revisionHistoryLimit of type int64",
        "spec.revisionHistoryLimit",
        "expected an integer, found a string",
    ),
    (
        r#"{"spec":{"source":{"kustomize":{"replicas":[{"count":true}]}}}}"#,
        "bool into Go struct field KustomizeReplica.spec.source.kustomize.replicas.count of type int32",
        "spec.source.kustomize.replicas[0].count",
        "expected an integer or a string, found a boolean",
    ),
    (
        r#"{"spec":{"source":{"kustomize":{"replicas":[{"count":3000000000}]}}}}"#,
        "number 3000000000 into Go struct field KustomizeReplica.spec.source.kustomize.replicas.count of type int32",
        "spec.source.kustomize.replicas[0].count",
        "expected an integer or a string, found a number",
    ),
    (
        r#"{"spec":{"source":{"kustomize":{"images":[1]}}}}"#,
        "number into Go struct field ApplicationSourceKustomize.spec.source.kustomize.images of type v1alpha1.KustomizeImage",
        "spec.source.kustomize.images[0]",
        "expected a string, found a number; put it in quotes",
    ),
    (
        r#"{"spec":{"source":{"kustomize":{"patches":[{"target":{"kind":1}}]}}}}"#,
        "number into Go struct field KustomizeSelector.spec.source.kustomize.patches.target.KustomizeResId.KustomizeGvk.kind of type string",
        "spec.source.kustomize.patches[0].target.kind",
        "expected a string, found a number; put it in quotes",
    ),
    (
        r#"{"spec":{"source":{"plugin":{"parameters":[{"array":"x"}]}}}}"#,
        "string into Go struct field ApplicationSourcePluginParameter.spec.source.plugin.parameters.OptionalArray.array of type []string",
        "spec.source.plugin.parameters[0].array",
        "expected a list, found a string",
    ),
    (
        r#"{"spec":{"source":{"helm":{"parameters":{}}}}}"#,
        "object into Go struct field ApplicationSourceHelm.spec.source.helm.parameters of type []v1alpha1.HelmParameter",
        "spec.source.helm.parameters",
        "expected a list, found an object",
    ),
    (
        r#"{"metadata":{"creationTimestamp":{}}}"#,
        "object into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
        "metadata.creationTimestamp",
        "expected a time, found an object",
    ),
    (
        r#"{"status":true}"#,
        "bool into Go struct field Application.status of type v1alpha1.ApplicationStatus",
        "status",
        "expected an object, found a boolean",
    ),
];

#[test]
fn wrong_types_are_reported_as_in_go() {
    for &(input, go, path, message) in WRONG_TYPES {
        let error = decode_fields(&APPLICATION, &read_json(input.as_bytes()).unwrap()).unwrap_err();
        assert_eq!(error.go, format!("json: cannot unmarshal {go}"), "{input}");
        assert_eq!((error.at.path.as_str(), error.at.message.as_str()), (path, message), "{input}");
    }
}

#[test]
fn unknown_fields_and_wrong_types_have_positions() {
    let document = |text: &str| read_document(text.as_bytes()).unwrap().unwrap().deduplicated();
    let set = document("spec:\n  generators:\n  - list: {elements: [], nope: 1}\n  - other: {}\n  x: y\n");
    let decoded = decode_fields(&APPLICATION_SET, &set).unwrap();
    let unknown: Vec<String> =
        decoded.unknown.iter().map(|field| format!("{} {}", field.position, field.path)).collect();
    assert_eq!(unknown, ["3:26 spec.generators[0].list.nope", "4:5 spec.generators[1].other", "5:3 spec.x"]);

    let wrong = document("spec:\n  template:\n    spec:\n      project: 5\n");
    let error = decode_fields(&APPLICATION_SET, &wrong).unwrap_err();
    assert_eq!(
        error.at.to_string(),
        "line 4, column 16: spec.template.spec.project: expected a string, found a number; put it in quotes"
    );
    assert_eq!(
        error.go,
        "json: cannot unmarshal number into Go struct field ApplicationSpec.spec.template.spec.project of type string"
    );
    // The conversion of YAML to JSON writes 2.0 as 2.
    let float = document("spec: {revisionHistoryLimit: 2.0}");
    assert_eq!(decode_fields(&APPLICATION, &float).unwrap().value["spec"]["revisionHistoryLimit"], json!(2));
}

#[test]
fn walk_visits_strings_and_map_keys_in_order() {
    let mut template = decode_value(
        &APPLICATION_SET_TEMPLATE,
        &json!({
            "metadata": {"name": "a", "labels": {"k": "v"}, "finalizers": ["f"]},
            "spec": {
                "project": "p",
                "revisionHistoryLimit": 3,
                "destination": {"server": "s"},
                "source": {
                    "repoURL": "r",
                    "kustomize": {"replicas": [{"name": "n", "count": 2}, {"name": "m", "count": "c"}], "patches": [{"options": {"o": true}}]},
                    "plugin": {"parameters": [{"name": "x", "array": ["i", ""]}]},
                },
                "sources": [{"repoURL": "q", "helm": {"valuesObject": {"a": ["b", {"c": 1}], "n": null}}}],
            },
        }),
    )
    .unwrap()
    .value;
    let mut visited = Vec::new();
    let mut rewrite = |site: StringSite<'_>| {
        let mark = if site.is_key { "=" } else { "" };
        visited.push(format!("{}{mark}", site.text));
        Ok::<_, ()>(format!("<{}>", site.text))
    };
    map_strings(&APPLICATION_SET_TEMPLATE, &mut template, &mut rewrite).unwrap();
    let order = "a v k= f r n m c o= x i  s p q b c= a=";
    assert_eq!(visited.join(" "), order);
    assert_eq!(
        template,
        json!({
            "metadata": {"name": "<a>", "labels": {"<k>": "<v>"}, "finalizers": ["<f>"]},
            "spec": {
                "project": "<p>",
                "revisionHistoryLimit": 3,
                "destination": {"server": "<s>"},
                "source": {
                    "repoURL": "<r>",
                    "kustomize": {"replicas": [{"name": "<n>", "count": 2}, {"name": "<m>", "count": "<c>"}], "patches": [{"options": {"<o>": true}}]},
                    "plugin": {"parameters": [{"name": "<x>", "array": ["<i>", "<>"]}]},
                },
                "sources": [{"repoURL": "<q>", "helm": {"valuesObject": {"<a>": ["<b>", {"<c>": 1}]}}}],
            },
        })
    );
}

#[test]
fn walk_reports_path_of_failed_string() {
    let document = read_document(
        b"metadata: {labels: {k: bad}}\nspec:\n  sources:\n  - helm:\n      valuesObject:\n        a: [1,\n         bad]\n  info: [{Name: bad}]",
    )
    .unwrap()
    .unwrap();
    let value = decode_fields(&APPLICATION_SET_TEMPLATE, &document).unwrap().value;
    let cases = [
        // (number of the string that fails, path, in free JSON, line)
        (0, "metadata.labels.k", false, 1),
        (1, "spec.info[0].name", false, 8),
        (2, "spec.sources[0].helm.valuesObject.a[1]", true, 7),
    ];
    for (number, path, is_in_free_json, line) in cases {
        let mut count = 0;
        let mut rewrite = |site: StringSite<'_>| {
            if site.text != "bad" {
                return Ok(site.text.to_owned());
            }
            count += 1;
            if count > number { Err("no") } else { Ok("ok".to_owned()) }
        };
        let error = map_strings(&APPLICATION_SET_TEMPLATE, &mut value.clone(), &mut rewrite).unwrap_err();
        assert_eq!(
            (error.path.to_string().as_str(), error.is_in_free_json, error.source),
            (path, is_in_free_json, "no")
        );
        assert_eq!(locate(&document, &error.path.0).unwrap().position.line, line, "{path}");
    }
}

#[test]
fn free_json_is_encoded_again_as_in_go() {
    let values = json!({"big": 9_007_199_254_740_993_i64, "f": 1.0, "e": 1e300, "n": null, "l": [null, {}], "o": {"x": null}});
    let mut template = decode_value(
        &APPLICATION_SET_TEMPLATE,
        &json!({"spec": {"source": {"helm": {"valuesObject": values}}}}),
    )
    .unwrap()
    .value;
    map_strings(&APPLICATION_SET_TEMPLATE, &mut template, &mut |site| Ok::<_, ()>(site.text.to_owned()))
        .unwrap();
    assert_eq!(
        template["spec"]["source"]["helm"]["valuesObject"],
        json!({"big": 9_007_199_254_740_992_i64, "f": 1, "e": 1e300, "l": [null, {}], "o": {}})
    );
}

#[test]
fn path_is_formatted() {
    let path = FieldPath(vec![Step::Key("spec".to_owned())]).key("generators").index(0).key("list");
    assert_eq!(path.to_string(), "spec.generators[0].list");
}
