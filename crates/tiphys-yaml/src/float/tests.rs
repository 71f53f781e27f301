use crate::{Node, read_document, read_json};

fn written(node: &Node) -> String {
    node.to_written_json()
}

#[test]
fn numbers_of_json_are_kept_as_written() {
    let json = br#"{"b":[1.0,1e3,-0.50E+2,12345678901234567890,1e22],"a":"<&>\u2028\"","z":1,"z":2}"#;
    let expected = "{\"a\":\"<&>\u{2028}\\\"\",\"b\":[1.0,1e3,-0.50E+2,12345678901234567890,1e22],\"z\":2}";
    assert_eq!(written(&read_json(json).expect("JSON")), expected);
    assert_eq!(written(&read_document(json).expect("YAML").expect("a document")), expected);
}

#[test]
fn numbers_of_yaml_are_written_as_json() {
    let yaml = b"[1.0, 1.e3, .5, +1.5, 1_000.5, 0x10, -0, 1E3, 01.5, !!float 1]";
    let expected = "[1.0,1000,0.5,1.5,1000.5,16,0,1E3,1.5,1]";
    assert_eq!(written(&read_document(yaml).expect("YAML").expect("a document")), expected);
}

#[test]
fn floats_are_equal_by_value() {
    let [one, other] = [b"[1.50]", b"[1.5 ]"].map(|json| read_json(json).expect("JSON"));
    assert_eq!(one, other);
    assert_eq!((one.to_json().as_str(), one.to_value()), ("[1.5]", other.to_value()));
}
