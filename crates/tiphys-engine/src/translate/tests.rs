use serde_json::{Value, json};
use tiphys_model::resources::JsonnetOptions;
use tiphys_model::resources::{ApplicationSource, GoFields};

use super::{DirectoryPlan, SourcePlan, TranslateError, translate};
use crate::{BuildEnvironment, SourceType, SourceTypes};

fn plan(source: &Value) -> Result<SourcePlan, TranslateError> {
    let source = decoded(source);
    let named = SourceTypes::default().named(&source).ok().flatten();
    translate(&source, named.unwrap_or(SourceType::Plugin), &build())
}

fn decoded(source: &Value) -> ApplicationSource {
    GoFields::of_json(source).expect("valid source")
}

fn build() -> BuildEnvironment {
    BuildEnvironment::parse(["ARGOCD_APP_REVISION=abc", "ARGOCD_APP_NAME=web"]).expect("valid variables")
}

/// The name and the parameters, as JSON, of a plugin plan.
fn plugin(source: &Value) -> (Option<String>, Value) {
    match plan(source).expect("a plan") {
        SourcePlan::Plugin(plan) => (plan.name, serde_json::to_value(plan.parameters).expect("JSON")),
        other @ SourcePlan::Directory(_) => panic!("{other:?}"),
    }
}

#[test]
fn plugin_block_is_used_unchanged() {
    assert_eq!(plugin(&json!({"plugin": {}})), (None, Value::Null));
    assert_eq!(plugin(&json!({"plugin": {"name": ""}})), (None, Value::Null));
    let block = json!({"plugin": {"name": "p-v1", "parameters": [{"name": "a", "string": "$X"}]}});
    assert_eq!(plugin(&block), (Some("p-v1".to_owned()), json!([{"name": "a", "string": "$X"}])));
}

#[test]
fn parameter_without_name_is_rejected() {
    let error = plan(&json!({"plugin": {"parameters": [{"name": "a"}, {"string": "x"}]}}));
    let message = error.expect_err("a missing name").to_string();
    assert!(message.starts_with("parameter 2 of 2 has no name"), "{message}");
}

#[test]
fn directory_block_keeps_patterns() {
    let found = plan(&json!({"directory": {"recurse": true, "include": "*.yaml", "exclude": ""}}));
    let expected = DirectoryPlan {
        recurse: true,
        include: Some("*.yaml".to_owned()),
        exclude: None,
        any_extension: false,
        jsonnet: JsonnetOptions::default(),
    };
    assert_eq!(found, Ok(SourcePlan::Directory(expected)));
}

#[test]
fn jsonnet_variables_are_expanded_once() {
    let value = "$$ARGOCD_APP_NAME-$ARGOCD_APP_NAME";
    let found = plan(&json!({"directory": {"jsonnet": {"tlas": [{"name": "a", "value": value}]}}}));
    let Ok(SourcePlan::Directory(plan)) = found else { panic!("{found:?}") };
    assert_eq!(plan.jsonnet.tlas[0].value, "$ARGOCD_APP_NAME-web");
}

#[test]
fn kustomize_block_is_translated_to_parameters() {
    let block = json!({"kustomize": {
        "version": "v5.8.1", "namePrefix": "p-", "nameSuffix": "-$ARGOCD_APP_NAME",
        "images": ["img:1", "reg:5000/a/b:1", "reg:5000/a/b:2", "c@sha256:00", "old=new:$ARGOCD_APP_REVISION"],
        "commonLabels": {"rev": "${ARGOCD_APP_REVISION}", "k": "v"}, "forceCommonLabels": true,
    }});
    let (name, parameters) = plugin(&block);
    assert_eq!(name.as_deref(), Some("kustomize"));
    assert_eq!(
        parameters,
        json!([
            {"name": "version", "string": "v5.8.1"},
            {"name": "name-prefix", "string": "p-"},
            {"name": "name-suffix", "string": "-$ARGOCD_APP_NAME"},
            {"name": "force-labels", "string": "true"},
            {"name": "images", "map": {
                "img": "img:1", "reg:5000/a/b": "reg:5000/a/b:2", "c": "c@sha256:00", "old": "new:abc"}},
            {"name": "labels", "map": {"rev": "abc", "k": "v"}},
        ])
    );
    let unforced = plugin(&json!({"kustomize": {"commonLabels": {"k": "v"}}})).1;
    assert_eq!(unforced, json!([{"name": "labels", "map": {"k": "v"}}]));
    assert_eq!(plugin(&json!({"kustomize": {}})), (Some("kustomize".to_owned()), json!([])));
}

