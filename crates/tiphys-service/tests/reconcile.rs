//! Sets of a cluster: the recorded answers of Argo CD's controller, from the objects of its control plane.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use tempfile::TempDir;
use tiphys_engine::appset::GenerateErrorReason;
use tiphys_service::{
    ControlPlaneObjects, ControllerSettings, CurrentCheckout, DecodedSet, GenerateRequest, Host, Service,
    ServiceOptions, generate_set,
};
use tiphys_testkit::canned_server::CannedServer;
use tiphys_testkit::oracle::{self, Difference};
use tiphys_testkit::recorded_sets::{
    canned, has_panicked, is_equal, needs_only_plugins, ours, outputs, recorded,
};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn sets_of_a_cluster_generate_recorded_applications() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut answers = BTreeMap::new();
    for case in oracle::cases("appset-generate") {
        if needs_only_plugins(&case) {
            answers.insert(case["id"].to_string(), generated(&dir, &case["input"]).await);
        }
    }
    assert!(answers.len() > 200, "{} cases", answers.len());
    oracle::check("appset-generate.cluster", |case| {
        let answer = answers.remove(&case["id"].to_string())?;
        let outputs = outputs(case);
        let is_recorded = outputs.iter().any(|output| is_equal(&answer, &recorded(output)));
        Some(if is_recorded || has_panicked(&outputs) {
            Ok(())
        } else {
            Err(Difference::new(&answer, recorded(&outputs[0])))
        })
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn cluster_secret_of_a_tenant_is_not_a_cluster_of_the_control_plane() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let labels = json!({"argocd.argoproj.io/secret-type": "cluster"});
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "token", "namespace": "team", "labels": labels},
        "data": {"name": "dGVuYW50", "server": "aHR0cHM6Ly90ZW5hbnQ="},
    });
    let set = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet",
        "metadata": {"name": "set", "namespace": "team"},
        "spec": {"generators": [{"clusters": {}}], "template": {
            "metadata": {"name": "{{name}}"},
            "spec": {"project": "default", "destination": {"server": "{{server}}", "namespace": "x"},
                "source": {"repoURL": "https://git.example.org/apps.git", "path": "x"}},
        }},
    });
    let request = GenerateRequest {
        set: &DecodedSet::decode(&set).expect("a valid set"),
        objects: &ControlPlaneObjects::new(Vec::new()),
        own_objects: &[Arc::new(secret)],
        settings: &ControllerSettings::default(),
        default_requeue_seconds: 180,
        knows_clusters: true,
        cluster: None,
    };
    let generated = generate_set(&service(&dir, "argocd"), &request, &CancellationToken::new()).await;
    assert_eq!(generated.expect("a valid set").names(), ["in-cluster"]);
}

/// Generates a set as the controller does, and returns the result as [`recorded`] has it.
async fn generated(dir: &TempDir, input: &Value) -> Value {
    let canned_answers = input["pluginAnswers"].clone();
    let server = CannedServer::start(None, move |request| canned(&canned_answers, request));
    let text = input.to_string().replace("$BASE", &server.url()).replace("$HOST", &server.host());
    let input: Value = serde_json::from_str(&text).expect("JSON");
    let namespace = input["controllerNamespace"].as_str().expect("a namespace");
    let service = service(dir, namespace);
    let set = match DecodedSet::decode(&input["applicationSet"]) {
        Ok(set) => set,
        Err(error) => return ours(Vec::new(), Some(("", &error.message()))),
    };
    let objects = ControlPlaneObjects::new(
        input["objects"].as_array().into_iter().flatten().cloned().map(Arc::new).collect(),
    );
    let request = GenerateRequest {
        set: &set,
        objects: &objects,
        own_objects: &[],
        settings: &ControllerSettings::default(),
        default_requeue_seconds: 180,
        knows_clusters: true,
        cluster: None,
    };
    let result = match generate_set(&service, &request, &CancellationToken::new()).await {
        Ok(set) => {
            let generated = set.generated();
            let applications = generated.applications.iter().map(|one| one.application.value()).collect();
            let error = generated.errors.first().map(|error| (reason(error.reason), error.message.as_str()));
            ours(applications, error)
        }
        Err(error) => ours(Vec::new(), Some(("", &error.message()))),
    };
    let text = result.to_string().replace(&server.url(), "$BASE").replace(&server.host(), "$HOST");
    serde_json::from_str(&text).expect("JSON")
}

fn reason(reason: GenerateErrorReason) -> &'static str {
    match reason {
        GenerateErrorReason::Generator => "ApplicationGenerationFromParamsError",
        GenerateErrorReason::Template => "RenderTemplateParamsError",
    }
}

fn service(dir: &TempDir, namespace: &str) -> Service {
    let options = ServiceOptions {
        cache_dir: Some(dir.path().join("cache")),
        current_checkout: CurrentCheckout::Unused,
        argocd_namespace: Some(namespace.to_owned()),
        strict: true,
        ..ServiceOptions::default()
    };
    fs::create_dir_all(dir.path().join("cache")).expect("the folder can be made");
    let host = Host {
        variables: BTreeMap::new(),
        executable: "/nonexistent".into(),
        plugin_programs: &[],
        native_commands: &[],
        in_process_commands: &[],
        current_dir: dir.path().to_owned(),
        processors: 1,
        standard_input: || Box::new(std::io::empty()),
        clock: || UNIX_EPOCH,
    };
    Service::open(options, host).expect("the cache can be made")
}
