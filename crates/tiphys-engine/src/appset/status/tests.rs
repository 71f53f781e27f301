use serde_json::{Value, json};
use tiphys_model::resources::ApplicationSet;
use tiphys_yaml::{Position, read_json};

use super::{FailureReason, Outcome, StatusInput, refresh_patch, status};
use crate::appset::{
    Action, ApplicationError, Change, GenerateError, GenerateErrorReason, Guard, Plan, PlanError,
    PlannedApplication, Policy,
};

const GUARD: Guard = Guard { deletions: 6, owned: 10, max_percent: 50 };
const UP_TO_DATE: &str = "All applications have been generated successfully";
const ROLLING_SYNC: &str = "spec.strategy: RollingSync is not supported; use AllAtOnce, or have Argo CD's controller reconcile this set";

fn failed(reason: FailureReason, message: &str) -> Outcome {
    Outcome::Failed { reason, message: message.to_owned() }
}

fn after(current: &Value, outcome: &Outcome, applications: &[&Value], max: usize, now: &str) -> Value {
    status(&StatusInput { status: current, outcome, applications, max_resources: max, now })
}

/// Returns type, status, reason, message and time of each condition.
fn conditions(status: &Value) -> Vec<[&str; 5]> {
    let conditions = status["conditions"].as_array().expect("a list").iter();
    let fields = ["type", "status", "reason", "message", "lastTransitionTime"];
    conditions.map(|one| fields.map(|field| one[field].as_str().expect("a string"))).collect()
}

fn times(status: &Value) -> Vec<&str> {
    conditions(status).iter().map(|condition| condition[4]).collect()
}

fn set(metadata: &Value, spec: &Value) -> ApplicationSet {
    let set = json!({"metadata": metadata, "spec": spec});
    ApplicationSet::decode(&read_json(set.to_string().as_bytes()).expect("JSON")).expect("a set").value
}

#[test]
fn outcome_determines_conditions_and_health() {
    let guarded = format!(
        "{GUARD} by the annotation tiphys/allow-deletions: its value must be metadata.generation of the set"
    );
    let failures = [
        (FailureReason::Generator, "ApplicationGenerationFromParamsError", false),
        (FailureReason::Template, "RenderTemplateParamsError", false),
        (FailureReason::Permission, "PermissionDenied", false),
        (FailureReason::Policy, "UnknownPolicy", true),
        (FailureReason::Validation, "ApplicationValidationError", true),
        (FailureReason::Create, "CreateApplicationError", true),
        (FailureReason::Update, "UpdateApplicationError", true),
        (FailureReason::Delete, "DeleteApplicationError", true),
        (FailureReason::Refresh, "RefreshApplicationError", true),
    ];
    let generated = [
        "ParametersGenerated",
        "True",
        "ParametersGenerated",
        "All parameters have been generated successfully",
        "1",
    ];
    for (reason, word, has_parameters) in failures {
        let status = after(&Value::Null, &failed(reason, "boom"), &[], 0, "1");
        let not_generated = ["ParametersGenerated", "False", "ErrorOccurred", "boom", "1"];
        let expected = [
            ["ErrorOccurred", "True", word, "boom", "1"],
            if has_parameters { generated } else { not_generated },
            ["ResourcesUpToDate", "False", "ErrorOccurred", "boom", "1"],
        ];
        assert_eq!(conditions(&status), expected, "{reason:?}");
        assert_eq!(status["health"], json!({"status": "Degraded", "message": "boom"}));
    }
    let status = after(&Value::Null, &Outcome::Guarded(GUARD), &[], 0, "1");
    let expected = [
        ["DeletionsGuarded", "True", "TooManyDeletions", &guarded, "1"],
        ["ErrorOccurred", "True", "TooManyDeletions", &guarded, "1"],
        generated,
        ["ResourcesUpToDate", "False", "ErrorOccurred", &guarded, "1"],
    ];
    assert_eq!(conditions(&status), expected);
    assert_eq!(status["health"], json!({"status": "Degraded", "message": guarded}));
    let status = after(&status, &Outcome::UpToDate, &[], 0, "2");
    let expected = [
        ["ErrorOccurred", "False", "ApplicationSetUpToDate", UP_TO_DATE, "2"],
        generated,
        ["ResourcesUpToDate", "True", "ApplicationSetUpToDate", UP_TO_DATE, "2"],
    ];
    assert_eq!(conditions(&status), expected);
    assert_eq!(status["health"], json!({"status": "Healthy", "message": UP_TO_DATE}));
}

