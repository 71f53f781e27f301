use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use tiphys_model::resources::ApplicationSet;
use tiphys_yaml::read_json;

use crate::appset::{Answers, GenerateOptions, TemplateMode, generate};

/// The parameters of one cluster with these annotations.
fn parameters(mode: TemplateMode, annotations: &Value) -> Value {
    let set = json!({"metadata": {"name": "set"}, "spec": {
        "goTemplate": mode == TemplateMode::Go,
        "generators": [{"clusters": {"selector": {"matchLabels": {"a": "b"}}}}],
        "template": {"metadata": {"name": "x"}, "spec": {}},
    }});
    let document = read_json(set.to_string().as_bytes()).expect("JSON");
    let set = ApplicationSet::decode(&document).expect("a set").value;
    let generated = |answers: &Answers| generate(&set, answers, GenerateOptions::at(UNIX_EPOCH));
    let questions = generated(&Answers::default()).expect("valid options").questions;
    let mut answers = Answers::default();
    let cluster =
        json!({"name": "c", "server": "https://c", "labels": {"a": "b"}, "annotations": annotations});
    answers.insert(&questions[0], Ok(cluster.as_object().cloned().into_iter().collect()));
    let generated = generated(&answers).expect("valid options");
    Value::from(generated.applications[0].parameters.values.clone())
}

#[test]
fn annotations_of_controllers_are_left_out() {
    let left_out = json!({
        "argocd.argoproj.io/hydrate": "x",
        "argocd.argoproj.io/hydrate-timestamp": "x",
        "argocd.argoproj.io/installation-id": "x",
        "argocd.argoproj.io/refresh": "hard",
        "argocd.argoproj.io/refresh-timestamp": "x",
        "argocd.argoproj.io/tracking-id": "x",
        "kubectl.kubernetes.io/last-applied-configuration": "x",
    });
    let mut some = left_out.clone();
    some["argocd.argoproj.io/managed-by"] = json!("m");
    for (annotations, expected) in [
        (&json!(null), None),
        (&left_out, Some(json!({}))),
        (&some, Some(json!({"argocd.argoproj.io/managed-by": "m"}))),
    ] {
        let parameters = parameters(TemplateMode::Go, annotations);
        assert_eq!(parameters["metadata"].get("annotations"), expected.as_ref(), "{annotations}");
    }
    let parameters = parameters(TemplateMode::Fast, &some);
    let names: Vec<_> = parameters.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let with_prefix: Vec<_> =
        names.into_iter().filter(|name| name.starts_with("metadata.annotations")).collect();
    assert_eq!(with_prefix, ["metadata.annotations.argocd.argoproj.io/managed-by"]);
}
