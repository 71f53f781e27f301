//! Validation of values by `values.schema.json`.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map as JsonMap, Number, Value as Json};
use tiphys_go::gotemplate::compile_regex;
use tiphys_helm_values::{Map, Value};

use crate::error::RenderError;
use crate::placed::PlacedChart;

/// Formats that Helm asserts in schemas up to draft 7. Its library decides many of them in its own way.
const FORMATS: [&str; 21] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "period",
    "regex",
    "relative-json-pointer",
    "semver",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// Schemas that are applied to one value, one by the reference of the other. More count as a cycle.
const REFERENCES_MAX: usize = 100;

/// Validates the values of a chart and of its subcharts. Only references within a schema are followed.
pub(crate) fn validate(chart: &PlacedChart<'_>, values: &Map) -> Result<(), RenderError> {
    let mut problems = String::new();
    add_problems(chart, values, &mut problems)?;
    if problems.is_empty() {
        return Ok(());
    }
    Err(RenderError::Schema(problems))
}

fn add_problems(chart: &PlacedChart<'_>, values: &Map, problems: &mut String) -> Result<(), RenderError> {
    let name = chart.name;
    if let Some(schema) = &chart.chart.schema {
        let values = Json::Object(json_object(values));
        let (validator, is_format_checked) = validator(name, schema, &values)?;
        let found: Vec<String> = validator
            .iter_errors(&values)
            // A value may be a secret.
            .map(|error| format!("- at '{}': {}\n", error.instance_path(), error.masked()))
            .collect();
        if is_format_checked.load(Ordering::Relaxed) {
            return Err(RenderError::Unsupported(format!("chart {name}: values.schema.json has a format")));
        }
        if !found.is_empty() {
            problems.extend([name, ":\n", &found.concat(), "\n"]);
        }
    }
    for subchart in &chart.subcharts {
        match values.get(subchart.name) {
            None | Some(Value::Null) => {}
            Some(Value::Map(own)) => add_problems(subchart, own, problems)?,
            Some(_) => {
                problems.extend([subchart.name, ":\ninvalid type for values: expected object (map)\n"]);
            }
        }
    }
    Ok(())
}

/// Returns a validator. It sets the flag if a string must have a format.
fn validator(chart: &str, schema: &[u8], values: &Json) -> Result<(Validator, Arc<AtomicBool>), RenderError> {
    let schema: Json = serde_json::from_slice(schema).map_err(|error| {
        // Helm reads deeper ones.
        if error.to_string().contains("recursion limit") {
            return RenderError::Unsupported(format!("chart {chart}: values.schema.json is nested deeply"));
        }
        RenderError::Schema(format!("{chart}:\nvalues.schema.json is not JSON: {error}\n"))
    })?;
    let mut patterns = Vec::new();
    add_patterns(&schema, &mut patterns);
    if let Some(pattern) = patterns.iter().find(|pattern| compile_regex(pattern).is_err()) {
        return Err(RenderError::Unsupported(format!(
            "chart {chart}: values.schema.json has the pattern {pattern:?}"
        )));
    }
    // The library reads patterns as JavaScript does: white space, words and line breaks differ from Go's.
    if !patterns.is_empty() && !is_plain(values) {
        return Err(RenderError::Unsupported(format!(
            "chart {chart}: values.schema.json has patterns, and values are not only of printable ASCII characters"
        )));
    }
    if has_reference_cycle(&schema, &schema, &mut Vec::new(), &mut HashSet::new()) {
        return Err(RenderError::Unsupported(format!(
            "chart {chart}: values.schema.json has a reference that leads back to itself"
        )));
    }
    if let Some(reference) = foreign_reference(&schema) {
        return Err(RenderError::Unsupported(format!(
            "chart {chart}: values.schema.json refers to {reference}"
        )));
    }
    // Go's expressions have no look-around either.
    let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
    // Helm ignores `contentEncoding` and `contentMediaType`.
    let is_format_checked = Arc::new(AtomicBool::new(false));
    let mut options = options
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json");
    for format in FORMATS {
        let flag = Arc::clone(&is_format_checked);
        options = options.with_format(format, move |value: &str| {
            flag.fetch_or(!is_surely_valid(format, value), Ordering::Relaxed);
            true
        });
    }
    let validator = options.with_draft(draft(&schema)).build(&schema);
    // Helm's library may accept it.
    let validator = validator.map_err(|error| {
        RenderError::Unsupported(format!("chart {chart}: values.schema.json is not a valid schema: {error}"))
    })?;
    Ok((validator, is_format_checked))
}

fn draft(schema: &Json) -> Draft {
    let named = schema["$schema"].as_str().unwrap_or_default();
    let known = [
        ("draft-04", Draft::Draft4),
        ("draft-06", Draft::Draft6),
        ("draft-07", Draft::Draft7),
        ("2019-09", Draft::Draft201909),
    ];
    known.into_iter().find(|(part, _)| named.contains(part)).map_or(Draft::Draft202012, |(_, draft)| draft)
}

