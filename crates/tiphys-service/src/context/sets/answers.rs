//! Recorded answers for generators.

use std::fs::File;
use std::path::Path;

use serde_json::{Map, Value, json};
use tiphys_engine::appset::{Answer, Question};
use tiphys_model::limits::Limit;
use tiphys_tree::{FileOwner, open_file, read_to_bound};
use tiphys_yaml::{read_document, read_json_as_any, write_go_json};

use crate::context::host::Host;
use crate::context::options::ServiceOptions;
use crate::error::ServiceError;

/// Answers from a file: `{"answers": [{"generator": "plugin", "match": {"configMap": "x"}, "parameters": [{}]}]}`.
#[derive(Clone, Debug, Default)]
pub struct RecordedAnswers {
    /// The name of the file in messages.
    pub(super) shown: String,
    pub(super) entries: Vec<RecordedAnswer>,
}

/// An entry of the file.
#[derive(Clone, Debug)]
pub(super) struct RecordedAnswer {
    pub(super) generator: String,
    /// The fields of the question that have these values.
    pub(super) matched: Value,
    pub(super) parameters: Vec<Map<String, Value>>,
}

impl RecordedAnswers {
    /// Records answers, sorted. Failed ones are left out.
    pub(crate) fn of(asked: impl IntoIterator<Item = (Question, Answer)>) -> Self {
        let record = |(question, answer): (Question, Answer)| {
            let Question { generator, request, .. } = question;
            Some(RecordedAnswer {
                generator: generator.to_owned(),
                matched: redacted(&request),
                parameters: answer.ok()?,
            })
        };
        let mut answers: Vec<RecordedAnswer> = asked.into_iter().filter_map(record).collect();
        answers.sort_by_cached_key(|answer| (answer.generator.clone(), write_go_json(&answer.matched)));
        Self { shown: String::new(), entries: answers }
    }

    /// Returns the content of a file that [`RecordedAnswers::parse`] reads.
    pub fn to_json(&self) -> Value {
        let entry = |answer: &RecordedAnswer| {
            let RecordedAnswer { generator, matched, parameters } = answer;
            json!({"generator": generator, "match": matched, "parameters": parameters})
        };
        json!({"answers": self.entries.iter().map(entry).collect::<Vec<_>>()})
    }

    /// Reads the file of the options. None if there is none.
    pub(crate) fn of_options(options: &ServiceOptions, host: &Host) -> Result<Self, ServiceError> {
        let Some(file) = &options.answers else { return Ok(Self::default()) };
        Self::read(
            &host.absolute(file),
            &file.display().to_string(),
            options.limits.get(Limit::APPSET_FILE_BYTES_MAX),
        )
    }

    /// Reads a file that a project file names, which may be a file of a stranger: no link, and nothing else than a file. `shown` is its name in
    /// messages.
    pub(crate) fn read(file: &Path, shown: &str, bytes_max: u64) -> Result<Self, ServiceError> {
        let failed = |what: String| ServiceError::invalid_input(format!("{shown}: {what}"));
        let content = open_file(file, FileOwner::Repository, File::options().read(true))
            .map_err(std::io::Error::from)
            .and_then(|file| read_to_bound(file, bytes_max))
            .map_err(|error| failed(format!("cannot read it: {error}")))?;
        let content = content.ok_or_else(|| {
            ServiceError::limit_exceeded(
                format!("{shown}: larger than {bytes_max} bytes"),
                Limit::APPSET_FILE_BYTES_MAX,
            )
        })?;
        Self::parse(Path::new(shown), &content)
    }

