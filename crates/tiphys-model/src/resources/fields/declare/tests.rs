#![expect(unreachable_pub, reason = "the structs of `go_struct` are public")]

use std::collections::BTreeMap;

use serde_json::json;
use tiphys_yaml::{Object, read_document};

use super::GoFields;
use crate::resources::Findings;
use crate::resources::fields::{GoStruct, GoType, PatchStrategy, decode_fields, field, print_go_json};

static CAR: GoStruct = Car::GO;

go_struct! {
    /// A made-up struct.
    pub struct Car = "v1alpha1.Car" {
        /// A string that is always printed.
        pub name: String = "name".always(),
        /// A list that a patch merges.
        pub wheels: Vec<String> = "wheels".patched(PatchStrategy::Merge),
        _ = field("unread", GoType::Int64),
        /// A map.
        pub labels: BTreeMap<String, String> = "labels",
        /// A struct.
        pub radio: Option<Radio> = "radio",
    }
    own {
        /// A field that Argo CD does not have.
        pub colour: String = "colour",
    }
    unwritten {
        /// Not in a document.
        pub is_parked: bool,
    }
}

go_struct! {
    /// A struct in another one.
    pub struct Radio = "v1alpha1.Radio" {
        /// A boolean.
        pub has_power: bool = "power",
    }
}

#[test]
fn declared_field_is_decoded_typed_and_printed() {
    let text = "{Name: a, WHEELS: [l, null], unread: 3, radio: {power: true, powr: 1}, colour: red, whels: x, is_parked: true}";
    let node = read_document(text.as_bytes()).expect("YAML").expect("a document");
    let mut findings = Findings::default();
    let car = Car::read(Object::new(&node, "car").expect("an object"), &mut findings).expect("valid");
    let expected = Car {
        name: "a".to_owned(),
        wheels: vec!["l".to_owned(), String::new()],
        radio: Some(Radio { has_power: true }),
        colour: "red".to_owned(),
        ..Car::default()
    };
    assert_eq!(car, expected);
    let unknown: Vec<String> = findings.unknown.iter().map(ToString::to_string).collect();
    assert_eq!(
        unknown,
        [
            "car.radio.powr is not known and ignored; did you mean power?",
            "car.whels is not known and ignored; did you mean wheels?",
            "car.is_parked is not known and ignored",
        ]
    );
    let json = json!({"name": "a", "wheels": ["l", ""], "radio": {"power": true}, "colour": "red"});
    assert_eq!(serde_json::to_value(&car).expect("JSON"), json);
    assert_eq!(Car::of_json(&json).expect("valid"), car);
    assert_eq!(serde_json::to_value(Car::default()).expect("JSON"), json!({"name": ""}));

    let by_go = decode_fields(&CAR, &node).expect("valid").value;
    assert_eq!(
        print_go_json(&CAR, &by_go),
        r#"{"name":"a","wheels":["l",""],"unread":3,"radio":{"power":true}}"#
    );
    let wrong = read_document(b"{radio: {power: 1}}").expect("YAML").expect("a document");
    assert_eq!(
        decode_fields(&CAR, &wrong).expect_err("a wrong type").go,
        "json: cannot unmarshal number into Go struct field Radio.radio.power of type bool"
    );
    let marked =
        |is: fn(&super::GoField) -> bool| CAR.fields.iter().find(|field| is(field)).map(|one| one.name);
    assert_eq!(marked(|field| field.patch == PatchStrategy::Merge), Some("wheels"));
}
