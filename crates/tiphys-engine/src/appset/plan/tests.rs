use std::sync::Arc;

use serde_json::{Value, json};
use tiphys_model::resources::{APPLICATION, ApplicationSet, decode_value};
use tiphys_yaml::read_json;

use super::{
    Action, ApplicationError, Change, Guard, JqRemoval, Plan, PlanError, PlanInput, PlanSettings, plan,
};
use crate::appset::{Generated, GeneratedApplication, ParameterSet, Question};

pub(super) fn application(name: &str, owner: Option<&str>) -> Value {
    let mut application = json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd"},
        "spec": {"destination": {"server": "https://kubernetes.default.svc"}, "project": "default", "source": {"repoURL": "https://r"}},
    });
    if let Some(owner) = owner {
        application["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "name": owner, "uid": "1",
            "controller": true, "blockOwnerDeletion": true,
        }]);
    }
    application
}

fn generated(applications: &[Value]) -> Generated {
    let one = |application| GeneratedApplication {
        application: decode_value(&APPLICATION, application).expect("an Application").value.into(),
        generator: "spec.generators[0].list".to_owned(),
        parameters: ParameterSet::default(),
        patch: None,
    };
    Generated { applications: applications.iter().map(one).collect(), ..Generated::default() }
}

fn planned(spec: &Value, generated: &Generated, existing: &[Value], settings: &PlanSettings) -> Plan {
    let set = json!({"metadata": {"name": "set", "namespace": "argocd", "uid": "1"}, "spec": spec});
    let document = read_json(set.to_string().as_bytes()).expect("JSON");
    let jq = |expression: &str| match expression {
        ".spec.project" => Ok(Arc::new(|value: &mut Value| {
            value["spec"].as_object_mut().and_then(|spec| spec.remove("project"));
            Ok(())
        }) as JqRemoval),
        "endless" => Ok(Arc::new(|_: &mut Value| Err("needs more than 1s".to_owned())) as JqRemoval),
        other => Err(format!("unexpected {other}")),
    };
    plan(&PlanInput {
        set: &ApplicationSet::decode(&document).expect("a set").value,
        generated,
        existing,
        settings,
        jq: &jq,
        requeue_after_seconds: None,
    })
}

/// Returns name, change and action of each Application.
fn summary(plan: &Plan) -> Vec<(&str, Change, &'static str)> {
    let action = |action: &Action| match action {
        Action::None => "none",
        Action::Create(_) => "create",
        Action::Patch(_) => "patch",
        Action::Delete { .. } => "delete",
    };
    plan.applications.iter().map(|one| (one.name.as_str(), one.change, action(&one.action))).collect()
}

#[test]
fn policy_determines_actions_and_not_changes() {
    let mut changed = application("b", None);
    changed["spec"]["project"] = json!("other");
    let generated = generated(&[application("c", None), changed]);
    let existing = [application("a", Some("set")), application("b", Some("set"))];
    let cases = [
        (None, true, "", Ok(["delete", "patch", "create"])),
        (None, true, "sync", Ok(["delete", "patch", "create"])),
        (None, true, "create-only", Ok(["none", "none", "create"])),
        (None, true, "create-update", Ok(["none", "patch", "create"])),
        (None, true, "create-delete", Ok(["delete", "none", "create"])),
        (Some("sync"), true, "create-only", Ok(["delete", "patch", "create"])),
        (Some("sync"), false, "create-only", Ok(["none", "none", "create"])),
        (Some("never"), false, "create-only", Ok(["none", "none", "create"])),
        (Some("never"), true, "sync", Err("spec.syncPolicy.applicationsSync: \"never\"")),
        (Some(""), true, "sync", Err("spec.syncPolicy.applicationsSync: \"\"")),
        (None, true, "Sync", Err("the controller's policy: \"Sync\"")),
    ];
    for (own, is_policy_override_enabled, policy, expected) in cases {
        let spec = json!({"syncPolicy": {"applicationsSync": own}});
        let settings =
            PlanSettings { policy: policy.to_owned(), is_policy_override_enabled, ..PlanSettings::default() };
        let plan = planned(&spec, &generated, &existing, &settings);
        let expected = expected.map(|[a, b, c]| {
            vec![("a", Change::Removed, a), ("b", Change::Changed, b), ("c", Change::Added, c)]
        });
        let error = plan.error.as_ref().map(ToString::to_string);
        match expected {
            Ok(expected) => assert_eq!((summary(&plan), error), (expected, None), "{own:?} {policy}"),
            Err(place) => {
                let words = "is not a policy; use create-only, create-update, create-delete or sync";
                assert_eq!((summary(&plan), error), (vec![], Some(format!("{place} {words}"))));
            }
        }
    }
}

