use serde_json::{Value, json};

use super::{AnswerError, decode, error_message};
use crate::plugin::contract::Contract;

fn decoded(contract: Contract, body: &str) -> Result<Value, String> {
    decode(contract, body.as_bytes())
        .map(|sets| sets.into_iter().map(Value::from).collect())
        .map_err(|AnswerError { message, .. }| message)
}

#[test]
fn lists_are_decoded_as_go_does() {
    for (body, expected) in [
        (r#"{"output":{"parameters":[]}}"#, json!([])),
        (r#"{"OutPut":{"PARAMETERS":[{"A":1.0,"a":[null]}]},"x":5}trailing"#, json!([{"A": 1, "a": [null]}])),
        (r#"{"output":{"parameters":[null,{}]}}"#, json!([{}, {}])),
        (r#"{"output":{"parameters":[{"a":"\ud800"}]},"output":{}}"#, json!([{"a": "\u{fffd}"}])),
        (r#"{"output":{"parameters":[{"a":1}]},"output":null}"#, json!([{"a": 1}])),
        (
            r#"{"output":{"parameters":[{"a":1,"b":1},{"c":1}],"parameters":[{"a":2}]}}"#,
            json!([{"a": 2, "b": 1}]),
        ),
        (
            r#"{"output":{"parameters":[{"a":1},{"b":1}]},"output":{"parameters":[null,{"a":1}]}}"#,
            json!([{}, {"a": 1, "b": 1}]),
        ),
    ] {
        assert_eq!(decoded(Contract::Shipped, body), Ok(expected), "{body}");
    }
    for contract in [Contract::Proposal, Contract::BareList] {
        assert_eq!(decoded(contract, r#"[null,{"a":1}]"#), Ok(json!([{}, {"a": 1}])));
        assert_eq!(decoded(contract, "[]"), Ok(json!([])));
    }
}

#[test]
fn negative_zero_keeps_its_sign() {
    let sets = decoded(Contract::Proposal, r#"[{"a": -0, "b": [-0.0], "c": 0}]"#).expect("a list");
    assert_eq!(tiphys_yaml::write_go_json(&sets), r#"[{"a":-0,"b":[-0],"c":0}]"#);
}

#[test]
fn only_a_present_list_may_be_empty() {
    let expected = "the answer has no list output.parameters; for no parameter sets, the answer is {\"output\":{\"parameters\":[]}}";
    for body in [
        "",
        " \n",
        "{}",
        "null",
        r#"{"output":null}"#,
        r#"{"output":{}}"#,
        r#"{"output":{"parameters":null}}"#,
        r#"{"output":{"parameters":[{}],"parameters":null}}"#,
    ] {
        assert_eq!(decoded(Contract::Shipped, body), Err(expected.to_owned()), "{body}");
    }
    for (body, found) in [
        (r#"{"input":{"parameters":[]}}"#, "input.parameters"),
        (r#"{"a":{"b":1},"output":{"n":1,"params":[{}]}}"#, "output.params"),
        (r#"{"output":{"x":[]},"parameters":[]}"#, "parameters"),
    ] {
        let expected = expected.replace(';', &format!(" (found {found});"));
        assert_eq!(decoded(Contract::Shipped, body), Err(expected), "{body}");
    }
    for body in ["", "null"] {
        let expected = "the answer has no list; for no parameter sets, the answer is []";
        assert_eq!(decoded(Contract::Proposal, body), Err(expected.to_owned()), "{body}");
    }
}

#[test]
fn other_types_are_errors_in_gos_words() {
    let (shipped, bare) = (Contract::Shipped, Contract::BareList);
    for (contract, body, expected) in [
        (shipped, "[]", "array into Go value of type plugin.ServiceResponse"),
        (shipped, "\"x\"", "string into Go value of type plugin.ServiceResponse"),
        (shipped, "5", "number into Go value of type plugin.ServiceResponse"),
        (
            shipped,
            r#"{"output":true}"#,
            "bool into Go struct field ServiceResponse.output of type plugin.Output",
        ),
        (
            shipped,
            r#"{"output":{"parameters":{}}}"#,
            "object into Go struct field Output.output.parameters of type []map[string]interface {}",
        ),
        (
            shipped,
            r#"{"output":{"parameters":["a"]}}"#,
            "string into Go struct field Output.output.parameters of type map[string]interface {}",
        ),
        (
            shipped,
            r#"{"output":{"parameters":[{"a":[-1e999]}]}}"#,
            "number -1e999 into Go struct field Output.output.parameters of type float64",
        ),
        (bare, "{}", "object into Go value of type []map[string]interface {}"),
        (bare, "[[]]", "array into Go value of type map[string]interface {}"),
    ] {
        assert_eq!(decoded(contract, body), Err(format!("json: cannot unmarshal {expected}")), "{body}");
    }
    let hint = |body: &str| decode(shipped, body.as_bytes()).map_err(|error| error.is_bare_list);
    assert_eq!((hint("[]"), hint("5")), (Err(true), Err(false)));
}

#[test]
fn nesting_is_limited() {
    let body =
        format!(r#"{{"output":{{"parameters":[{{"a":{}"#, "[".repeat(5_000)) + &"]".repeat(5_000) + "}]}}";
    let error = decoded(Contract::Shipped, &body).expect_err("it is too deep");
    assert!(error.starts_with("json: ") && error.contains("1000"), "{error}");
}

#[test]
fn message_of_an_error_is_found() {
    for (body, expected) in [
        (r#"{"message":"m","error":"e"}"#, "m"),
        (r#"{"message":{},"error":"e"}"#, "e"),
        ("{}", ""),
        ("null", ""),
        ("[]", "[]"),
        ("{} x", "{} x"),
    ] {
        assert_eq!(error_message(body.as_bytes()), expected);
    }
}
