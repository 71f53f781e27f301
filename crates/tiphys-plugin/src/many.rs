//! Announcements for several applications by one command: the variables of each are one JSON value, and the command prints a line for each.

use std::collections::BTreeMap;

use tiphys_model::params::{EnvVar, decode_announcements};
use tiphys_yaml::{Data, Node};

use crate::announcement::log_warnings;
use crate::error::{Phase, PluginError};
use crate::plugin::Announced;
use crate::request::Request;

/// The variable with the variables of all requests: a JSON list of objects.
pub(crate) const REQUESTS: &str = "TIPHYS_REQUESTS";

/// Returns the request for the answers to all these, which differ only in their environment. None if there are none.
pub(crate) fn request(requests: &[Request]) -> Option<Request> {
    let first = requests.first()?;
    // Of several variables with one name, the last takes effect.
    let variables = |request: &Request| -> BTreeMap<String, String> {
        request.env.iter().map(|variable| (variable.name.clone(), variable.value.clone())).collect()
    };
    let all: Vec<_> = requests.iter().map(variables).collect();
    let env = vec![EnvVar::new(REQUESTS, serde_json::json!(all).to_string())];
    Some(Request { env, ..first.clone() })
}

/// Decodes the command's standard output without its final newline: a line for each of `count` requests.
pub(crate) fn answers(
    stdout: &[u8],
    plugin: &str,
    count: usize,
) -> Result<Vec<Option<Announced>>, PluginError> {
    let failed = |message| PluginError::Output { phase: Phase::Announce, message };
    let lines: Vec<&[u8]> = stdout.split(|byte| *byte == b'\n').collect();
    if lines.len() != count {
        return Err(failed(format!("expected a line for each of {count} requests, found {}", lines.len())));
    }
    lines.into_iter().map(|line| answer(line, plugin).map_err(failed)).collect()
}

fn answer(line: &[u8], plugin: &str) -> Result<Option<Announced>, String> {
    let node = tiphys_yaml::read_json(line).map_err(|error| error.to_string())?;
    if node.is_null() {
        return Ok(None);
    }
    let list = node.get("announcements").ok_or("expected an object with `announcements`, or null")?;
    let read = decode_announcements(list, "announcements").map_err(|error| error.to_string())?;
    let warnings = match node.get("warnings").map(|warnings| &warnings.data) {
        Some(Data::Sequence(items)) => items.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    Ok(Some(Announced { list: log_warnings(read, plugin), warnings }))
}

#[cfg(test)]
mod tests;
