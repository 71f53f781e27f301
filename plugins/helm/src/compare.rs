//! The first difference between the manifests of the built-in engine and those of the `helm` program.
//!
//! It names objects and fields, and no values, which may be secret. Random values and times are not compared: these are the values that
//! the built-in engine renders differently a second time, after the program.

use std::fmt;

use serde_json::Value;
use tiphys_yaml::split_documents;

/// How the results of both engines differ. `template` is the file in the chart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Difference {
    /// An object has another value in a field.
    #[error("{object} in {template} differs at {pointer}")]
    Field {
        object: ObjectName,
        template: String,
        /// A JSON pointer (RFC 6901).
        pointer: String,
    },
    /// Only one engine renders an object.
    #[error("only {engine} renders {object} in {template}")]
    Object { engine: &'static str, object: ObjectName, template: String },
    /// The objects are equal.
    #[error("line {line} of the output differs, in {template}: only in comments, format or order")]
    Text { line: usize, template: String },
    /// The output of an engine is invalid YAML.
    #[error("line {line} of the output differs, in {template}, and the output is invalid YAML")]
    Invalid { line: usize, template: String },
    /// Only one engine renders the chart. The other one fails with this error.
    #[error("only {engine} renders the chart: {error}")]
    Chart { engine: &'static str, error: String },
}

/// The built-in engine, in messages.
pub(crate) const BUILTIN: &str = "the built-in engine";

/// The program, in messages.
pub(crate) const PROGRAM: &str = "helm";

/// The identity of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectName {
    kind: String,
    /// Empty if the object has none.
    namespace: String,
    name: String,
}

struct Document {
    object: ObjectName,
    template: String,
    value: Value,
}

/// Returns the first difference between the output of the built-in engine and that of the program. `again` renders with the built-in engine
/// once more.
pub(crate) fn difference(
    builtin: &str,
    program: &str,
    again: impl FnOnce() -> Option<String>,
) -> Option<Difference> {
    if builtin == program {
        return None;
    }
    let again = again().unwrap_or_else(|| builtin.to_owned());
    let line = first_line(builtin, program);
    let template = template(builtin, line);
    let (Some(ours), Some(theirs), Some(later)) = (documents(builtin), documents(program), documents(&again))
    else {
        return Some(Difference::Invalid { line, template });
    };
    let is_repeatable = builtin == again;
    first_object(ours, &later, theirs)
        .or_else(|| is_repeatable.then_some(Difference::Text { line, template }))
}

/// Returns the first different object, in the order of the built-in engine.
fn first_object(ours: Vec<Document>, later: &[Document], mut theirs: Vec<Document>) -> Option<Difference> {
    for (index, Document { object, template, value }) in ours.into_iter().enumerate() {
        let Some(other) = theirs.iter().position(|other| other.object == object) else {
            return Some(Difference::Object { engine: BUILTIN, object, template });
        };
        let later = later.get(index).map_or(&value, |later| &later.value);
        if let Some(pointer) = first_pointer(&value, later, &theirs.remove(other).value) {
            return Some(Difference::Field { object, template, pointer });
        }
    }
    let Document { object, template, .. } = theirs.into_iter().next()?;
    Some(Difference::Object { engine: PROGRAM, object, template })
}

/// Returns the JSON pointer of the first difference. It is empty if the values differ as a whole. What differs in `later` is not compared.
fn first_pointer(ours: &Value, later: &Value, theirs: &Value) -> Option<String> {
    let below =
        |key: &str, pointer: String| format!("/{}{pointer}", key.replace('~', "~0").replace('/', "~1"));
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let missing = theirs.keys().filter(|key| !ours.contains_key(*key));
            ours.keys().chain(missing).find_map(|key| {
                let pointer = match (ours.get(key), theirs.get(key)) {
                    (Some(ours), Some(theirs)) => first_pointer(ours, &later[key], theirs),
                    _ => Some(String::new()),
                };
                pointer.map(|pointer| below(key, pointer))
            })
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            let mut pairs = ours.iter().zip(theirs).enumerate();
            let of_items = pairs.find_map(|(index, (ours, theirs))| {
                let pointer = first_pointer(ours, &later[index], theirs);
                pointer.map(|pointer| below(&index.to_string(), pointer))
            });
            let length = ours.len().min(theirs.len());
            of_items
                .or_else(|| (ours.len() != theirs.len()).then(|| below(&length.to_string(), String::new())))
        }
        _ => (ours != theirs && ours == later).then(String::new),
    }
}

/// Returns the documents of an output. `None` if it is invalid YAML.
fn documents(output: &str) -> Option<Vec<Document>> {
    let documents = split_documents(output.as_bytes()).ok()?;
    let documents = documents.into_iter().map(|document| {
        let value = document.node.to_value();
        let object = ObjectName::of(&value);
        Document { object, template: template(output, document.node.position.line), value }
    });
    Some(documents.collect())
}

/// Returns the template of a line, without the name of the chart.
fn template(output: &str, line: usize) -> String {
    let source = output.lines().take(line).filter_map(|line| line.strip_prefix("# Source: ")).last();
    let path = source.and_then(|source| source.split_once('/')).map(|(_chart, path)| path);
    path.unwrap_or("an unknown template").to_owned()
}

/// Returns the number of the first different line, from 1.
fn first_line(ours: &str, theirs: &str) -> usize {
    let equal = ours.split('\n').zip(theirs.split('\n')).take_while(|(ours, theirs)| ours == theirs);
    equal.count() + 1
}

impl ObjectName {
    fn of(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        let prefix = metadata["generateName"].as_str().map(|prefix| format!("{prefix}*"));
        let name = metadata["name"].as_str().map(str::to_owned).or(prefix).unwrap_or_default();
        Self { kind: text(&object["kind"]), namespace: text(&metadata["namespace"]), name }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind.is_empty() { "a document without kind" } else { &self.kind };
        let separator = if self.namespace.is_empty() { "" } else { "/" };
        let name = format!("{kind} {}{separator}{}", self.namespace, self.name);
        f.write_str(name.trim_end())
    }
}

#[cfg(test)]
mod tests;
