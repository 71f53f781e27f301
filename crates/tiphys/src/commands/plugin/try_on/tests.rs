use std::collections::BTreeMap;

use tiphys_params::Parameter;

use super::parse_param;

fn string(name: &str, value: &str) -> Parameter {
    Parameter { name: name.to_owned(), string: Some(value.to_owned()), ..Parameter::default() }
}

#[test]
fn a_parameter_is_a_text_or_with_a_colon_json() {
    let array = Parameter {
        name: "a".to_owned(),
        array: Some(vec!["x".to_owned(), "y=z".to_owned()]),
        ..Parameter::default()
    };
    let map = BTreeMap::from([("k".to_owned(), "v".to_owned())]);
    let cases = [
        ("a=b", string("a", "b")),
        ("a=", string("a", "")),
        ("a=b=c", string("a", "b=c")),
        ("a=[1]", string("a", "[1]")),
        ("a:=\"t\"", string("a", "t")),
        ("a:=[\"x\",\"y=z\"]", array),
        ("m:={\"k\":\"v\"}", Parameter { name: "m".to_owned(), map: Some(map), ..Parameter::default() }),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_param(text).expect(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_parameter_is_refused() {
    for text in ["a", "=b", ":=1", "a:=", "a:=5", "a:=true", "a:=null", "a:=[1]", "a:={\"k\":1}", "a:={"] {
        assert!(parse_param(text).is_err(), "{text}");
    }
}
