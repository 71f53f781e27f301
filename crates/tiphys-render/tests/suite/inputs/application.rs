//! Random Applications of a repository, and random changes of their settings.

use serde_json::{Value, json};
use tiphys_model::resources::Application;
use tiphys_testkit::dice::Dice;

/// The address of the repository.
pub(crate) const REPOSITORY: &str = "https://git.example.org/team/apps.git";

/// The address of a repository of value files.
pub(crate) const VALUES: &str = "https://git.example.org/team/values.git";

/// The address of the Helm repository that a folder of the first repository stands for.
pub(crate) const CHARTS: &str = "https://charts.example.org";

const VALUE_FILES: [&str; 9] = [
    "values-prod.yaml",
    "../../env/prod.yaml",
    "/env/test.yaml",
    "/env/*.yaml",
    "/env/*/a.yaml",
    "../../env/eu/?.yaml",
    "$values/env/us/a.yaml",
    "$values/env/{eu,us}/*.yaml",
    "/charts/web/link",
];

/// Returns the Applications of a repository.
pub(crate) fn random_applications(dice: &mut Dice) -> Vec<Value> {
    let charts = ["charts/web", "charts/web", "charts/db", "charts/old"].map(|path| chart(path, dice));
    let kustomization =
        |path| document(json!({"source": source(path, "kustomize", json!({"namePrefix": "k-"}))}));
    let untyped = |path| document(json!({"source": {"repoURL": REPOSITORY, "path": path}}));
    let directory = |path, block| document(json!({"source": source(path, "directory", block)}));
    let mut all = charts.to_vec();
    let packaged = json!({"repoURL": CHARTS, "chart": "packaged", "targetRevision": "*"});
    all.push(document(json!({"source": packaged})));
    all.extend([
        kustomization("overlays/prod"),
        untyped("overlays/test"),
        untyped(dice.one(&["bases/x", "charts/web", "plain/two", "charts/db/link"])),
        directory("plain/one", json!({"recurse": dice.chance(50)})),
        directory(
            "plain",
            json!({"recurse": true, "exclude": dice.one(&["one/*", "*/sub/*", "{*/a.yaml,x}"])}),
        ),
        untyped("plain/two"),
    ]);
    all
}

/// Changes a setting. Some of them count, some do not.
pub(crate) fn change(application: &mut Value, dice: &mut Dice) {
    match dice.below(7) {
        0 => application["metadata"]["labels"] = json!({"team": "a"}),
        1 => application["metadata"]["name"] = json!("other"),
        2 => application["spec"]["syncPolicy"] = json!({"automated": {}}),
        3 => application["spec"]["destination"]["namespace"] = json!("other"),
        4 => application["spec"]["source"] = json!({"repoURL": REPOSITORY, "path": "bases/x"}),
        5 => application["spec"]["sources"] = chart("charts/web", dice)["spec"]["sources"].take(),
        _ => application["metadata"]["annotations"] = json!({"a": "b"}),
    }
}

/// Reads an Application.
pub(crate) fn decoded(application: &Value) -> Application {
    let node = tiphys_yaml::read_json(application.to_string().as_bytes()).expect("it is JSON");
    Application::decode(&node).expect("it is an Application").value
}

fn chart(path: &str, dice: &mut Dice) -> Value {
    let values = json!({"repoURL": dice.one(&[REPOSITORY, VALUES]), "ref": "values"});
    document(json!({"sources": [source(path, "helm", helm(dice)), values]}))
}

fn helm(dice: &mut Dice) -> Value {
    let files: Vec<&str> = (0..dice.below(4)).map(|_| dice.one(&VALUE_FILES)).collect();
    let mut helm = json!({"valueFiles": files, "ignoreMissingValueFiles": dice.chance(50)});
    if dice.chance(30) {
        helm["fileParameters"] = json!([{"name": "motd", "path": "/other/motd.yaml"}]);
    }
    if dice.chance(5) {
        helm["parameters"] = json!([{"name": "commit", "value": "$ARGOCD_APP_REVISION"}]);
    }
    helm
}

fn source(path: &str, kind: &str, block: Value) -> Value {
    let mut source = json!({"repoURL": REPOSITORY, "path": path});
    source[kind] = block;
    source
}

fn document(mut spec: Value) -> Value {
    spec["project"] = json!("default");
    spec["destination"] = json!({"namespace": "shop"});
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": "shop", "namespace": "argocd"}, "spec": spec,
    })
}
