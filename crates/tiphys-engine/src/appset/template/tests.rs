use serde_json::{Value, json};
use tiphys_model::resources::{APPLICATION_SET_TEMPLATE, decode_value};

use super::{Engine, RenderOptions, RenderPlace, merge_template, render_application};
use crate::appset::ParameterSet;

/// Replaces `X` by `x`, and fails on `bad`.
struct Toy;

impl Engine for Toy {
    fn render(&self, text: &str) -> Result<String, String> {
        if text.contains("bad") { Err("no".to_owned()) } else { Ok(text.replace('X', "x")) }
    }
}

fn template(value: &Value) -> Value {
    decode_value(&APPLICATION_SET_TEMPLATE, value).unwrap().value
}

fn one_parameter() -> ParameterSet {
    ParameterSet { values: json!({"a": 1}).as_object().unwrap().clone(), ..ParameterSet::default() }
}

#[test]
fn template_of_generator_overrides_what_it_sets() {
    let set = json!({
        "metadata": {"name": "n", "labels": {"env": "e", "a": "1"}, "finalizers": ["f"]},
        "spec": {
            "project": "p",
            "destination": {"server": "s", "namespace": "n"},
            "revisionHistoryLimit": 5,
            "source": {"repoURL": "r", "helm": {"valuesObject": {"a": 1}, "skipCrds": true, "valueFiles": ["x", "y"]}},
            "syncPolicy": {"automated": {"prune": true, "selfHeal": true}, "syncOptions": ["B=1", "C=2"], "retry": {"limit": 3}},
        },
    });
    let cases = [
        // (template of the generator, pointer, expected)
        (json!({}), "", template(&set)),
        (
            json!({"metadata": {"name": "own", "labels": {"env": "", "more": "m"}}}),
            "/metadata",
            json!({"name": "own", "labels": {"env": "e", "a": "1", "more": "m"}, "finalizers": ["f"]}),
        ),
        (
            json!({"spec": {"syncPolicy": {"automated": {"prune": false}, "syncOptions": ["A=1"]}}}),
            "/spec/syncPolicy",
            json!({"automated": {"prune": true, "selfHeal": true}, "syncOptions": ["A=1"], "retry": {"limit": 3}}),
        ),
        (
            json!({"spec": {"revisionHistoryLimit": 0, "project": "", "destination": {"name": "c"}}}),
            "/spec/destination",
            json!({"server": "s", "namespace": "n", "name": "c"}),
        ),
        (json!({"spec": {"revisionHistoryLimit": 0}}), "/spec/revisionHistoryLimit", json!(5)),
        (
            json!({"spec": {"source": {"helm": {"valuesObject": {"b": 2}, "valueFiles": [], "skipCrds": false}}}}),
            "/spec/source",
            json!({"repoURL": "r", "helm": {"valuesObject": {"b": 2}, "skipCrds": true, "valueFiles": ["x", "y"]}}),
        ),
        (
            json!({"spec": {"source": {"helm": {"valuesObject": {}}}}}),
            "/spec/source/helm/valuesObject",
            json!({}),
        ),
        (json!({"spec": {"sources": [{"repoURL": "own"}]}}), "/spec/sources", json!([{"repoURL": "own"}])),
    ];
    for (own, pointer, expected) in cases {
        let merged = merge_template(&template(&own), &template(&set));
        assert_eq!(merged.pointer(pointer), Some(&expected), "{own}");
    }
}

#[test]
fn finalizer_and_namespace_are_set() {
    let finalizer = json!(["resources-finalizer.argocd.argoproj.io"]);
    let cases = [
        // (finalizers, preserves resources, parameters, rendered name, finalizers of the result)
        (json!(null), false, one_parameter(), "x", finalizer.clone()),
        (json!([]), false, one_parameter(), "x", finalizer),
        (json!(null), true, one_parameter(), "x", json!(null)),
        (json!(["X"]), false, one_parameter(), "x", json!(["x"])),
        // An empty set leaves the template as it is.
        (json!(null), false, ParameterSet::default(), "X", json!(null)),
        (json!(["X"]), false, ParameterSet::default(), "X", json!(["X"])),
    ];
    for (finalizers, preserves_resources_on_deletion, parameters, name, expected) in cases {
        let template =
            template(&json!({"metadata": {"name": "X", "namespace": "own", "finalizers": finalizers}}));
        let options =
            RenderOptions { preserves_resources_on_deletion, namespace: "argocd", template_patch: None };
        let (application, _) = render_application(&template, &parameters, &options, &Toy).unwrap();
        let metadata = &application["metadata"];
        assert_eq!((&metadata["name"], &metadata["namespace"]), (&json!(name), &json!("argocd")));
        assert_eq!(metadata.get("finalizers").cloned().unwrap_or_default(), expected);
    }
}

#[test]
fn patch_is_rendered_and_cannot_change_namespace() {
    let options = RenderOptions {
        template_patch: Some("metadata: {name: pX, namespace: other, finalizers: [f]}"),
        namespace: "argocd",
        ..RenderOptions::default()
    };
    let cases = [
        (
            one_parameter(),
            json!({"name": "px", "namespace": "argocd", "finalizers": ["f", "resources-finalizer.argocd.argoproj.io"]}),
        ),
        (ParameterSet::default(), json!({"name": "px", "namespace": "argocd", "finalizers": ["f"]})),
    ];
    for (parameters, metadata) in cases {
        let template = template(&json!({"metadata": {"name": "X"}}));
        let (application, _) = render_application(&template, &parameters, &options, &Toy).unwrap();
        assert_eq!(application["metadata"], metadata);
    }
}

#[test]
fn strings_that_cannot_be_rendered_are_located() {
    let cases = [
        // (template, patch, place, message)
        (json!({"metadata": {"labels": {"k": "bad"}}}), None, "metadata.labels.k", "no"),
        (
            json!({"spec": {"source": {"helm": {"valuesObject": {"a": [{"bad": 1}]}}}}}),
            None,
            "spec.source.helm.valuesObject.a[0].bad",
            "failed to deeply replace JSON field contents: no",
        ),
        (json!({}), Some("bad"), "", "error replacing values in templatePatch: no"),
        (
            json!({}),
            Some("X"),
            "",
            "invalid templatePatch \"\\\"x\\\"\": json: cannot unmarshal string into Go value of type v1alpha1.Application",
        ),
    ];
    for (value, template_patch, place, message) in cases {
        let options = RenderOptions { template_patch, ..RenderOptions::default() };
        let error = render_application(&template(&value), &one_parameter(), &options, &Toy).unwrap_err();
        let path = match error.place {
            RenderPlace::Template(path) => path.to_string(),
            RenderPlace::TemplatePatch => String::new(),
        };
        assert_eq!((path.as_str(), error.message.as_str()), (place, message));
    }
}