#[test]
fn unchanged_status_keeps_times() {
    let application = json!({"metadata": {"name": "a", "namespace": "argocd"}});
    let outcomes = [
        Outcome::UpToDate,
        Outcome::Guarded(GUARD),
        Outcome::RollingSync,
        failed(FailureReason::Update, "boom"),
    ];
    for outcome in outcomes {
        let first = after(&Value::Null, &outcome, &[&application], 0, "1");
        assert_eq!(after(&first, &outcome, &[&application], 0, "2"), first, "{outcome:?}");
    }
    let first = after(&Value::Null, &failed(FailureReason::Update, "boom"), &[], 0, "1");
    let second = after(&first, &failed(FailureReason::Update, "bang"), &[], 0, "2");
    assert_eq!(times(&second), ["2", "1", "2"]);
    let third = after(&second, &failed(FailureReason::Delete, "bang"), &[], 0, "3");
    assert_eq!(times(&third), ["3", "1", "2"]);
}

#[test]
fn fields_and_conditions_of_others_are_kept() {
    let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "0"});
    let others = ["Z", "RolloutProgressing", "InvalidRolloutConfig", "RollingSyncUnsupported", "A"];
    let current = json!({
        "applicationStatus": [{"application": "a", "step": "1"}],
        "conditions": others.map(condition),
        "custom": 1,
    });
    let status = after(&current, &Outcome::UpToDate, &[], 0, "1");
    let types: Vec<&str> = conditions(&status).iter().map(|condition| condition[0]).collect();
    assert_eq!(types, ["A", "ErrorOccurred", "ParametersGenerated", "ResourcesUpToDate", "Z"]);
    assert_eq!(status["conditions"][0], condition("A"));
    for field in ["applicationStatus", "custom"] {
        assert_eq!(status[field], current[field]);
    }
}

#[test]
fn rolling_sync_adds_its_condition_alone() {
    let application = json!({"metadata": {"name": "a", "namespace": "argocd"}});
    let before = json!({
        "conditions": [{"type": "RolloutProgressing", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "0"}],
        "health": {"status": "Progressing", "message": "m"},
        "resources": [],
    });
    let status = after(&before, &Outcome::RollingSync, &[&application], 0, "1");
    let other = Outcome::OtherController("argocd".to_owned());
    let shared = after(&before, &other, &[&application], 0, "1");
    let message = "argocd reconciles this set, too; stop one of the controllers";
    assert!(
        conditions(&shared).contains(&["OtherController", "True", "OtherControllerActive", message, "1"]),
        "{shared}"
    );
    let own = ["RollingSyncUnsupported", "True", "RollingSyncUnsupported", ROLLING_SYNC, "1"];
    assert_eq!(conditions(&status), [own, ["RolloutProgressing", "True", "R", "m", "0"]]);
    for field in ["health", "resources"] {
        assert_eq!(status[field], before[field]);
    }
    let cases = [
        (json!({"type": "RollingSync", "rollingSync": {"steps": []}}), true),
        (json!({"type": "RollingSync"}), false),
        (json!({"type": "AllAtOnce", "rollingSync": {"steps": []}}), false),
        (json!({"rollingSync": {}}), false),
        (Value::Null, false),
    ];
    for (strategy, is_rolling) in cases {
        let set = set(&json!({}), &json!({"strategy": strategy}));
        assert_eq!(Outcome::of_strategy(&set), is_rolling.then_some(Outcome::RollingSync), "{strategy}");
    }
}

#[test]
fn resources_are_sorted_and_truncated() {
    let application =
        |name: &str, status: Value| json!({"metadata": {"name": name, "namespace": "n"}, "status": status});
    let entry = |name: &str, fields: Value| {
        let mut entry = json!({
            "group": "argoproj.io", "version": "v1alpha1", "kind": "Application", "name": name, "namespace": "n", "health": {},
        });
        entry.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        entry
    };
    let health = json!({"status": "Healthy", "message": "m", "lastTransitionTime": "0"});
    let applications = [
        application("c", json!({"sync": {"status": ""}, "health": {}})),
        application("a", json!({"sync": {"status": "Synced", "revision": "r"}, "health": health})),
        application("b", Value::Null),
    ];
    let applications: Vec<&Value> = applications.iter().collect();
    let entries = [
        entry("a", json!({"status": "Synced", "health": {"status": "Healthy"}})),
        entry("b", json!({})),
        entry("c", json!({})),
    ];
    for (max, count) in [(0, 3), (2, 2), (3, 3), (4, 3)] {
        let status = after(&Value::Null, &Outcome::UpToDate, &applications, max, "1");
        assert_eq!(
            (&status["resources"], &status["resourcesCount"]),
            (&json!(entries[..count]), &json!(3)),
            "{max}"
        );
    }
}