    /// Parses the content of a file, YAML or JSON.
    pub fn parse(file: &Path, content: &[u8]) -> Result<Self, ServiceError> {
        let invalid = |message: String| ServiceError::invalid_input(format!("{}: {message}", file.display()));
        let value = read_answers(content).map_err(|error| invalid(error.to_string()))?;
        let Some(entries) = value.get("answers").and_then(Value::as_array) else {
            return Err(invalid("expected an object with a list `answers`".to_owned()));
        };
        let entry = |(index, entry): (usize, &Value)| {
            let wrong = |field: &str, expected: &str| {
                invalid(format!("answers[{index}].{field}: expected {expected}"))
            };
            let unknown = entry.as_object().into_iter().flat_map(|entry| entry.keys());
            let mut unknown =
                unknown.filter(|key| !["generator", "match", "parameters"].contains(&key.as_str()));
            if let Some(key) = unknown.next() {
                return Err(wrong(key, "generator, match or parameters"));
            }
            let generator =
                entry["generator"].as_str().ok_or_else(|| wrong("generator", "the kind of a generator"))?;
            let matched = match &entry["match"] {
                Value::Null => json!({}),
                object @ Value::Object(_) => object.clone(),
                _ => return Err(wrong("match", "an object")),
            };
            let parameters = objects(&entry["parameters"]);
            let parameters = parameters.ok_or_else(|| wrong("parameters", "a list of objects"))?;
            Ok(RecordedAnswer { generator: generator.to_owned(), matched, parameters })
        };
        let entries = entries.iter().enumerate().map(entry).collect::<Result<_, _>>()?;
        Ok(Self { shown: file.display().to_string(), entries })
    }

    /// Returns the parameter sets of the first entry for plugins that fits a request. A plugin service does not know the `ConfigMap` that names
    /// it, so `configMap` of entries is ignored. The error has the entry to add.
    pub fn answer_plugin(&self, contract: &str, body: &Value) -> Result<Vec<Map<String, Value>>, String> {
        let request = json!({"contract": contract, "body": body});
        let entries = self.entries.iter().cloned().map(|mut answer| {
            if let Value::Object(matched) = &mut answer.matched {
                matched.remove("configMap");
            }
            answer
        });
        let question = Question { generator: "plugin", request, parameters: String::new() };
        Self { shown: String::new(), entries: entries.collect() }.answer(&question)
    }

    /// Returns the first answer that fits. The error has the entry to add.
    pub(crate) fn answer(&self, question: &Question) -> Answer {
        let answer = self.fitting(question).next();
        answer.map(|(_, answer)| answer.parameters.clone()).ok_or_else(|| missing(question))
    }

    /// Returns the entries that fit a question, with their indexes. The first one is the answer.
    pub(super) fn fitting(&self, question: &Question) -> impl Iterator<Item = (usize, &RecordedAnswer)> {
        let request = redacted(&question.request);
        self.entries.iter().enumerate().filter(move |(_, answer)| {
            answer.generator == question.generator
                && (contains(&question.request, &answer.matched) || contains(&request, &answer.matched))
        })
    }
}

/// Returns the error of a question without an answer: the entry to add.
pub(super) fn missing(question: &Question) -> String {
    let request = redacted(&question.request);
    let entry = json!({"generator": question.generator, "match": request, "parameters": []});
    format!("no recorded answer fits; add the entry {}", write_go_json(&entry))
}

/// Reads a file with answers, JSON or YAML. Go decodes the answer of a service as JSON, in which `-0` is another number than in YAML.
pub(crate) fn read_answers(content: &[u8]) -> Result<Value, tiphys_yaml::Error> {
    let document = match read_json_as_any(content) {
        Ok(document) => Some(document),
        Err(_) => read_document(content)?,
    };
    Ok(document.map(|document| document.to_any_value()).unwrap_or_default())
}

/// Returns the parameter sets of a list of objects; none if it is another value.
pub(crate) fn objects(list: &Value) -> Option<Vec<Map<String, Value>>> {
    list.as_array()?.iter().map(|object| object.as_object().cloned()).collect()
}

/// Returns a request without the password of a repository's URL.
fn redacted(request: &Value) -> Value {
    let mut request = request.clone();
    if let Some(url) = request.get("repoURL").and_then(Value::as_str).map(tiphys_source::redact_url) {
        request["repoURL"] = Value::from(url);
    }
    request
}

/// Returns whether a value has the fields of another one, at any depth.
pub(super) fn contains(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(value), Value::Object(part)) => {
            part.iter().all(|(key, part)| value.get(key).is_some_and(|value| contains(value, part)))
        }
        _ => value == part,
    }
}

#[cfg(test)]
mod tests;
