use std::sync::Arc;

use serde_json::{Value, json};
use tiphys_model::resources::IgnoreDifference;

use super::{Ignored, JqRemoval};
use crate::ObjectKey;

fn entry(group: &str, kind: &str) -> IgnoreDifference {
    IgnoreDifference {
        group: group.to_owned(),
        kind: kind.to_owned(),
        json_pointers: vec!["/spec/x".to_owned()],
        ..IgnoreDifference::default()
    }
}

fn key(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectKey {
    let text = str::to_owned;
    ObjectKey { group: text(group), kind: text(kind), namespace: text(namespace), name: text(name) }
}

/// Compiles one expression.
fn jq(expression: &str) -> Result<JqRemoval, String> {
    let remove = |value: &mut Value| {
        value["spec"].as_object_mut().and_then(|spec| spec.remove("y"));
        Ok(())
    };
    match expression {
        ".spec.y" => Ok(Arc::new(remove)),
        "endless" => Ok(Arc::new(|_| Err("needs more than 1s".to_owned()))),
        _ => Err("unexpected EOF".to_owned()),
    }
}

#[test]
fn entry_matches_objects_by_group_kind_and_name() {
    let deployment = key("apps", "Deployment", "shop", "web");
    let named = |namespace: &str, name: &str| IgnoreDifference {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        ..entry("apps", "Deployment")
    };
    let cases = [
        (entry("apps", "Deployment"), true),
        (entry("*", "*"), true),
        (entry("*", "Deploy*"), true),
        (entry("", "Deployment"), false),
        (entry("apps", ""), false),
        (entry("apps", "deployment"), false),
        (named("shop", "web"), true),
        (named("", "web"), true),
        (named("other", ""), false),
        (named("", "w*"), false),
    ];
    for (entry, expected) in cases {
        let ignored = Ignored::new(std::slice::from_ref(&entry), &jq).expect("a valid entry");
        let Value::Object(mut fields) = json!({"spec": {"x": 1}}) else { panic!("an object") };
        ignored.remove_from(&deployment, &mut fields, &mut Vec::new());
        assert_eq!(fields["spec"] == json!({}), expected, "{entry:?}");
    }
}

#[test]
fn pointers_and_expressions_remove_fields() {
    let entries = [
        IgnoreDifference { jq_path_expressions: vec![".spec.y".to_owned()], ..entry("apps", "Deployment") },
        IgnoreDifference { json_pointers: vec!["/spec/z".to_owned()], ..entry("", "*") },
    ];
    let ignored = Ignored::new(&entries, &jq).expect("valid entries");
    let cases = [
        ("apps", json!({"z": 3})),
        ("", json!({"x": 1, "y": 2})),
        ("batch", json!({"x": 1, "y": 2, "z": 3})),
    ];
    for (group, left) in cases {
        let Value::Object(mut fields) = json!({"spec": {"x": 1, "y": 2, "z": 3}}) else {
            panic!("an object")
        };
        let mut warnings = Vec::new();
        ignored.remove_from(&key(group, "Deployment", "shop", "web"), &mut fields, &mut warnings);
        assert_eq!(warnings, [], "{group}");
        assert_eq!(Value::Object(fields), json!({"spec": left}), "{group}");
    }
}

#[test]
fn expression_that_exceeds_a_limit_is_reported_once() {
    let expressions = ["endless", ".spec.y"].map(str::to_owned).to_vec();
    let entries = [IgnoreDifference { jq_path_expressions: expressions, ..entry("apps", "Deployment") }];
    let ignored = Ignored::new(&entries, &jq).expect("valid entries");
    let mut warnings = Vec::new();
    for name in ["web", "api"] {
        let Value::Object(mut fields) = json!({"spec": {"x": 1, "y": 2, "z": 3}}) else {
            panic!("an object")
        };
        ignored.remove_from(&key("apps", "Deployment", "shop", name), &mut fields, &mut warnings);
        assert_eq!(fields["spec"], json!({"z": 3}));
    }
    let messages: Vec<_> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    let deployment = key("apps", "Deployment", "shop", "web");
    let expected = format!(
        "jqPathExpressions of ignoreDifferences: \"endless\" is not applied to {deployment}, and perhaps to others: needs more than 1s"
    );
    assert_eq!(messages, [expected]);
}

#[test]
fn unsupported_or_invalid_entries_are_rejected() {
    let unsupported =
        "not supported; compare a copy of the Application that uses jsonPointers or jqPathExpressions";
    let with = |change: fn(&mut IgnoreDifference)| {
        let mut one = entry("apps", "Deployment");
        change(&mut one);
        [entry("", "Service"), one]
    };
    let cases = [
        (
            with(|entry| entry.jq_path_expressions = vec![".spec.y".to_owned(), ".spec[".to_owned()]),
            "spec.ignoreDifferences[1].jqPathExpressions: \".spec[\" is not a jq path expression: unexpected EOF".to_owned(),
        ),
        (
            with(|entry| entry.managed_fields_managers = vec!["hpa".to_owned()]),
            format!("spec.ignoreDifferences[1].managedFieldsManagers: {unsupported}"),
        ),
        (
            with(|entry| entry.json_pointers = vec!["spec/x".to_owned()]),
            "spec.ignoreDifferences[1].jsonPointers: \"spec/x\" is not a JSON pointer; it must begin with `/`"
                .to_owned(),
        ),
        (
            with(|entry| entry.kind = "[".to_owned()),
            "spec.ignoreDifferences[1].kind: pattern \"[\": malformed character class".to_owned(),
        ),
    ];
    for (entries, expected) in cases {
        assert_eq!(Ignored::new(&entries, &jq).expect_err(&expected).to_string(), expected);
    }
}
