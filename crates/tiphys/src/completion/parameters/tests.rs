use serde_json::{Value, json};
use tiphys_model::params::{Announcement, CollectionType, ItemType, Parameter};

use super::{KnownParameter, behind_name, heads, unsets};
use crate::completion::Candidate;

fn announced(
    field: CollectionType,
    item: Option<ItemType>,
    choices: &[&str],
    default: &Value,
) -> Announcement {
    let mut announcement = Announcement::named("p");
    announcement.collection_type = field;
    announcement.item_type = item;
    announcement.choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
    let parameter: Parameter = serde_json::from_value(default.clone()).expect("valid parameter");
    (announcement.string, announcement.array, announcement.map) =
        (parameter.string, parameter.array, parameter.map);
    announcement
}

fn known(announcement: Option<Announcement>, set: Option<&Value>) -> KnownParameter {
    let set = set.map(|set| Parameter {
        name: "p".to_owned(),
        ..serde_json::from_value(set.clone()).expect("valid parameter")
    });
    KnownParameter::new(announcement, set).expect("announced or set")
}

fn described(candidates: Vec<Candidate>) -> Vec<String> {
    let described = |candidate: Candidate| match candidate.description.as_str() {
        "" => candidate.value,
        description => format!("{} ({description})", candidate.value),
    };
    candidates.into_iter().map(described).collect()
}

#[test]
fn choices_come_before_existing_values() {
    use CollectionType::{Array, Map, String};
    let none = json!({});
    let cases: [(KnownParameter, &str, &[&str]); 10] = [
        (
            known(
                Some(announced(String, None, &["s", "m"], &json!({"string": "s"}))),
                Some(&json!({"string": "m"})),
            ),
            "=",
            &["p=s (default)", "p=m (set)"],
        ),
        (
            known(Some(announced(String, Some(ItemType::Boolean), &[], &none)), None),
            "=t",
            &["p=true", "p=false"],
        ),
        (
            known(
                Some(announced(String, None, &[], &json!({"string": "d"}))),
                Some(&json!({"string": "x y"})),
            ),
            "=",
            &["p=x y (set)", "p=d (default)"],
        ),
        (
            known(Some(announced(String, None, &[], &json!({"string": "d"}))), Some(&json!({"string": "d"}))),
            "=",
            &["p=d (set)"],
        ),
        (known(None, Some(&json!({"string": "x"}))), ":=", &["p:=\"x\" (set)"]),
        (
            known(Some(announced(Array, None, &["a"], &none)), Some(&json!({"array": ["a", "b"]}))),
            ":=",
            &["p:=[\"a\",\"b\"] (set)"],
        ),
        (
            known(Some(announced(Array, None, &["a"], &none)), Some(&json!({"array": ["a", "b"]}))),
            "+=",
            &["p+=a"],
        ),
        (
            known(Some(announced(Array, None, &["a"], &none)), Some(&json!({"array": ["a", "b"]}))),
            "[",
            &["p[0]= (a)", "p[1]= (b)"],
        ),
        (
            known(Some(announced(Map, None, &[], &json!({"map": {"k": "v"}}))), None),
            "[k]=",
            &["p[k]=v (default)"],
        ),
        (
            known(Some(announced(Map, Some(ItemType::Boolean), &[], &none)), None),
            "[new]=",
            &["p[new]=true", "p[new]=false"],
        ),
    ];
    for (parameter, rest, expected) in cases {
        assert_eq!(described(behind_name(&parameter, rest)), expected, "{rest} {parameter:?}");
    }
}

#[test]
fn candidates_after_a_name_depend_on_its_type() {
    use CollectionType::{Array, Map, String};
    let none = json!({});
    let cases: [(KnownParameter, &[&str]); 5] = [
        (known(Some(announced(String, None, &[], &none)), None), &["p="]),
        (
            known(Some(announced(Array, None, &[], &none)), None),
            &["p+= (append an item)", "p:= (whole value as JSON)"],
        ),
        (
            known(Some(announced(Array, None, &[], &json!({"array": ["a"]}))), None),
            &["p[0]= (a)", "p+= (append an item)", "p:= (whole value as JSON)"],
        ),
        (known(Some(announced(Map, None, &[], &none)), None), &["p[", "p:= (whole value as JSON)"]),
        (known(None, Some(&json!({"map": {"k": "v"}}))), &["p[k]= (v)", "p:= (whole value as JSON)"]),
    ];
    for (parameter, expected) in cases {
        assert_eq!(described(heads(&parameter)), expected, "{parameter:?}");
    }
}

#[test]
fn only_set_parameters_can_be_unset() {
    let default = json!({"array": ["d"]});
    let list = announced(CollectionType::Array, None, &[], &default);
    let cases: [(KnownParameter, &str, &[&str]); 3] = [
        (known(Some(list.clone()), None), "", &[]),
        (known(Some(list.clone()), Some(&json!({"array": ["a", "b"]}))), "", &["p"]),
        (known(Some(list), Some(&json!({"array": ["a", "b"]}))), "p[", &["p[0] (a)", "p[1] (b)"]),
    ];
    for (parameter, typed, expected) in cases {
        assert_eq!(
            described(unsets(std::slice::from_ref(&parameter), typed)),
            expected,
            "{typed} {parameter:?}"
        );
    }
}
