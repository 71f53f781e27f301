use super::{AnnouncedCollision, announced_collisions, collisions, deduplicated};
use crate::params::{Announcement, CollectionType, EnvVar, Parameter};

const NO_BUILD_ENVIRONMENT: [&str; 0] = [];

fn text(name: &str, value: &str) -> Parameter {
    Parameter { name: name.to_owned(), string: Some(value.to_owned()), ..Parameter::default() }
}

fn map(name: &str, entries: &[(&str, &str)]) -> Parameter {
    let map = entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Parameter { name: name.to_owned(), map: Some(map), ..Parameter::default() }
}

fn array(name: &str, items: &[&str]) -> Parameter {
    let array = items.iter().map(|item| (*item).to_owned()).collect();
    Parameter { name: name.to_owned(), array: Some(array), ..Parameter::default() }
}

fn messages(parameters: &[Parameter], build_environment: &[&str]) -> Vec<String> {
    collisions(parameters, build_environment).iter().map(ToString::to_string).collect()
}

#[test]
fn later_parameter_in_list_wins() {
    let parameters = [text("a-b", "1"), text("c", "2"), text("a.b", "3"), text("A_B", "4")];
    assert_eq!(
        messages(&parameters, &NO_BUILD_ENVIRONMENT),
        ["PARAM_A_B is claimed more than once: `A_B` wins over `a-b`; `a.b`"]
    );
    assert_eq!(
        deduplicated(&parameters, &NO_BUILD_ENVIRONMENT),
        [EnvVar::new("PARAM_C", "2"), EnvVar::new("PARAM_A_B", "4")]
    );
}

#[test]
fn build_environment_wins_over_every_parameter() {
    let parameters = [text("a", "1"), text("A", "2"), text("b", "3")];
    assert_eq!(
        messages(&parameters, &["PARAM_A", "PARAM_UNUSED"]),
        ["PARAM_A is claimed more than once: the build environment wins over `a`; `A`"]
    );
    assert_eq!(deduplicated(&parameters, &["PARAM_A"]), [EnvVar::new("PARAM_B", "3")]);
}

#[test]
fn last_map_key_in_byte_order_wins() {
    let parameters = [map("m", &[("a.b", "dot"), ("a-b", "dash"), ("A_B", "low")])];
    assert_eq!(
        messages(&parameters, &NO_BUILD_ENVIRONMENT),
        ["PARAM_M_A_B is claimed more than once: `m`, key `a.b` wins over `m`, key `A_B`; `m`, key `a-b`"]
    );
    assert_eq!(deduplicated(&parameters, &NO_BUILD_ENVIRONMENT), [EnvVar::new("PARAM_M_A_B", "dot")]);
}

#[test]
fn list_of_a_parameter_wins_over_its_map() {
    let mut parameter = map("m", &[("0", "map")]);
    parameter.array = Some(vec!["list".to_owned()]);
    assert_eq!(
        messages(&[parameter], &NO_BUILD_ENVIRONMENT),
        ["PARAM_M_0 is claimed more than once: `m`, item 1 wins over `m`, key `0`"]
    );
}

#[test]
fn strings_collide_with_list_items_and_map_keys() {
    let parameters = [text("a_0", "1"), array("a", &["2"]), text("m-k", "3"), map("m", &[("k", "4")])];
    assert_eq!(
        messages(&parameters, &NO_BUILD_ENVIRONMENT),
        [
            "PARAM_A_0 is claimed more than once: `a`, item 1 wins over `a_0`",
            "PARAM_M_K is claimed more than once: `m`, key `k` wins over `m-k`",
        ]
    );
}

#[test]
fn values_with_different_variables_do_not_collide() {
    assert_eq!(
        messages(&[text("a", "1"), array("a", &["x"]), map("a", &[("k", "v")])], &NO_BUILD_ENVIRONMENT),
        [""; 0]
    );
}

#[test]
fn announced_names_collide_if_their_values_would() {
    let of = |name: &str, collection_type| Announcement { collection_type, ..Announcement::named(name) };
    let with_key = |name: &str, key: &str| Announcement {
        map: Some([(key.to_owned(), String::new())].into()),
        ..of(name, CollectionType::Map)
    };
    let cases = [
        (vec![of("a-b", CollectionType::Absent), of("a.b", CollectionType::Map)], Some("PARAM_A_B")),
        (vec![of("a-0", CollectionType::String), of("a", CollectionType::Array)], Some("PARAM_A_0")),
        (vec![of("a", CollectionType::Array), of("a-12", CollectionType::Absent)], Some("PARAM_A_12")),
        (vec![of("a", CollectionType::Array), of("a-01", CollectionType::Absent)], None),
        (vec![of("a", CollectionType::Array), of("a-", CollectionType::Absent)], None),
        (vec![of("a", CollectionType::Array), of("ab", CollectionType::Absent)], None),
        (vec![of("a", CollectionType::Array), of("a-0", CollectionType::Map)], None),
        (vec![with_key("m", "x.y"), of("m-x-y", CollectionType::Absent)], Some("PARAM_M_X_Y")),
        (vec![with_key("m", "x"), of("m-y", CollectionType::Absent)], None),
        (vec![of("a", CollectionType::Absent), of("a", CollectionType::Absent)], None),
    ];
    for (announcements, variable) in cases {
        let names: Vec<&str> = announcements.iter().map(|announcement| announcement.name.as_str()).collect();
        let expected: Vec<AnnouncedCollision> = variable
            .map(|variable| AnnouncedCollision { variable: variable.to_owned(), first: 0, second: 1 })
            .into_iter()
            .collect();
        assert_eq!(announced_collisions(&announcements), expected, "{names:?}");
    }
}
