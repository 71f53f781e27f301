//! Functions that Helm adds to sprig, or replaces.

use std::collections::BTreeMap;

use tiphys_yaml::{Data, Node};

use super::json::from_node;
use super::{Body, Call, Failure, Function, Outcome, Type, fail, semver, yaml};
use crate::gotemplate::execute::FunctionError;
use crate::gotemplate::value::{List, ListType, Map, Value};
use crate::strconv::quote;

/// Begins the message about an invalid range of versions.
const RANGE_ERROR: &str = "improper constraint: ";

pub(super) const FUNCTIONS: &[Function] = &[
    Function::of("include", &[Type::String, Type::Any], Body::Include),
    Function::of("tpl", &[Type::String, Type::Any], Body::Tpl).changing(),
    Function::any("required", &[Type::String, Type::Any], |call| match call.value(1) {
        Value::Nil => deliberate(call.text(0)),
        Value::String(string) if string.is_empty() => deliberate(call.text(0)),
        value => Ok(value),
    }),
    Function::new("fail", &[Type::String], |call| deliberate(call.text(0))),
    // Without a cluster, nothing is found.
    Function::new("lookup", &[Type::String; 4], |_| Ok(Value::Map(Map::new(BTreeMap::new())))),
    // Names are resolved only with an option that is never given.
    Function::new("getHostByName", &[Type::String], |_| Ok("".into())),
    Function::new("toYaml", &[Type::Any], |call| match to_yaml(call) {
        Err(Failure::Message(_)) => Ok("".into()),
        result => result,
    }),
    Function::new("mustToYaml", &[Type::Any], to_yaml),
    Function::new("fromYaml", &[Type::String], |call| {
        check_escapes(call)?;
        or_error_entry(unless_of_reader(yaml::from_yaml(call)))
    }),
    Function::new("fromYamlArray", &[Type::String], |call| {
        check_escapes(call)?;
        or_error_item(unless_of_reader(yaml::from_yaml_array(call)))
    }),
    Function::new("fromJson", &[Type::String], |call| {
        let decoded = from_json(call, |data| matches!(data, Data::Mapping(_)), "map[string]interface {}");
        or_error_entry(decoded)
    }),
    Function::new("fromJsonArray", &[Type::String], |call| {
        let decoded = from_json(call, |data| matches!(data, Data::Sequence(_)), "[]interface {}");
        or_error_item(decoded)
    }),
    // The library of Helm is newer than that of Argo CD, and quotes the range.
    Function::new("semverCompare", &[Type::String, Type::String], |call| {
        let range = call.string(0);
        match semver::compare(call) {
            Err(Failure::Message(message)) if message.starts_with(RANGE_ERROR) => {
                fail(format!("{RANGE_ERROR}{}", quote(&*range)))
            }
            result => result,
        }
    }),
    unsupported("toYamlPretty"),
    unsupported("toToml"),
    unsupported("mustToToml"),
    unsupported("fromToml"),
    unsupported("mustToDuration"),
    unsupported("durationSeconds"),
    unsupported("durationMilliseconds"),
    unsupported("durationMicroseconds"),
    unsupported("durationNanoseconds"),
    unsupported("durationMinutes"),
    unsupported("durationHours"),
    unsupported("durationDays"),
    unsupported("durationWeeks"),
    unsupported("durationRoundTo"),
    unsupported("durationTruncateTo"),
];

/// Declares a function of Helm that does not exist here.
const fn unsupported(name: &'static str) -> Function {
    Function::new(name, &[], |_| fail("the function is not supported")).and(Type::Any).missing()
}

fn deliberate(message: String) -> Outcome {
    let cause = FunctionError::Deliberate(message.as_str().into());
    Err(Failure::Caused(message, cause))
}

/// Writes YAML. Helm writes strings with line separators and byte-order marks in another form.
fn to_yaml(call: &mut Call<'_>) -> Outcome {
    let yaml = yaml::to_yaml(call)?;
    let Value::String(text) = &yaml else { return Ok(yaml) };
    // The first byte of these characters, and of their escapes.
    if text.iter().any(|byte| matches!(byte, 0xE2 | b'\\')) {
        let text = text.lossy();
        let has_next_line_in_key = text.contains("\\N") && text.contains("? \"");
        if text.contains(['\u{2028}', '\u{2029}']) || text.contains("\"\\uFEFF") || has_next_line_in_key {
            return Err(Failure::unsupported("line separators and byte-order marks are not supported"));
        }
    }
    Ok(yaml)
}

/// Parses JSON of a type; `null` gives nil, which Go prints as an empty map or list.
fn from_json(call: &mut Call<'_>, is_expected: fn(&Data) -> bool, expected: &str) -> Outcome {
    let text = call.string(0);
    call.budget().take_bytes(text.len())?;
    if let Err(message) = crate::json::check(&text) {
        return fail(message);
    }
    let node: Node = match tiphys_yaml::read_json_as_any(&text) {
        Ok(node) => node,
        // Go may accept what the reader refuses, such as a large number.
        Err(error) => return Err(Failure::unsupported(error.to_string())),
    };
    match &node.data {
        Data::Null if expected.starts_with("map") => Ok(Value::Map(Map::nil())),
        Data::Null => Ok(Value::List(List::nil(ListType::Any))),
        data if is_expected(data) => Ok(from_node(call.budget(), &node, 0)?),
        _ => fail(format!("json: cannot unmarshal {} into Go value of type {expected}", node.json_type())),
    }
}

/// Leaves text with escapes of JSON to the `helm` program, whose reader of YAML refuses them in double quotes.
fn check_escapes(call: &Call<'_>) -> Result<(), Failure> {
    let text = call.string(0);
    let is_surrogate = |at: usize| {
        let [b'u', first, second] = text.get(at + 1..at + 4).unwrap_or_default() else { return false };
        first.eq_ignore_ascii_case(&b'd') && matches!(second.to_ascii_lowercase(), b'8' | b'9' | b'a'..=b'f')
    };
    let mut escapes = text.iter().enumerate().filter(|(_, byte)| **byte == b'\\').map(|(at, _)| at);
    if escapes.any(|at| text.get(at + 1) == Some(&b'/') || is_surrogate(at)) {
        return Err(Failure::unsupported("escapes of JSON are not supported"));
    }
    Ok(())
}

/// Leaves an error of the reader of YAML to the `helm` program, whose words differ. Errors about types are Go's.
fn unless_of_reader(result: Outcome) -> Outcome {
    match result {
        Err(Failure::Message(message)) if !message.starts_with("error unmarshaling JSON: ") => {
            Err(Failure::unsupported(message))
        }
        result => result,
    }
}

/// Returns an error as the entry `Error` of a map.
fn or_error_entry(result: Outcome) -> Outcome {
    match result {
        Err(Failure::Message(message)) => {
            Ok(Value::Map(Map::new(BTreeMap::from([("Error".into(), Value::from(message))]))))
        }
        result => result,
    }
}

/// Returns an error as the only element of a list.
fn or_error_item(result: Outcome) -> Outcome {
    match result {
        Err(Failure::Message(message)) => Ok(Value::List(List::new(vec![message.into()]))),
        result => result,
    }
}
