//! Recorded reconciles of Argo CD's controller, with a list generator that makes the given Applications.

use serde_json::{Value, json};
use tiphys_engine::appset::{
    Action, Change, DestinationCluster, Event, GenerateError, GenerateErrorReason, Generated,
    GeneratedApplication, Outcome, ParameterSet, Plan, PlanError, PlanInput, PlanSettings,
    PlannedApplication, StatusInput, owned_applications, plan, plan_set_deletion, refresh_patch, status,
};
use tiphys_model::resources::{APPLICATION, ApplicationSet, canonical, decode_value};
use tiphys_testkit::oracle::{self, Difference};
use tiphys_yaml::read_json;

#[test]
fn actions_are_those_of_argo_cd() {
    oracle::check("appset-plan", |case| {
        let reconcile = Reconcile::of(&case["input"]);
        let ours = if case["input"]["applicationSet"]["metadata"].get("deletionTimestamp").is_some() {
            reconcile.deletion()
        } else {
            reconcile.output()
        };
        Some(compared(ours, recorded(&case["output"])))
    });
}

#[test]
fn validation_errors_are_those_of_argo_cd() {
    oracle::check("appset-validate", |case| {
        let reconcile = Reconcile::of(&case["input"]);
        let plan = &reconcile.plan;
        let key = |one: &PlannedApplication| format!("{}/{}", one.namespace, one.name);
        let errors =
            plan.applications.iter().filter_map(|one| Some((key(one), Value::from(one.error.clone()?))));
        let created = plan.to_apply().expect("no refusal").into_iter().map(|one| one.name.as_str());
        let ours = json!({
            "errors": errors.collect::<serde_json::Map<_, _>>(),
            "created": created.collect::<Vec<_>>(),
            "conditions": conditions(&reconcile.status()),
            "requeueAfterSeconds": plan.requeue_after_seconds.unwrap_or(0),
        });
        let output = &case["output"];
        let outputs = output["alternatives"].as_array().cloned().unwrap_or_else(|| vec![output.clone()]);
        let fields = |output: &Value| {
            json!({
                "errors": output["errors"],
                "created": output["created"],
                "conditions": in_words_of_3_6_1(&output["conditions"]),
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

/// A case, planned.
struct Reconcile<'a> {
    input: &'a Value,
    set: ApplicationSet,
    settings: PlanSettings,
    plan: Plan,
}

impl<'a> Reconcile<'a> {
    fn of(input: &'a Value) -> Self {
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
        let settings = settings(input);
        let plan = plan(&PlanInput {
            set: &set,
            generated: &Generated {
                applications: list(input, "desired").iter().map(generated).collect(),
                errors: input.get("generateError").map(error).into_iter().collect(),
                ..Generated::default()
            },
            existing: list(input, "existing"),
            settings: &settings,
            jq: &tiphys_jq::removal,
            requeue_after_seconds: input["generatorRequeueAfterSeconds"].as_u64(),
        });
        Self { input, set, settings, plan }
    }

    /// Returns what is recorded of a reconcile.
    fn output(&self) -> Value {
        let (plan, status) = (&self.plan, self.status());
        let to_apply = plan.to_apply().expect("no refusal");
        let events = to_apply.iter().flat_map(|one| one.action.events(&one.name));
        let after = after(plan, self.input).into_iter().map(without_status);
        json!({
            "actions": actions(plan),
            "applicationsAfter": after.collect::<Vec<_>>(),
            "reconcileError": plan.error.as_ref().and_then(reconcile_error),
            "requeueAfterSeconds": plan.requeue_after_seconds.unwrap_or(0),
            "events": events.map(|event| format!("{} {} {}", Event::TYPE, event.reason, event.message)).collect::<Vec<_>>(),
            "conditions": conditions(&status),
            "statusResources": list(&status, "resources").iter().map(without_type).collect::<Vec<_>>(),
            "statusResourcesCount": status["resourcesCount"].as_u64().unwrap_or(0),
            "statusHealth": status["health"],
            "applicationSetAnnotations": self.patched_set(refresh_patch(&self.set))["annotations"],
            "applicationSetGone": false,
        })
    }

    /// Returns what is recorded of the deletion of the set.
    fn deletion(&self) -> Value {
        let existing = list(self.input, "existing");
        let deletion = plan_set_deletion(&self.set, existing, &self.settings).expect("no order");
        let patch = |one: &Value| {
            let (_, patch) =
                deletion.owner_patches.iter().find(|(name, _)| one["metadata"]["name"] == **name)?;
            (one["metadata"]["namespace"] == *self.set.metadata.namespace).then_some(patch)
        };
        let after: Vec<Value> = existing
            .iter()
            .map(|one| patch(one).map_or_else(|| one.clone(), |patch| merge(one, patch)))
            .collect();
        let orphaned = existing.iter().zip(&after).filter(|(before, after)| before != after);
        let update = |kind: &str, metadata: &Value| json!({"kind": kind, "name": metadata["name"], "verb": "update", "metadata": metadata});
        let set = self.patched_set(deletion.finalizers_patch.clone());
        let orphans = orphaned.map(|(_, after)| update("Application", &after["metadata"]));
        json!({
            "actions": orphans.chain([update("ApplicationSet", &set)]).collect::<Vec<_>>(),
            "applicationsAfter": after.into_iter().map(without_status).collect::<Vec<_>>(),
            "reconcileError": null,
            "requeueAfterSeconds": 0,
            "events": [],
            "conditions": [],
            "statusResources": [],
            "statusResourcesCount": 0,
            "statusHealth": null,
            "applicationSetAnnotations": null,
            "applicationSetGone": set.get("finalizers").is_none(),
        })
    }

    /// Returns the status of the set after the reconcile.
    fn status(&self) -> Value {
        let after = after(&self.plan, self.input);
        status(&StatusInput {
            status: &self.input["applicationSet"]["status"],
            outcome: &Outcome::of_plan(&self.plan, &[]),
            applications: &owned_applications(&self.set, &after, &self.settings),
            max_resources: self.input["maxResourcesStatusCount"]
                .as_u64()
                .map_or(0, |max| usize::try_from(max).expect("a size")),
            now: "2024-01-01T00:00:00Z",
        })
    }

    /// Returns the metadata of the set after a patch.
    fn patched_set(&self, patch: Option<Value>) -> Value {
        let mut set = self.input["applicationSet"].clone();
        if set["metadata"].get("deletionTimestamp").is_some() {
            set["metadata"]["deletionTimestamp"] = json!("$NOW");
        }
        merge(&set, &patch.unwrap_or_else(|| json!({})))["metadata"].clone()
    }
}

/// Returns a value after a JSON merge patch.
fn merge(value: &Value, patch: &Value) -> Value {
    let Some(patch) = patch.as_object() else { return patch.clone() };
    let mut fields = value.as_object().cloned().unwrap_or_default();
    for (key, patch) in patch {
        let before = fields.remove(key).unwrap_or_default();
        if !patch.is_null() {
            fields.insert(key.clone(), merge(&before, patch));
        }
    }
    Value::Object(fields)
}

/// Returns the conditions of a status without their times.
fn conditions(status: &Value) -> Vec<Value> {
    let without_time = |condition: &Value| merge(condition, &json!({"lastTransitionTime": null}));
    list(status, "conditions").iter().map(without_time).collect()
}

/// The answers are those of Argo CD 3.6.0. Later, this message changed.
fn in_words_of_3_6_1(conditions: &Value) -> Value {
    let mut conditions = conditions.clone();
    for condition in conditions.as_array_mut().into_iter().flatten() {
        if condition["message"] == "Successfully generated parameters for all Applications" {
            condition["message"] = json!("All parameters have been generated successfully");
        }
    }
    conditions
}

/// Lists of the recorded API server omit the types of their objects.
fn without_type(resource: &Value) -> Value {
    assert_eq!(
        (&resource["group"], &resource["version"], &resource["kind"]),
        (&json!("argoproj.io"), &json!("v1alpha1"), &json!("Application"))
    );
    merge(resource, &json!({"group": null, "version": null, "kind": null}))
}

/// The settings of a case. Adoptions and deletions are allowed, as always in Argo CD.
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
        are_deletions_allowed: true,
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
    let is_gone = output["applicationSetGone"] == true;
    let is_deletion = is_gone || output["conditions"] == json!([]);
    // The removal of the refresh annotation is compared by its result.
    let actions =
        list(output, "actions").iter().filter(|action| is_deletion || action["kind"] == "Application");
    let after = list(output, "applicationsAfter").iter().cloned().map(without_status);
    let or_default = |field: &str, default: Value| output.get(field).cloned().unwrap_or(default);
    json!({
        "actions": actions.collect::<Vec<_>>(),
        "applicationsAfter": after.collect::<Vec<_>>(),
        "reconcileError": output["reconcileError"],
        "requeueAfterSeconds": output["requeueAfterSeconds"],
        "events": output["events"],
        "conditions": in_words_of_3_6_1(&or_default("conditions", json!([]))),
        "statusResources": or_default("statusResources", json!([])),
        "statusResourcesCount": or_default("statusResourcesCount", json!(0)),
        "statusHealth": output["statusHealth"],
        "applicationSetAnnotations": output["applicationSetAnnotations"],
        "applicationSetGone": is_gone,
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
    left.into_values().collect()
}

/// Returns an Application as Argo CD prints it, without its type and status.
fn without_status(application: Value) -> Value {
    let mut application = canonical(&APPLICATION, application);
    if let Some(fields) = application.as_object_mut() {
        fields.retain(|field, _| !matches!(field.as_str(), "apiVersion" | "kind"));
    }
    application
}
