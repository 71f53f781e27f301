use serde_json::{Value, json};
use tiphys_params::{Announcement, CollectionType, ItemType, Parameter};

use super::{Known, behind_name, heads, unsets};
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
    let parameter: Parameter = serde_json::from_value(default.clone()).expect("a parameter");
    (announcement.string, announcement.array, announcement.map) =
        (parameter.string, parameter.array, parameter.map);
    announcement
}

fn known(announcement: Option<Announcement>, set: Option<&Value>) -> Known {
    let set = set.map(|set| Parameter {
        name: "p".to_owned(),
        ..serde_json::from_value(set.clone()).expect("a parameter")
    });
    Known::new(announcement, set).expect("one of both is there")
}

fn told(candidates: Vec<Candidate>) -> Vec<String> {
    let told = |candidate: Candidate| match candidate.description.as_str() {
        "" => candidate.value,
        description => format!("{} ({description})", candidate.value),
    };
    candidates.into_iter().map(told).collect()
}

#[test]
fn values_are_the_choices_then_what_is_there() {
    use CollectionType::{Array, Map, String};
    let none = json!({});
    let cases: [(Known, &str, &[&str]); 10] = [
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
        assert_eq!(told(behind_name(&parameter, rest)), expected, "{rest} {parameter:?}");
    }
}

#[test]
fn a_name_goes_on_as_its_kind_does() {
    use CollectionType::{Array, Map, String};
    let none = json!({});
    let cases: [(Known, &[&str]); 5] = [
        (known(Some(announced(String, None, &[], &none)), None), &["p="]),
        (
            known(Some(announced(Array, None, &[], &none)), None),
            &["p+= (one more item)", "p:= (all of it as JSON)"],
        ),
        (
            known(Some(announced(Array, None, &[], &json!({"array": ["a"]}))), None),
            &["p[0]= (a)", "p+= (one more item)", "p:= (all of it as JSON)"],
        ),
        (known(Some(announced(Map, None, &[], &none)), None), &["p[", "p:= (all of it as JSON)"]),
        (known(None, Some(&json!({"map": {"k": "v"}}))), &["p[k]= (v)", "p:= (all of it as JSON)"]),
    ];
    for (parameter, expected) in cases {
        assert_eq!(told(heads(&parameter)), expected, "{parameter:?}");
    }
}

#[test]
fn only_what_is_set_can_be_unset() {
    let default = json!({"array": ["d"]});
    let list = announced(CollectionType::Array, None, &[], &default);
    let cases: [(Known, &str, &[&str]); 3] = [
        (known(Some(list.clone()), None), "", &[]),
        (known(Some(list.clone()), Some(&json!({"array": ["a", "b"]}))), "", &["p"]),
        (known(Some(list), Some(&json!({"array": ["a", "b"]}))), "p[", &["p[0] (a)", "p[1] (b)"]),
    ];
    for (parameter, typed, expected) in cases {
        assert_eq!(told(unsets(std::slice::from_ref(&parameter), typed)), expected, "{typed} {parameter:?}");
    }
}
