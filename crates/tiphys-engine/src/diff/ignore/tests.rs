use serde_json::{Value, json};
use tiphys_api::IgnoreDifference;

use super::{Ignored, pointer, remove};
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
        let ignored = Ignored::new(std::slice::from_ref(&entry)).expect("a valid entry");
        assert_eq!(ignored.pointers(&deployment).count(), usize::from(expected), "{entry:?}");
    }
}

#[test]
fn json_pointer_removes_one_field() {
    let object = json!({"a": {"b": 1, "c/d": 2, "e~f": 3, "*": 4, "": 5}, "l": [{"x": 1, "y": 2}, 7, 8]});
    let cases = [
        ("/a/b", "/a/b"),
        ("/a", "/a"),
        ("/a/c~1d", "/a/c~1d"),
        ("/a/e~0f", "/a/e~0f"),
        ("/a/*", "/a/*"),
        ("/a/", "/a/"),
        ("/l/0/x", "/l/0/x"),
        ("/l/1", "/l/1"),
        ("/l/-1", "/l/2"),
    ];
    for (text, removed) in cases {
        let Value::Object(mut fields) = object.clone() else { panic!("{object}") };
        remove(&mut fields, &pointer(text).expect("a JSON pointer"));
        let left = Value::Object(fields);
        let count = |value: &Value| value.to_string().len();
        assert!(count(&left) < count(&object), "{text}: {left}");
        let is_item = removed == "/l/1";
        assert_eq!(left.pointer(removed), is_item.then_some(&json!(8)), "{text}");
    }
    for text in ["/", "/b", "/a/x", "/a/b/c", "/l/3", "/l/-4", "/l/x", "/l/-", "/l/*/x", "/x/y/z"] {
        let Value::Object(mut fields) = object.clone() else { panic!("{object}") };
        remove(&mut fields, &pointer(text).expect("a JSON pointer"));
        assert_eq!(Value::Object(fields), object, "{text}");
    }
}

#[test]
fn unsupported_or_invalid_entries_are_rejected() {
    let unsupported =
        "not supported, only jsonPointers are; compare a copy of the Application that uses those";
    let with = |change: fn(&mut IgnoreDifference)| {
        let mut one = entry("apps", "Deployment");
        change(&mut one);
        [entry("", "Service"), one]
    };
    let cases = [
        (
            with(|entry| entry.jq_path_expressions = vec![".spec".to_owned()]),
            format!("spec.ignoreDifferences[1].jqPathExpressions: {unsupported}"),
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
        assert_eq!(Ignored::new(&entries).expect_err(&expected).to_string(), expected);
    }
}