#[test]
fn foreign_application_is_taken_over_only_if_allowed() {
    let unowned = "application argocd/a exists and is not owned by ApplicationSet set; rename one of them, or make the set its owner";
    let other = "error while wrapping using MutateFn: Object argocd/a is already owned by another ApplicationSet controller other";
    let cases = [
        (None, false, Err(unowned)),
        (None, true, Ok("patch")),
        (Some("other"), false, Err(other)),
        (Some("other"), true, Err(other)),
        (Some("set"), false, Ok("none")),
    ];
    for (policy, (owner, is_allowed, expected)) in
        ["sync", "create-only"].into_iter().flat_map(|policy| cases.map(|case| (policy, case)))
    {
        let settings = PlanSettings {
            policy: policy.to_owned(),
            adoptions: is_allowed.then(|| "a".to_owned()).into_iter().collect(),
            ..PlanSettings::default()
        };
        let existing = [application("a", owner), application("gone", Some("set"))];
        let generated = generated(&[application("a", None), application("b", None)]);
        let plan = planned(&json!({}), &generated, &existing, &settings);
        let a = &plan.applications[0];
        let (change, action, error) = match expected {
            Ok("none") => (Change::Unchanged, "none", None),
            Ok(action) => (Change::Changed, action, None),
            Err(error) => (Change::Invalid, "none", Some(error)),
        };
        let deletion = if error.is_none() && policy == "sync" { "delete" } else { "none" };
        let expected =
            [("a", change, action), ("b", Change::Added, "create"), ("gone", Change::Removed, deletion)];
        assert_eq!(summary(&plan), expected, "{owner:?} {is_allowed} {policy}");
        assert_eq!(a.error.as_deref(), error);
        assert_eq!(
            plan.error,
            error.map(|error| PlanError::Application(ApplicationError {
                name: "a".to_owned(),
                message: error.to_owned()
            }))
        );
        let owners = |one: &Value| one["metadata"]["ownerReferences"].clone();
        let after = a.after.as_ref().expect("an Application");
        let owner = if error.is_some() { owner } else { Some("set") };
        assert_eq!(owners(after), owners(&application("a", owner)));
    }
}

#[test]
fn too_many_deletions_are_refused() {
    let cases = [
        (10, 5, 50, false, None),
        (10, 6, 50, false, Some(6)),
        (10, 6, 60, false, None),
        (10, 6, 50, true, None),
        (9, 9, 50, false, None),
        (10, 1, 0, false, Some(1)),
        (10, 0, 0, false, None),
        (10, 10, 100, false, None),
        (1000, 501, 50, false, Some(501)),
    ];
    for (owned, deleted, max_deletions_percent, are_deletions_allowed, refused) in cases {
        let names: Vec<String> = (0..owned).map(|index| format!("a{index}")).collect();
        let existing: Vec<Value> = names.iter().map(|name| application(name, Some("set"))).collect();
        let kept: Vec<Value> = names[deleted..].iter().map(|name| application(name, None)).collect();
        let settings =
            PlanSettings { max_deletions_percent, are_deletions_allowed, ..PlanSettings::default() };
        let plan = planned(&json!({}), &generated(&kept), &existing, &settings);
        let guard = refused.map(|deletions| Guard { deletions, owned, max_percent: max_deletions_percent });
        assert_eq!(plan.guard, guard, "{deleted} of {owned}");
        let deletions = plan.applications.iter().filter(|one| one.is_deleted()).count();
        assert_eq!(deletions, deleted);
        assert_eq!(plan.to_apply().map(|actions| actions.len()), guard.map_or(Ok(deleted), Err));
    }
    let message = Guard { deletions: 6, owned: 10, max_percent: 50 }.to_string();
    assert_eq!(
        message,
        "6 of 10 applications would be deleted, the limit is 50 %; allow the deletions of this set"
    );
}

