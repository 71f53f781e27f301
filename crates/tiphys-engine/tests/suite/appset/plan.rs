//! Recorded reconciles of Argo CD's controller, with a list generator that makes the given Applications.

use serde_json::{Value, json};
use tiphys_engine::appset::{
    Action, Change, DestinationCluster, GenerateError, GenerateErrorReason, Generated, GeneratedApplication,
    ParameterSet, Plan, PlanError, PlanInput, PlanSettings, plan,
};
use tiphys_model::resources::{APPLICATION, ApplicationSet, canonical, decode_value};
use tiphys_testkit::oracle::{self, Difference};
use tiphys_yaml::read_json;

#[test]
fn actions_are_those_of_argo_cd() {
    oracle::check("appset-plan", |case| {
        let input = &case["input"];
        // The deletion of a set is a task of its own.
        if input["applicationSet"]["metadata"].get("deletionTimestamp").is_some() {
            return None;
        }
        let plan = planned(input);
        let ours = json!({
            "actions": actions(&plan),
            "applicationsAfter": after(&plan, input),
            "reconcileError": plan.error.as_ref().and_then(reconcile_error),
            "requeueAfterSeconds": plan.requeue_after_seconds.unwrap_or(0),
        });
        Some(compared(ours, recorded(&case["output"])))
    });
}

#[test]
fn validation_errors_are_those_of_argo_cd() {
    oracle::check("appset-validate", |case| {
        let plan = planned(&case["input"]);
        let key = |one: &tiphys_engine::appset::PlannedApplication| format!("{}/{}", one.namespace, one.name);
        let errors =
            plan.applications.iter().filter_map(|one| Some((key(one), Value::from(one.error.clone()?))));
        let created = plan.to_apply().expect("no refusal").into_iter().map(|one| one.name.as_str());
        let ours = json!({
            "errors": errors.collect::<serde_json::Map<_, _>>(),
            "created": created.collect::<Vec<_>>(),
            "requeueAfterSeconds": plan.requeue_after_seconds.unwrap_or(0),
        });
        let output = &case["output"];
        let outputs = output["alternatives"].as_array().cloned().unwrap_or_else(|| vec![output.clone()]);
        let fields = |output: &Value| {
            json!({
                "errors": output["errors"],
                "created": output["created"],
                "requeueAfterSeconds": output["requeueAfterSeconds"],
            })
        };
        let is_recorded = outputs.iter().any(|output| fields(output) == ours);
        Some(if is_recorded { Ok(()) } else { Err(Difference::new(ours, fields(&outputs[0]))) })
    });
}

fn compared(ours: Value, recorded: Value) -> Result<(), Difference> {
    if ours == recorded { Ok(()) } else { Err(Difference::new(ours, recorded)) }
}

fn planned(input: &Value) -> Plan {
    let document = read_json(input["applicationSet"].to_string().as_bytes()).expect("JSON");
    let set = ApplicationSet::decode(&document).expect("a set").value;
    let error = |message: &Value| GenerateError {
        reason: GenerateErrorReason::Generator,
        position: document.position,
        message: message.as_str().expect("a string").to_owned(),
    };
    let generated = |application| GeneratedApplication {
        application: decode_value(&APPLICATION, application).expect("an Application").value.into(),
        generator: "spec.generators[0].list".to_owned(),
        parameters: ParameterSet::default(),
        patch: None,
    };
    let existing = list(input, "existing");
    let plan_input = PlanInput {
        set: &set,
        generated: &Generated {
            applications: list(input, "desired").iter().map(generated).collect(),
            errors: input.get("generateError").map(error).into_iter().collect(),
            ..Generated::default()
        },
        existing,
        settings: &settings(input),
        jq: &tiphys_jq::removal,
        requeue_after_seconds: input["generatorRequeueAfterSeconds"].as_u64(),
    };
    plan(&plan_input)
}

