use tiphys_yaml::read_document;

use super::{DEPTH_MAX, Value};

fn read(yaml: &str) -> Value {
    let node = read_document(yaml.as_bytes()).expect("valid YAML").expect("not empty");
    Value::from_node(&node).expect("the value is valid")
}

#[test]
fn numbers_of_files_are_printed_as_go_floats() {
    let cases = [
        ("0", "0"),
        ("999999", "999999"),
        ("1000000", "1e+06"),
        ("-1234567", "-1.234567e+06"),
        ("12345678901", "1.2345678901e+10"),
        ("9007199254740993", "9.007199254740992e+15"),
        ("18446744073709551615", "1.8446744073709552e+19"),
        ("1e+21", "1e+21"),
        ("1.5e300", "1.5e+300"),
        ("0.5", "0.5"),
        ("1.10", "1.1"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("0.0000123", "1.23e-05"),
        ("1.25e-7", "1.25e-07"),
        ("-0.0", "-0"),
        ("0777", "511"),
        ("0x1F", "31"),
    ];
    for (yaml, printed) in cases {
        let value = read(yaml);
        assert!(matches!(value, Value::Float(_)), "{yaml}");
        assert_eq!(value.to_string(), printed, "{yaml}");
    }
}

#[test]
fn integers_of_the_command_line_are_printed_in_full() {
    assert_eq!(Value::Integer(1_000_000).to_string(), "1000000");
    assert_eq!(Value::Integer(i64::MIN).to_string(), "-9223372036854775808");
    assert_ne!(Value::Integer(1), Value::Float(1.0));
}

#[test]
fn lists_and_objects_are_printed_as_go_does() {
    let value = read("{b: [x, 'y z', null, []], a: {c: yes, 1: {}}}");
    assert_eq!(value.to_string(), "map[a:map[1:map[] c:true] b:[x y z <nil> []]]");
}

#[test]
fn json_has_sorted_keys_and_plain_numbers() {
    let value = read("{b: 1000000, a: 1.0, c: '<&>', d: [null, true, 1e21]}");
    assert_eq!(value.to_json(), r#"{"a":1,"b":1000000,"c":"\u003c\u0026\u003e","d":[null,true,1e+21]}"#);
    assert_eq!(Value::Integer(9_007_199_254_740_993).to_json(), "9007199254740993");
    assert_eq!(read("9007199254740993").to_json(), "9007199254740992");
}

#[test]
fn last_of_equal_keys_wins() {
    assert_eq!(read("{a: 1, b: 2, a: 3}").to_json(), r#"{"a":3,"b":2}"#);
}

#[test]
fn numbers_without_a_json_form_are_rejected() {
    for yaml in ["a: .inf", "a: [-.inf]", "a: .nan"] {
        let node = read_document(yaml.as_bytes());
        let refused = match node {
            Ok(Some(node)) => Value::from_node(&node).is_err(),
            Ok(None) => false,
            Err(_) => true,
        };
        assert!(refused, "{yaml}");
    }
}

#[test]
fn only_floats_are_negative_zero() {
    assert_eq!(read("[-0, 0, -0.0]").to_json(), "[0,0,-0]");
}

#[test]
fn nesting_is_limited() {
    let text = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    read(&text(DEPTH_MAX));
    let node = read_document(text(DEPTH_MAX + 1).as_bytes()).expect("valid YAML").expect("not empty");
    let error = Value::from_node(&node).expect_err("the limit is exceeded");
    assert_eq!(error.message, format!("nested deeper than {DEPTH_MAX} levels"));
}