#[test]
fn deletions_that_were_allowed_before_are_not_refused() {
    let mut existing: Vec<Value> =
        (0..12).map(|index| application(&format!("a{index}"), Some("set"))).collect();
    for deleted in &mut existing[3..] {
        deleted["metadata"]["deletionTimestamp"] = json!("2026-01-02T03:04:05Z");
    }
    let kept: Vec<Value> = (0..3).map(|index| application(&format!("a{index}"), None)).collect();
    let plan = planned(&json!({}), &generated(&kept), &existing, &PlanSettings::default());
    assert_eq!(plan.guard, None);
}

#[test]
fn deletions_that_the_policy_forbids_are_not_refused() {
    let existing: Vec<Value> = (0..10).map(|index| application(&format!("a{index}"), Some("set"))).collect();
    let settings = PlanSettings { policy: "create-update".to_owned(), ..PlanSettings::default() };
    assert_eq!(planned(&json!({}), &generated(&[]), &existing, &settings).guard, None);
}

#[test]
fn open_questions_stop_the_plan() {
    let question = Question { generator: "plugin", request: json!({}), parameters: String::new() };
    let generated = Generated { questions: vec![question], ..Generated::default() };
    let plan = planned(&json!({}), &generated, &[application("a", Some("set"))], &PlanSettings::default());
    let error = Some(PlanError::Incomplete(1));
    assert_eq!(plan, Plan { error, requeue_after_seconds: Some(180), ..Plan::default() });
}

#[test]
fn ignored_fields_are_not_compared() {
    let mut desired = application("a", None);
    desired["spec"]["project"] = json!("other");
    desired["spec"]["source"]["path"] = json!("p");
    let prefix = "failed to apply ignore differences: failed to normalize application spec: ";
    let patch = |patch: Value| Ok(Some(json!({"spec": patch})));
    let both = json!({"project": "other", "source": {"path": "p"}});
    let cases = [
        (json!({}), patch(both.clone())),
        (json!({"jqPathExpressions": [".spec.project"]}), patch(json!({"source": {"path": "p"}}))),
        (json!({"jsonPointers": ["/spec/source/path"]}), patch(json!({"project": "other"}))),
        (json!({"jsonPointers": ["x/spec/source/path"]}), patch(json!({"project": "other"}))),
        (json!({"jsonPointers": ["/spec/source/path"], "name": "b"}), patch(both.clone())),
        (json!({"jsonPointers": ["/spec"]}), Ok(None)),
        (json!({"jsonPointers": ["/apiVersion", "spec", ""]}), patch(both.clone())),
        (json!({"jsonPointers": ["/kind"]}), Err(format!("{prefix}Object 'Kind' is missing"))),
        (json!({"jqPathExpressions": [".x"], "name": "b"}), Err(format!("{prefix}unexpected .x"))),
    ];
    for (rule, expected) in cases {
        let spec = json!({"ignoreApplicationDifferences": [rule]});
        let existing = [application("a", Some("set"))];
        let generated = generated(std::slice::from_ref(&desired));
        let plan = planned(&spec, &generated, &existing, &PlanSettings::default());
        let one = &plan.applications[0];
        let ours = match (&one.action, &one.error) {
            (_, Some(error)) => Err(error.clone()),
            (Action::Patch(patch), None) => Ok(Some(patch.clone())),
            _ => Ok(None),
        };
        assert_eq!(ours, expected, "{rule}");
    }
}