#[test]
fn image_without_a_replacement_is_refused() {
    for image in ["nginx", "--help", "-x", "", "registry.example.com:5000/team/web"] {
        let error = plan(&json!({"kustomize": {"images": ["a:1", image]}})).expect_err(image).to_string();
        let expected = format!(
            "kustomize: images: {image:?} replaces nothing; write NAME=REPLACEMENT, NAME:TAG or NAME@DIGEST"
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn variables_of_annotations_are_replaced_on_request() {
    for (envsubst, expected) in [(false, "$ARGOCD_APP_REVISION"), (true, "abc")] {
        let block = json!({"commonAnnotations": {"a": "$ARGOCD_APP_REVISION"}, "commonAnnotationsEnvsubst": envsubst});
        let (_, parameters) = plugin(&json!({"kustomize": block}));
        assert_eq!(parameters, json!([{"name": "annotations", "map": {"a": expected}}]));
    }
}

#[test]
fn helm_block_is_translated_to_parameters() {
    let block = json!({"helm": {
        "releaseName": "web", "namespace": "ns", "kubeVersion": "1.30", "apiVersions": ["v1", "a/v1"], "version": "v3",
        "valueFiles": ["a.yaml", "", "a.yaml"], "ignoreMissingValueFiles": true,
        "values": "a: $ARGOCD_APP_NAME\n", "valuesObject": {"z": 1.0, "a": {"big": 9_007_199_254_740_993_u64, "n": null}},
        "skipCrds": true, "skipTests": true, "skipSchemaValidation": true, "passCredentials": true,
        "parameters": [
            {"name": "b", "value": "$ARGOCD_APP_NAME"}, {"name": "a.b[0]", "value": "5", "forceString": true},
            {"name": "b", "value": "2"}, {"value": "x"}],
        "fileParameters": [{"name": "f", "path": "f.txt"}],
    }});
    let (name, parameters) = plugin(&block);
    assert_eq!(name.as_deref(), Some("helm"));
    assert_eq!(
        parameters,
        json!([
            {"name": "value-files", "array": ["a.yaml", "", "a.yaml"]},
            {"name": "release-name", "string": "web"},
            {"name": "values", "string": "a: $ARGOCD_APP_NAME\n"},
            {"name": "version", "string": "v3"},
            {"name": "pass-credentials", "string": "true"},
            {"name": "ignore-missing-value-files", "string": "true"},
            {"name": "skip-crds", "string": "true"},
            {"name": "values-object", "string": "{\"a\":{\"big\":9007199254740993,\"n\":null},\"z\":1}"},
            {"name": "namespace", "string": "ns"},
            {"name": "kube-version", "string": "1.30"},
            {"name": "api-versions", "array": ["v1", "a/v1"]},
            {"name": "skip-tests", "string": "true"},
            {"name": "skip-schema-validation", "string": "true"},
            {"name": "set.b", "string": "$ARGOCD_APP_NAME"},
            {"name": "set-string.a.b[0]", "string": "5"},
            {"name": "set.b", "string": "2"},
            {"name": "set.", "string": "x"},
            {"name": "set-file.f", "string": "f.txt"},
        ])
    );
    assert_eq!(plugin(&json!({"helm": {}})), (Some("helm".to_owned()), json!([])));
    assert_eq!(
        plugin(&json!({"helm": {"valuesObject": {}}})).1,
        json!([{"name": "values-object", "string": "{}"}])
    );
}

#[test]
fn helm_version_unknown_to_argo_cd_is_rejected() {
    for (version, is_known) in
        [("", true), ("v3", true), ("v4", true), ("3", false), ("v2", false), ("V3", false)]
    {
        let found = plan(&json!({"helm": {"version": version}}));
        match found {
            Ok(_) => assert!(is_known, "{version}"),
            Err(error) => {
                assert!(!is_known, "{version}");
                let message = error.to_string();
                assert!(
                    message.starts_with(&format!("helm version '{version}' is not supported")),
                    "{message}"
                );
            }
        }
    }
}

#[test]
fn detected_type_has_default_plan() {
    let source = ApplicationSource::default();
    let build = BuildEnvironment::default();
    let found = translate(&source, SourceType::Directory, &build);
    assert_eq!(found, Ok(SourcePlan::Directory(DirectoryPlan::default())));
    let helm = translate(&source, SourceType::HELM, &build).expect("valid fields");
    let SourcePlan::Plugin(plan) = helm else { panic!("{helm:?}") };
    assert_eq!((plan.name.as_deref(), plan.parameters), (Some("helm"), Some(Vec::new())));
}

#[test]
fn found_helm_plugin_gets_dynamic_parameters_in_its_form() {
    let reference = json!({"kind": "ConfigMap", "name": "cm", "path": ".data.x"});
    let source = |set: &str| {
        json!({"plugin": {
            "parameters": [{"name": set, "string": "1"}],
            "dynamicParameters": [{"name": "a.b", "resourceRef": reference}],
        }})
    };
    // The set parameter, the found plugin, and the name that the plugin gets.
    let cases =
        [("other", "mine", Some("a.b")), ("set.other", "helm", Some("value.a.b")), ("set.a", "helm", None)];
    for (set, found, expected) in cases {
        let SourcePlan::Plugin(plan) = plan(&source(set)).expect("a plan") else { panic!("not a plugin") };
        let object = json!({"data": {"x": "text"}});
        let names = plan.of_plugin(Some(found)).map(|plan| {
            let value = plan.look_ups[0].value(Some(&object), false).expect("a value");
            value.parameter.name().to_owned()
        });
        assert_eq!(names.ok().as_deref(), expected, "{set} {found}");
    }
}
