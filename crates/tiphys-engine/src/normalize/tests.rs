use proptest::prelude::{Strategy, any, prop_assert_eq, prop_oneof, proptest};
use serde_json::Value;
use tiphys_yaml::{Node, read_documents};

use super::{NormalizeError, normalize};
use crate::{DEFAULT_LABEL_KEY, Manifest, Tracking, TrackingMethod};

fn tracking(method: TrackingMethod) -> Tracking {
    Tracking {
        method,
        label_key: DEFAULT_LABEL_KEY.to_owned(),
        instance_name: "app".to_owned(),
        namespace: "ns".to_owned(),
        installation_id: String::new(),
    }
}

fn documents(text: &str) -> Vec<Node> {
    read_documents(text.as_bytes()).expect("YAML")
}

fn untracked(text: &str) -> Result<Vec<Manifest>, NormalizeError> {
    normalize(&documents(text), &tracking(TrackingMethod::None))
}

fn names(manifests: &[Manifest]) -> Vec<&str> {
    manifests.iter().map(Manifest::name).collect()
}

#[test]
fn lists_are_flattened_one_level_in_order() {
    let text = "\
{kind: A, metadata: {name: a}}
---
{kind: List, items: [{kind: B, metadata: {name: b}}, {kind: List, items: [{kind: C}]}, {metadata: {name: d}}]}
---
{kind: ConfigMapList, items: null}
---
{kind: E, metadata: {name: e}}
";
    let found = untracked(text).expect("valid documents");
    assert_eq!(names(&found), ["a", "b", "", "d", "e"]);
    assert_eq!(found[2].group_kind(), ("", "List"));
}

#[test]
fn invalid_document_is_rejected_with_position() {
    let first = "{kind: A}\n---\n";
    let cases = [
        ("[a]", "expected an object, found a list"),
        ("hello", "expected an object, found a string"),
        (
            "{apiVersion: v1, data: {k: secret}}",
            "Object 'Kind' is missing in an object with the keys apiVersion, data",
        ),
        ("{}", "Object 'Kind' is missing in an empty object"),
        ("{kind: 1}", "Object 'Kind' is missing in an object with the keys kind"),
        ("{kind: ''}", "Object 'Kind' is missing in an object with the keys kind"),
        ("{Kind: A}", "Object 'Kind' is missing in an object with the keys Kind"),
        (
            "{kind: A, apiVersion: a/b/c}",
            "apiVersion \"a/b/c\" of the A is neither `version` nor `group/version`",
        ),
        ("{kind: List, items: [null]}", "item 1 of the List is null, not an object"),
        ("{kind: List, items: [{kind: A}, x]}", "item 2 of the List is a string, not an object"),
    ];
    for (text, expected) in cases {
        let error = untracked(&format!("{first}{text}\n")).expect_err(text);
        assert_eq!(error.to_string(), format!("document 2 of the output (line 3, column 1): {expected}"));
        assert!(!error.to_string().contains("secret"));
    }
}

#[test]
fn resource_with_top_level_items_is_rejected() {
    for text in [
        "{kind: Menu, metadata: {name: m}, items: [{name: x}]}",
        "{kind: PriceList, metadata: {name: m}, items: [{name: x}]}",
        "{kind: Menu, metadata: {name: m}, items: null}",
    ] {
        let error = untracked(text).expect_err(text).to_string();
        assert!(error.contains("\"m\" has a top-level `items`"), "{text}: {error}");
    }
    for text in [
        "{kind: Menu, items: null, spec: {}}",
        "{kind: Menu, items: {a: 1}}",
        "{kind: List, metadata: {name: m}, items: [{kind: A, metadata: {name: x}}]}",
    ] {
        assert_eq!(untracked(text).expect(text).len(), 1, "{text}");
    }
}

#[test]
fn object_that_cannot_be_tracked_is_rejected() {
    let cases = [
        ("{kind: A, metadata: null}", "its `metadata` is null; give it at least a name"),
        ("{kind: A, metadata: x}", "its `metadata` is not an object; give it at least a name"),
        ("{kind: A, metadata: {annotations: [a]}}", "its `annotations` is not an object"),
        (
            "{kind: A, metadata: {annotations: {k: 1}}}",
            "the value of \"k\" in its `metadata.annotations` must be a string; quote it",
        ),
    ];
    for (text, expected) in cases {
        let documents = read_documents(text.as_bytes()).expect("YAML");
        let error = normalize(&documents, &tracking(TrackingMethod::Annotation)).expect_err(text).to_string();
        assert!(error.ends_with(expected), "{text}: {error}");
        assert_eq!(normalize(&documents, &tracking(TrackingMethod::None)).expect(text).len(), 1);
    }
}

fn document() -> impl Strategy<Value = (String, usize)> {
    prop_oneof![
        any::<u16>().prop_map(|n| (format!("{{kind: A, metadata: {{name: n{n}}}}}"), 1)),
        (0_usize..4)
            .prop_map(|n| (format!("{{kind: List, items: [{}]}}", vec!["{kind: B}"; n].join(", ")), n)),
    ]
}

proptest! {
    #[test]
    fn normalizing_keeps_all_objects_in_order(documents in proptest::collection::vec(document(), 0..8)) {
        let text = documents.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("\n---\n");
        let found = untracked(&text).expect("valid documents");
        let expected: Vec<&str> =
            documents.iter().flat_map(|(text, count)| vec![if text.contains("List") { "B" } else { "A" }; *count]).collect();
        let kinds: Vec<&str> = found.iter().map(|manifest| manifest.group_kind().1).collect();
        prop_assert_eq!(kinds, expected);
        let tracked = normalize(&read_documents(text.as_bytes()).expect("YAML"), &tracking(TrackingMethod::Annotation));
        prop_assert_eq!(tracked.expect("valid documents").len(), found.len());
    }
}

#[test]
fn list_item_becomes_an_unchanged_object() {
    let found = untracked("{kind: List, items: [{b: 1, a: [x]}]}").expect("valid documents");
    assert_eq!(Value::Object(found[0].object().clone()), serde_json::json!({"a": ["x"], "b": 1}));
}