/// The settings of a case. Adoptions are allowed, as always in Argo CD.
fn settings(input: &Value) -> PlanSettings {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let strings = |key: &str| list(input, key).iter().map(text).collect();
    let namespace = &input["controllerNamespace"];
    let objects = |kind: &'static str| {
        let is_meant =
            move |object: &&Value| object["kind"] == kind && object["metadata"]["namespace"] == *namespace;
        list(input, "objects").iter().filter(is_meant)
    };
    let is_cluster =
        |secret: &&Value| secret["metadata"]["labels"]["argocd.argoproj.io/secret-type"] == "cluster";
    let data = |secret: &Value, key: &str| {
        String::from_utf8(oracle::base64(secret["data"][key].as_str().unwrap_or_default())).expect("UTF-8")
    };
    let cluster = |secret| DestinationCluster { name: data(secret, "name"), server: data(secret, "server") };
    PlanSettings {
        controller_namespace: text(namespace),
        policy: text(&input["policy"]),
        is_policy_override_enabled: input["enablePolicyOverride"] == true,
        preserved_annotations: strings("preservedAnnotations"),
        preserved_labels: strings("preservedLabels"),
        projects: Some(objects("AppProject").map(|project| text(&project["metadata"]["name"])).collect()),
        clusters: Some(objects("Secret").filter(is_cluster).map(cluster).collect()),
        adoptions: list(input, "existing").iter().map(|one| text(&one["metadata"]["name"])).collect(),
        ..PlanSettings::default()
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// Errors of generators are conditions of the set. The reconcile succeeds.
fn reconcile_error(error: &PlanError) -> Option<String> {
    (!matches!(error, PlanError::Generate(_))).then(|| error.to_string())
}

fn recorded(output: &Value) -> Value {
    // Requests for the set itself are not part of the plan.
    let actions = list(output, "actions").iter().filter(|action| action["kind"] == "Application");
    json!({
        "actions": actions.collect::<Vec<_>>(),
        "applicationsAfter": list(output, "applicationsAfter").iter().cloned().map(without_status).collect::<Vec<_>>(),
        "reconcileError": output["reconcileError"],
        "requeueAfterSeconds": output["requeueAfterSeconds"],
    })
}

fn actions(plan: &Plan) -> Vec<Value> {
    let mut actions = Vec::new();
    for one in plan.to_apply().expect("no refusal") {
        let mut action = |verb: &str, field: Option<(&str, &Value)>| {
            let mut action = json!({"kind": "Application", "name": one.name, "verb": verb});
            if let Some((field, value)) = field {
                action[field] = value.clone();
            }
            if verb == "patch" {
                action["patchType"] = Value::from("application/merge-patch+json");
            }
            actions.push(action);
        };
        match &one.action {
            Action::None => {}
            Action::Create(object) => action("create", Some(("object", object))),
            Action::Patch(patch) => action("patch", Some(("patch", patch))),
            Action::Delete { finalizers_patch } => {
                if let Some(patch) = finalizers_patch {
                    action("patch", Some(("patch", patch)));
                }
                action("delete", None);
            }
        }
    }
    actions
}

/// Returns the Applications after the actions of a plan, sorted as recorded. Those with finalizers stay after their deletion.
fn after(plan: &Plan, input: &Value) -> Vec<Value> {
    let key = |one: &Value| {
        ["namespace", "name"].map(|key| one["metadata"][key].as_str().unwrap_or_default().to_owned())
    };
    let mut left: std::collections::BTreeMap<_, _> =
        list(input, "existing").iter().map(|one| (key(one), one.clone())).collect();
    for one in plan.to_apply().expect("no refusal") {
        let key = [one.namespace.clone(), one.name.clone()];
        let Action::Delete { finalizers_patch } = &one.action else {
            assert!(matches!(one.change, Change::Added | Change::Changed), "{one:?}");
            left.insert(key, one.after.clone().expect("an object"));
            continue;
        };
        let object = left.get_mut(&key).expect("the object exists");
        let metadata = object["metadata"].as_object_mut().expect("an object");
        metadata.insert("deletionTimestamp".to_owned(), Value::from("$NOW"));
        if let Some(patch) = finalizers_patch {
            metadata.insert("finalizers".to_owned(), patch["metadata"]["finalizers"].clone());
        }
        if metadata.get("finalizers").is_none_or(Value::is_null) {
            left.remove(&key);
        }
    }
    left.into_values().map(without_status).collect()
}

/// Returns an Application as Argo CD prints it, without its type and status.
fn without_status(application: Value) -> Value {
    let mut application = canonical(&APPLICATION, application);
    if let Some(fields) = application.as_object_mut() {
        fields.retain(|field, _| !matches!(field.as_str(), "apiVersion" | "kind"));
    }
    application
}
