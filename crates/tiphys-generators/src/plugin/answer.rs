//! The parameter sets of an answer, decoded as Go does. Unlike there, the list must be present.

mod fuzz;

use serde_json::{Map, Value};
use tiphys_go::json::first_value;
use tiphys_yaml::{Data, ErrorKind, Node, names_equal, read_json, read_json_as_any};

use super::contract::Contract;

pub use fuzz::fuzz_plugin_answer;

/// Go's type of a parameter set.
const SET: &str = "map[string]interface {}";
/// Go's type of the list.
const SETS: &str = "[]map[string]interface {}";

/// An error of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AnswerError {
    /// The error, in the words of Go's decoder if it is one of its.
    pub(super) message: String,
    /// Whether the answer is a list, and should be an object.
    pub(super) is_bare_list: bool,
}

/// The list of an answer as far as it has been decoded.
type List = Option<Vec<Map<String, Value>>>;

impl From<String> for AnswerError {
    fn from(message: String) -> Self {
        Self { message, is_bare_list: false }
    }
}

/// Decodes an answer.
pub(super) fn decode(contract: Contract, body: &[u8]) -> Result<Vec<Map<String, Value>>, AnswerError> {
    let (list, expected) = match contract {
        Contract::Shipped => (shipped(body)?, r#"{"output":{"parameters":[]}}"#),
        Contract::Proposal | Contract::BareList => (bare(body)?, "[]"),
    };
    list.ok_or_else(|| {
        let problem = match contract {
            Contract::Proposal | Contract::BareList => "no list".to_owned(),
            Contract::Shipped => {
                let found = list_path(body).filter(|path| !names_equal(path, "output.parameters"));
                let found = found.map(|path| format!(" (found {path})")).unwrap_or_default();
                format!("no list output.parameters{found}")
            }
        };
        format!("the answer has {problem}; for no parameter sets, the answer is {expected}").into()
    })
}

/// Returns the path of the first list in an object or in an object of it: `params`, `output.params`.
fn list_path(body: &[u8]) -> Option<String> {
    let node = read(body, "").ok()??;
    let key_of_list = |node: &Node| match &node.data {
        Data::Mapping(entries) => {
            let found = entries.iter().find(|entry| matches!(entry.value.data, Data::Sequence(_)));
            found.map(|entry| entry.key.text.clone())
        }
        _ => None,
    };
    key_of_list(&node).or_else(|| match &node.data {
        Data::Mapping(entries) => entries
            .iter()
            .find_map(|entry| key_of_list(&entry.value).map(|key| format!("{}.{key}", entry.key.text))),
        _ => None,
    })
}

/// Returns the message of an answer with an unsuccessful status, as Argo CD finds it.
pub(super) fn error_message(body: &[u8]) -> String {
    let object = match read_json(body).map(|node| node.to_value()) {
        Ok(Value::Object(object)) => object,
        Ok(Value::Null) => Map::new(),
        _ => return String::from_utf8_lossy(body).into_owned(),
    };
    let found = ["message", "error"].iter().find_map(|key| object.get(*key).and_then(Value::as_str));
    found.unwrap_or_default().to_owned()
}

fn read(body: &[u8], target: &str) -> Result<Option<Node>, String> {
    let Some(value) = first_value(body)? else { return Ok(None) };
    read_json_as_any(value).map(Some).map_err(|error| match &error.kind {
        ErrorKind::LargeNumber(number) => {
            format!("json: cannot unmarshal number {number} into {target} of type float64")
        }
        // Other errors are limits.
        _ => format!("json: {error}"),
    })
}

fn shipped(body: &[u8]) -> Result<List, AnswerError> {
    let target = "Go struct field Output.output.parameters";
    let Some(node) = read(body, target)? else { return Ok(None) };
    let mut list = None;
    for output in fields(&node, "output", "Go value of type plugin.ServiceResponse")
        .map_err(|message| AnswerError { message, is_bare_list: matches!(node.data, Data::Sequence(_)) })?
    {
        let of_output = "Go struct field ServiceResponse.output of type plugin.Output";
        for parameters in fields(output, "parameters", of_output)? {
            list = decode_list(list, parameters, target)?;
        }
    }
    Ok(list)
}

fn bare(body: &[u8]) -> Result<List, AnswerError> {
    let target = "Go value";
    let Some(node) = read(body, target)? else { return Ok(None) };
    Ok(decode_list(None, &node, target)?)
}

/// Returns the values of a field, in order; Go decodes them on top of each other. `null` has no fields.
fn fields<'a>(node: &'a Node, name: &str, target: &str) -> Result<Vec<&'a Node>, String> {
    match &node.data {
        Data::Null => Ok(Vec::new()),
        Data::Mapping(entries) => {
            let found = entries.iter().filter(|entry| names_equal(&entry.key.text, name));
            Ok(found.map(|entry| &entry.value).collect())
        }
        _ => Err(mismatch(node, target)),
    }
}

fn decode_list(earlier: List, node: &Node, target: &str) -> Result<List, String> {
    match &node.data {
        Data::Null => Ok(None),
        Data::Sequence(items) => {
            let mut earlier = earlier.unwrap_or_default().into_iter();
            let item = |item: &Node| match item.to_any_value() {
                Value::Null => {
                    earlier.next();
                    Ok(Map::new())
                }
                Value::Object(object) => {
                    let mut set = earlier.next().unwrap_or_default();
                    set.extend(object);
                    Ok(set)
                }
                _ => Err(mismatch(item, &of_type(target, SET))),
            };
            items.iter().map(item).collect::<Result<_, _>>().map(Some)
        }
        _ => Err(mismatch(node, &of_type(target, SETS))),
    }
}

fn of_type(target: &str, name: &str) -> String {
    format!("{target} of type {name}")
}

fn mismatch(node: &Node, target: &str) -> String {
    format!("json: cannot unmarshal {} into {target}", node.json_type())
}

#[cfg(test)]
mod tests;