#[test]
fn annotation_counts_only_if_the_set_has_rules() {
    let mut desired = application("a", None);
    desired["spec"]["project"] = json!("other");
    let annotations = json!({"argocd.argoproj.io/ignore-differences": "jsonPointers: [/spec/project]"});
    let rules = json!({"ignoreApplicationDifferences": [{"jsonPointers": ["/spec/info"], "name": "b"}]});
    let patch = Some(json!({"spec": {"project": "other"}}));
    for (spec, in_desired, in_live, expected) in [
        (&json!({}), &annotations, &annotations, &patch),
        (&rules, &annotations, &annotations, &None),
        (
            &rules,
            &json!({}),
            &annotations,
            &Some(json!({"metadata": {"annotations": null}, "spec": {"project": "other"}})),
        ),
    ] {
        let (mut desired, mut live) = (desired.clone(), application("a", Some("set")));
        desired["metadata"]["annotations"] = in_desired.clone();
        live["metadata"]["annotations"] = in_live.clone();
        let plan = planned(spec, &generated(&[desired]), &[live], &PlanSettings::default());
        let expected = expected.clone().map_or(Action::None, Action::Patch);
        assert_eq!(plan.applications[0].action, expected, "{spec} {in_desired}");
    }
}

#[test]
fn operation_cannot_be_ignored() {
    let spec = json!({"ignoreApplicationDifferences": [{"jsonPointers": ["/operation"]}]});
    let mut desired = application("a", None);
    desired["operation"] = json!({"sync": {"prune": true}});
    let existing = [application("a", Some("set"))];
    let plan = planned(&spec, &generated(&[desired]), &existing, &PlanSettings::default());
    let Action::Patch(patch) = &plan.applications[0].action else { panic!("{plan:?}") };
    assert_eq!(patch["operation"]["sync"], json!({"prune": true}));
}

#[test]
fn changed_list_is_written_without_ignored_items() {
    let spec = json!({"ignoreApplicationDifferences": [{"jsonPointers": ["/spec/info/0"]}]});
    let info =
        |values: [&str; 2]| json!([{"name": "a", "value": values[0]}, {"name": "b", "value": values[1]}]);
    for (live, patch) in
        [(["other", "2"], None), (["other", "1"], Some(json!([{"name": "b", "value": "2"}])))]
    {
        let (mut existing, mut desired) = (application("a", Some("set")), application("a", None));
        existing["spec"]["info"] = info(live);
        desired["spec"]["info"] = info(["1", "2"]);
        let plan = planned(&spec, &generated(&[desired]), &[existing], &PlanSettings::default());
        let expected = patch.map_or(Action::None, |info| Action::Patch(json!({"spec": {"info": info}})));
        assert_eq!(plan.applications[0].action, expected, "{live:?}");
    }
}

#[test]
fn block_that_is_empty_without_ignored_fields_is_no_difference() {
    let spec = json!({"ignoreApplicationDifferences": [{"jsonPointers": ["/spec/source/kustomize/images"]}]});
    let mut live = application("a", Some("set"));
    live["spec"]["source"]["kustomize"] = json!({"images": ["x"]});
    let plan = planned(&spec, &generated(&[application("a", None)]), &[live], &PlanSettings::default());
    assert_eq!(summary(&plan), [("a", Change::Unchanged, "none")]);
}

#[test]
fn expression_that_exceeds_a_limit_is_reported_once() {
    let spec = json!({"ignoreApplicationDifferences": [{"jqPathExpressions": ["endless", ".spec.project"]}]});
    let live = ["a", "b"].map(|name| {
        let mut live = application(name, Some("set"));
        live["spec"]["project"] = json!("other");
        live
    });
    let generated = generated(&[application("a", None), application("b", None)]);
    let plan = planned(&spec, &generated, &live, &PlanSettings::default());
    assert_eq!(summary(&plan), [("a", Change::Unchanged, "none"), ("b", Change::Unchanged, "none")]);
    let expected = "spec.ignoreApplicationDifferences: \"endless\" is not applied to application a, and perhaps to others: needs more than 1s";
    assert_eq!(plan.warnings, [expected]);
}

