//! Recorded ApplicationSets: the world of their inputs, and how their Applications are compared.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use tiphys_go::glob::FilePattern;

use crate::canned_server::{Canned, Pace, Request};
use crate::oracle;

/// Prefix of errors of YAML and JSON parsers, whose wording differs.
const PARSER: &str = "error converting YAML to JSON: ";

/// Generators that ask other services than plugins.
const OTHERS: [&str; 5] =
    ["\"git\"", "\"oci\"", "\"scmProvider\"", "\"pullRequest\"", "\"clusterDecisionResource\""];

/// Whether the generators of a case read only objects of the control plane, and ask only plugin services.
pub fn needs_only_plugins(case: &Value) -> bool {
    let generators = case["input"]["applicationSet"]["spec"]["generators"].to_string();
    !OTHERS.iter().any(|kind| generators.contains(kind))
}

/// Returns the outputs of a case; any of them is right.
pub fn outputs(case: &Value) -> Vec<Value> {
    let output = &case["output"];
    output["alternatives"].as_array().cloned().unwrap_or_else(|| vec![output.clone()])
}

/// Whether Argo CD panicked. A program that does not panic may succeed, or report an error.
pub fn has_panicked(outputs: &[Value]) -> bool {
    outputs.iter().any(|output| output.get("panic").is_some())
}

/// Returns the error with its reason, or the Applications in the order of their JSON.
pub fn recorded(output: &Value) -> Value {
    match output.get("error").or(output.get("decodeError")).or(output.get("panic")) {
        Some(error) => json!([output["reason"], without_parser(error.as_str().expect("a string"))]),
        None => sorted(output["applications"].as_array().expect("a list").clone()),
    }
}

/// Whether both results are equal. Our errors may have more details at their end.
pub fn is_equal(ours: &Value, recorded: &Value) -> bool {
    match (ours[1].as_str(), recorded[1].as_str()) {
        (Some(error), Some(recorded_error)) => ours[0] == recorded[0] && error.starts_with(recorded_error),
        _ => ours == recorded,
    }
}

/// Whether two objects are equal. Our messages may have more details at their end.
pub fn is_equal_object(ours: &Value, recorded: &Value) -> bool {
    match (ours, recorded) {
        (Value::Object(ours), Value::Object(recorded)) => {
            let is_equal_field =
                |(key, value): (&String, &Value)| match (key.as_str(), value, recorded.get(key)) {
                    ("message", Value::String(ours), Some(Value::String(recorded))) => {
                        without_parser(ours).starts_with(&without_parser(recorded))
                    }
                    (_, value, recorded) => recorded.is_some_and(|recorded| is_equal_object(value, recorded)),
                };
            ours.len() == recorded.len() && ours.iter().all(is_equal_field)
        }
        (Value::Array(ours), Value::Array(recorded)) => {
            ours.len() == recorded.len()
                && ours.iter().zip(recorded).all(|(ours, recorded)| is_equal_object(ours, recorded))
        }
        _ => ours == recorded,
    }
}

fn without_parser(error: &str) -> String {
    let error = error.split_once(PARSER).map_or(error, |(before, _)| before);
    error.replace("unexpected end of JSON input", "")
}

/// Returns our result as [`recorded`] returns the recorded one.
pub fn ours(applications: Vec<Value>, error: Option<(&str, &str)>) -> Value {
    match error {
        Some((reason, message)) => {
            let message = message.replace("line 1, column 10: expected a value, the text ends", "");
            json!([reason, without_parser(&message)])
        }
        None => sorted(applications),
    }
}

fn sorted(mut applications: Vec<Value>) -> Value {
    applications.sort_by_cached_key(ToString::to_string);
    Value::from(applications)
}

/// Returns the objects of a kind in the namespace of the control plane.
pub fn objects<'a>(input: &'a Value, kind: &str) -> impl Iterator<Item = &'a Value> {
    let objects = input["objects"].as_array().into_iter().flatten();
    let namespace = &input["controllerNamespace"];
    objects.filter(move |object| object["kind"] == kind && object["metadata"]["namespace"] == *namespace)
}

/// Returns a value of a Secret.
pub fn data(secret: &Value, key: &str) -> String {
    let encoded = secret["data"][key].as_str().unwrap_or_default();
    String::from_utf8(oracle::base64(encoded)).expect("UTF-8")
}

/// Returns the answer to the question of a `clusters` generator.
pub fn clusters(input: &Value) -> Vec<Map<String, Value>> {
    let is_cluster =
        |secret: &&Value| secret["metadata"]["labels"]["argocd.argoproj.io/secret-type"] == "cluster";
    let cluster = |secret: &Value| {
        let metadata = &secret["metadata"];
        let mut cluster = Map::new();
        for key in ["name", "server", "project"] {
            cluster.insert(key.to_owned(), Value::from(data(secret, key)));
        }
        for key in ["labels", "annotations"] {
            cluster.insert(key.to_owned(), metadata[key].clone());
        }
        cluster
    };
    objects(input, "Secret").filter(is_cluster).map(cluster).collect()
}

/// Returns the answer to a question of a `git` generator.
pub fn git(git: &Value, request: &Value) -> Result<Vec<Map<String, Value>>, String> {
    if let Some(error) = git["error"].as_str() {
        return Err(error.to_owned());
    }
    let files = git["files"].as_object().into_iter().flatten();
    let object = |value: Value| value.as_object().cloned().expect("an object");
    Ok(match request["files"].as_str() {
        None => {
            let visible = files.map(|(path, _)| path).filter(|path| !path.starts_with('.'));
            let parents = |path: &String| {
                let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
                slashes.into_iter().map(|at| path[..at].to_owned()).collect::<Vec<_>>()
            };
            let directories: BTreeSet<String> = visible.flat_map(parents).collect();
            directories.into_iter().map(|path| object(json!({"path": path}))).collect()
        }
        Some(pattern) => {
            let pattern = if git["newFileGlobbing"] == true {
                FilePattern::with_double_star(pattern)
            } else {
                FilePattern::of_git(pattern)
            };
            let pattern = pattern.map_err(|error| error.to_string())?;
            let matching = files.filter(|(path, _)| pattern.matches(path));
            matching.map(|(path, content)| object(json!({"path": path, "content": content}))).collect()
        }
    })
}

/// Returns the first recorded answer whose path and body are those of the request.
pub fn canned(answers: &Value, request: &Request) -> Canned {
    let fits = |answer: &&Value| {
        let is_equal = |key: &str, value: &str| answer.get(key).is_none_or(|expected| *expected == *value);
        is_equal("path", &request.path) && is_equal("body", request.body.trim_end_matches('\n'))
    };
    let answer = answers.as_array().into_iter().flatten().find(fits).expect("an answer for each request");
    let status = answer["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let mut body = answer["response"].as_str().expect("a string").as_bytes().to_vec();
    let mut canned = Canned::new(status.expect("a status"), "");
    for (name, value) in answer["headers"].as_object().into_iter().flatten() {
        let base = format!("http://{}", request.header("Host").expect("a host"));
        canned = canned.with(name, &value.as_str().expect("a string").replace("$BASE", &base));
    }
    if answer["gzip"] == true {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&body).expect("writing to a list");
        body = encoder.finish().expect("writing to a list");
        canned = canned.with("Content-Encoding", "gzip");
    }
    let delay = answer["delayMs"].as_u64().map(Duration::from_millis);
    Canned { body, pace: delay.map_or(Pace::Immediate, Pace::Late), ..canned }
}