/// Adds the regular expressions of a schema.
fn add_patterns<'a>(schema: &'a Json, patterns: &mut Vec<&'a str>) {
    match schema {
        Json::Object(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    ("pattern", Json::String(pattern)) => patterns.push(pattern),
                    ("patternProperties", Json::Object(properties)) => {
                        patterns.extend(properties.keys().map(String::as_str));
                    }
                    _ => {}
                }
                add_patterns(value, patterns);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| add_patterns(item, patterns)),
        _ => {}
    }
}

/// Whether all strings consist of printable ASCII characters and line breaks.
fn is_plain(value: &Json) -> bool {
    let is_plain_string = |string: &str| string.bytes().all(|byte| matches!(byte, b'\n' | b' '..=b'~'));
    match value {
        Json::String(string) => is_plain_string(string),
        Json::Array(items) => items.iter().all(is_plain),
        Json::Object(entries) => entries.iter().all(|(key, value)| is_plain_string(key) && is_plain(value)),
        _ => true,
    }
}

/// Whether a value has its format beyond doubt. Of others, Helm's library may have another opinion than ours.
fn is_surely_valid(format: &str, value: &str) -> bool {
    match format {
        "hostname" => is_plain_host(value),
        "email" => {
            value.split_once('@').is_some_and(|(user, host)| is_plain_host(user) && is_plain_host(host))
        }
        "ipv4" => {
            let is_number = |part: &str| part.parse::<u8>().is_ok_and(|number| number.to_string() == part);
            value.split('.').count() == 4 && value.split('.').all(is_number)
        }
        "uri" => ["http://", "https://"].iter().any(|scheme| {
            let Some(rest) = value.strip_prefix(scheme) else { return false };
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
            is_plain_host(host) && path.bytes().all(is_plain)
        }),
        _ => false,
    }
}

/// Whether a string consists of labels of ASCII letters and digits.
fn is_plain_host(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    host.len() <= 63 && host.split('.').all(is_label)
}

/// Returns a reference to another document, which Helm would read or fetch.
fn foreign_reference(schema: &Json) -> Option<&str> {
    const SCHEMAS: [&str; 2] = ["http://json-schema.org/", "https://json-schema.org/"];
    match schema {
        Json::Object(entries) => entries.iter().find_map(|(key, value)| match (key.as_str(), value) {
            ("$ref" | "$dynamicRef", Json::String(target)) if !target.starts_with('#') => {
                Some(target.as_str())
            }
            ("$schema", Json::String(target)) if !SCHEMAS.iter().any(|known| target.starts_with(known)) => {
                Some(target.as_str())
            }
            (_, value) => foreign_reference(value),
        }),
        Json::Array(items) => items.iter().find_map(foreign_reference),
        _ => None,
    }
}

/// Whether a schema, or one below it, is applied to a value again by its own references, which Helm's library refuses. `open` are the schemas
/// that are applied to one value.
fn has_reference_cycle<'a>(
    schema: &'a Json,
    root: &'a Json,
    open: &mut Vec<&'a Json>,
    done: &mut HashSet<*const Json>,
) -> bool {
    const SAME_VALUE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
    let is_open = open.iter().any(|other| std::ptr::eq(*other, schema));
    if is_open || open.len() > REFERENCES_MAX {
        return true;
    }
    if !done.insert(schema) {
        return false;
    }
    open.push(schema);
    let target = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
    let mut next: Vec<&Json> = target.and_then(|pointer| root.pointer(pointer)).into_iter().collect();
    for part in SAME_VALUE.map(|keyword| &schema[keyword]) {
        next.extend(part.as_array().into_iter().flatten().chain(part.as_object().map(|_| part)));
    }
    let is_cyclic = next.into_iter().any(|one| has_reference_cycle(one, root, open, done));
    open.pop();
    let mut below: Box<dyn Iterator<Item = &Json>> = match schema {
        Json::Object(entries) => Box::new(entries.values()),
        Json::Array(items) => Box::new(items.iter()),
        _ => return is_cyclic,
    };
    is_cyclic || below.any(|one| has_reference_cycle(one, root, &mut Vec::new(), done))
}

fn json_object(map: &Map) -> JsonMap<String, Json> {
    map.iter().map(|(key, value)| (key.clone(), json(value))).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "the number has no fraction, and is small enough")]
fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Integer(value) => Json::Number((*value).into()),
        // A float without a fraction is an integer of every draft.
        Value::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => {
            Json::Number((*value as i64).into())
        }
        Value::Float(value) => Number::from_f64(*value).map_or(Json::Null, Json::Number),
        Value::Text(text) => Json::String(text.clone()),
        Value::List(items) => Json::Array(items.iter().map(json).collect()),
        Value::Map(map) => Json::Object(json_object(map)),
    }
}