#[test]
fn set_without_uid_keeps_owner_references() {
    let set = json!({"metadata": {"name": "set"}, "spec": {}});
    let document = read_json(set.to_string().as_bytes()).expect("JSON");
    let plan = plan(&PlanInput {
        set: &ApplicationSet::decode(&document).expect("a set").value,
        generated: &generated(&[application("a", None)]),
        existing: &[application("a", Some("set"))],
        settings: &PlanSettings::default(),
        jq: &|_| Err(String::new()),
        requeue_after_seconds: Some(7),
    });
    assert_eq!(summary(&plan), [("a", Change::Unchanged, "none")]);
    assert_eq!(plan.requeue_after_seconds, Some(7));
}

#[test]
fn unknown_projects_and_clusters_are_not_checked() {
    let mut one = application("a", None);
    one["spec"]["project"] = json!("nope");
    one["spec"]["destination"] = json!({"name": "nope"});
    let mut both = one.clone();
    both["metadata"]["name"] = json!("b");
    both["spec"]["destination"]["server"] = json!("https://s");
    let generated = generated(&[one, both]);
    let mut gone = application("gone", Some("set"));
    gone["spec"]["destination"] = json!({"name": "nope"});
    gone["metadata"]["finalizers"] = json!(["resources-finalizer.argocd.argoproj.io"]);
    let plan = planned(&json!({}), &generated, &[gone], &PlanSettings::default());
    let expected =
        [("a", Change::Added, "create"), ("b", Change::Invalid, "none"), ("gone", Change::Removed, "delete")];
    assert_eq!(summary(&plan), expected);
    assert_eq!(plan.applications[2].action, Action::Delete { finalizers_patch: None });
    let known = PlanSettings {
        projects: Some(std::iter::once("nope".to_owned()).collect()),
        clusters: Some(Vec::new()),
        ..PlanSettings::default()
    };
    let plan = planned(&json!({}), &generated, &[], &known);
    let expected = [("a", Change::Invalid, "none"), ("b", Change::Invalid, "none")];
    assert_eq!(summary(&plan), expected);
}

#[test]
fn invalid_applications_are_neither_changed_nor_deleted() {
    let mut unknown = application("", None);
    unknown["spec"]["project"] = json!("nope");
    let named = |name: &str| {
        let mut application = unknown.clone();
        application["metadata"]["name"] = json!(name);
        application
    };
    let existing = ["a", "b", "c", "gone"].map(|name| application(name, Some("set")));
    let generated = generated(&[named("a"), application("a", None), named("b"), application("c", None)]);
    let projects = Some(std::iter::once("default".to_owned()).collect());
    let settings = PlanSettings { projects, ..PlanSettings::default() };
    let plan = planned(&json!({}), &generated, &existing, &settings);
    let invalid = |name| (name, Change::Invalid, "none");
    let expected = [
        invalid("a"),
        invalid("a"),
        invalid("b"),
        ("c", Change::Unchanged, "none"),
        ("gone", Change::Removed, "delete"),
    ];
    assert_eq!(summary(&plan), expected);
    let errors: Vec<&str> = plan.applications.iter().filter_map(|one| one.error.as_deref()).collect();
    let twice = "ApplicationSet set contains applications with duplicate name: a";
    assert_eq!(errors, [twice, twice, "application references project nope which does not exist"]);
    assert_eq!((plan.error, plan.requeue_after_seconds), (None, Some(180)));
    let last = "application references project nope which does not exist (and 1 more)";
    assert_eq!(plan.validation_error.as_deref(), Some(last));
}

#[test]
fn application_that_may_not_change_needs_no_requeue() {
    let spec = json!({"ignoreApplicationDifferences": [{"jqPathExpressions": [".x"]}]});
    let existing = [application("a", Some("set"))];
    let settings = PlanSettings { policy: "create-only".to_owned(), ..PlanSettings::default() };
    let plan = planned(&spec, &generated(&[application("a", None)]), &existing, &settings);
    assert_eq!(summary(&plan), [("a", Change::Invalid, "none")]);
    assert_eq!((plan.error, plan.validation_error, plan.requeue_after_seconds), (None, None, None));
}