#[test]
fn resources_are_those_of_the_last_complete_reconcile() {
    let application = json!({"metadata": {"name": "a", "namespace": "n"}});
    let before = json!({"resources": [{"name": "old"}], "resourcesCount": 7});
    let cases = [
        (Outcome::UpToDate, true),
        (Outcome::Guarded(GUARD), true),
        (failed(FailureReason::Validation, "m"), true),
        (failed(FailureReason::Refresh, "m"), true),
        (failed(FailureReason::Generator, "m"), false),
        (failed(FailureReason::Update, "m"), false),
        (failed(FailureReason::Delete, "m"), false),
    ];
    for (outcome, is_current) in cases {
        let count = |status: &Value| status["resourcesCount"].as_u64();
        let status = after(&before, &outcome, &[&application], 0, "1");
        assert_eq!(count(&status), Some(if is_current { 1 } else { 7 }), "{outcome:?}");
        let name = if is_current { "a" } else { "old" };
        assert_eq!(status["resources"][0]["name"], name);
        let status = after(&before, &outcome, &[], 0, "1");
        assert_eq!(count(&status), (!is_current).then_some(7));
        assert_eq!(status.get("resources").is_none(), is_current);
    }
}

#[test]
fn first_error_of_a_plan_is_the_outcome() {
    let planned = |name: &str, action| PlannedApplication {
        name: name.to_owned(),
        namespace: "argocd".to_owned(),
        change: Change::Changed,
        action,
        generated: None,
        error: None,
        before: None,
        after: None,
    };
    let error = |name: &str| ApplicationError { name: name.to_owned(), message: format!("no {name}") };
    let plan = |policy, planned_error: Option<&str>, validation_error: Option<&str>| Plan {
        applications: vec![
            planned("a", Action::Delete { finalizers_patch: None }),
            planned("b", Action::Create(json!({}))),
            planned("c", Action::Patch(json!({}))),
            planned("d", Action::Delete { finalizers_patch: None }),
        ],
        policy: Some(policy),
        validation_error: validation_error.map(str::to_owned),
        error: planned_error.map(|name| PlanError::Application(error(name))),
        ..Plan::default()
    };
    let invalid = Some("invalid (and 1 more)");
    let cases = [
        (plan(Policy::Sync, None, None), &[][..], Outcome::UpToDate),
        (plan(Policy::Sync, None, invalid), &[], failed(FailureReason::Validation, "invalid (and 1 more)")),
        (plan(Policy::Sync, None, invalid), &["d"], failed(FailureReason::Delete, "no d")),
        (plan(Policy::Sync, None, None), &["d", "a"], failed(FailureReason::Delete, "no a")),
        (plan(Policy::Sync, None, None), &["a", "c", "b"], failed(FailureReason::Update, "no b")),
        (plan(Policy::CreateUpdate, Some("bb"), invalid), &["c"], failed(FailureReason::Update, "no bb")),
        (plan(Policy::Sync, Some("bb"), None), &["b"], failed(FailureReason::Update, "no b")),
        (plan(Policy::CreateOnly, None, None), &["b"], failed(FailureReason::Create, "no b")),
        (plan(Policy::CreateDelete, Some("bb"), None), &[], failed(FailureReason::Create, "no bb")),
        (
            Plan { guard: Some(GUARD), ..plan(Policy::Sync, Some("bb"), invalid) },
            &[],
            Outcome::Guarded(GUARD),
        ),
    ];
    for (plan, failures, expected) in cases {
        let failures: Vec<ApplicationError> = failures.iter().map(|name| error(name)).collect();
        assert_eq!(Outcome::of_plan(&plan, &failures), expected);
    }
}

#[test]
fn early_error_of_a_plan_has_its_reason() {
    let generate = |reason| {
        let position = Position { line: 1, column: 1 };
        PlanError::Generate(GenerateError { reason, position, message: "boom".to_owned() })
    };
    let policy = PlanError::Policy { place: "the controller's policy", policy: "never".to_owned() };
    let cases = [
        (generate(GenerateErrorReason::Generator), FailureReason::Generator, "boom"),
        (generate(GenerateErrorReason::Template), FailureReason::Template, "boom"),
        (PlanError::Incomplete(2), FailureReason::Generator, "2 questions of generators have no answer"),
        (
            policy,
            FailureReason::Policy,
            "the controller's policy: \"never\" is not a policy; use create-only, create-update, create-delete or sync",
        ),
    ];
    for (error, reason, message) in cases {
        let plan = Plan { error: Some(error), ..Plan::default() };
        assert_eq!(Outcome::of_plan(&plan, &[]), failed(reason, message));
    }
}

#[test]
fn refresh_annotation_is_removed_whatever_its_value() {
    let patch = json!({"metadata": {"annotations": {"argocd.argoproj.io/application-set-refresh": null}}});
    let cases = [
        (json!({"argocd.argoproj.io/application-set-refresh": "true", "x": "1"}), Some(&patch)),
        (json!({"argocd.argoproj.io/application-set-refresh": ""}), Some(&patch)),
        (json!({"x": "1"}), None),
        (Value::Null, None),
    ];
    for (annotations, expected) in cases {
        let set = set(&json!({"annotations": annotations}), &json!({}));
        assert_eq!(refresh_patch(&set).as_ref(), expected, "{annotations}");
    }
}
