use serde_json::{Value, json};
use tiphys_model::resources::ApplicationSet;
use tiphys_yaml::read_json;

use super::{SetDeletion, plan_set_deletion};
use crate::appset::plan::tests::application;
use crate::appset::{Outcome, PlanSettings};

#[test]
fn owned_applications_survive_a_set_that_may_not_delete() {
    let resources = "resources-finalizer.argocd.argoproj.io";
    let rolling = |deletion_order: &str, steps: Value| json!({"strategy": {"type": "RollingSync", "rollingSync": {"steps": steps}, "deletionOrder": deletion_order}});
    let steps = json!([{"maxUpdate": 1}]);
    let removal = |finalizers: Value| Some(json!({"metadata": {"finalizers": finalizers}}));
    let cases = [
        (json!({}), json!([resources]), Ok((false, removal(Value::Null)))),
        (json!({}), json!(["x", resources, "y"]), Ok((false, removal(json!(["x", "y"]))))),
        (json!({}), json!(["x"]), Ok((false, None))),
        (json!({"syncPolicy": {"applicationsSync": "create-delete"}}), json!([]), Ok((false, None))),
        (json!({"syncPolicy": {"applicationsSync": "create-update"}}), json!([]), Ok((true, None))),
        (json!({"syncPolicy": {"applicationsSync": "never"}}), json!([]), Ok((true, None))),
        (rolling("AllAtOnce", steps.clone()), json!([]), Ok((false, None))),
        (rolling("reverse", json!([])), json!([]), Ok((false, None))),
        (rolling("reverse", steps), json!([resources]), Err(Outcome::RollingSync)),
    ];
    let mut elsewhere = application("b", Some("set"));
    elsewhere["metadata"]["namespace"] = json!("other");
    let existing = [
        application("c", Some("set")),
        application("a", Some("set")),
        elsewhere,
        application("d", None),
        application("e", Some("other")),
    ];
    for (spec, finalizers, expected) in cases {
        let set = json!({"metadata": {"name": "set", "namespace": "argocd", "finalizers": finalizers}, "spec": spec});
        let document = read_json(set.to_string().as_bytes()).expect("JSON");
        let set = ApplicationSet::decode(&document).expect("a set").value;
        let orphans =
            ["a", "c"].map(|name| (name.to_owned(), json!({"metadata": {"ownerReferences": null}})));
        let expected = expected.map(|(are_orphaned, finalizers_patch)| SetDeletion {
            owner_patches: if are_orphaned { orphans.to_vec() } else { Vec::new() },
            finalizers_patch,
        });
        assert_eq!(plan_set_deletion(&set, &existing, &PlanSettings::default()), expected, "{spec}");
    }
}
