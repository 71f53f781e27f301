//! The form of a plugin's announcements, as text and as JSON.

use serde_json::{Map, Value, json};
use tiphys_model::params::{Announcement, Field, Parameter, ParameterValue, fields};

use crate::terminal::prose;

/// The fields for the parameters of one application.
pub(super) struct Form {
    fields: Vec<Field>,
}

impl Form {
    /// The announced parameters in their order, then other set parameters.
    pub(super) fn new(announcements: &[Announcement], parameters: &[Parameter]) -> Self {
        Self { fields: fields(announcements, parameters) }
    }

    /// `form` of `plugin check -o json`.
    pub(super) fn to_json(&self) -> Value {
        Value::Array(self.fields.iter().map(field_json).collect())
    }

    /// The form as lines of text.
    pub(super) fn lines(&self) -> Vec<String> {
        if self.fields.is_empty() {
            return vec!["no parameters".to_owned()];
        }
        let mut lines = Vec::new();
        for (index, field) in self.fields.iter().enumerate() {
            if index > 0 {
                lines.push(String::new());
            }
            lines.extend(field_lines(field));
        }
        lines
    }
}

fn field_json(field: &Field) -> Value {
    json!({
        "name": field.name,
        "label": field.label(),
        "title": field.title,
        "tooltip": field.tooltip,
        "input": field.input.name(),
        "collection": field.shape.field(),
        "choices": field.choices,
        "required": field.required,
        "announced": field.announced,
        "default": field.default.as_ref().map(default_json),
        "value": field.value.as_ref().map(value_json),
        "problems": field.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn field_lines(field: &Field) -> Vec<String> {
    let mut marks = vec![field.name.clone(), kind(field)];
    if field.required {
        marks.push("required".to_owned());
    }
    if !field.announced {
        marks.push("not announced".to_owned());
    }
    let mut lines = vec![format!("{} ({})", prose(field.label()), marks.join(", "))];
    lines.extend(field.tooltip.lines().map(|line| format!("  {line}")));
    let shown = [
        ("default", field.default.as_ref().map(default_json)),
        ("value", field.value.as_ref().map(value_json)),
    ];
    for (word, value) in shown {
        if let Some(value) = value {
            lines.push(format!("  {:<9}{}", format!("{word}:"), shown_value(&value)));
        }
    }
    lines.extend(field.problems.iter().map(|problem| format!("  problem: {problem}")));
    lines
}

/// The kind of the field: `string`, `list of numbers`, `map of choices of "a" | "b"`.
fn kind(field: &Field) -> String {
    let choices: Vec<String> = field.choices.iter().map(|choice| quoted(choice)).collect();
    let offered = if choices.is_empty() { String::new() } else { format!(" of {}", choices.join(" | ")) };
    format!("{}{offered}", field.kind_words())
}

/// `{"string" | "array" | "map": …}`, as the values of `params list`.
fn default_json(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::String(text) => json!({"string": text}),
        ParameterValue::Array(items) => json!({"array": items}),
        ParameterValue::Map(map) => json!({"map": map}),
    }
}

fn value_json(parameter: &Parameter) -> Value {
    let parts = [
        ("string", parameter.string.as_ref().map(|text| json!(text))),
        ("array", parameter.array.as_ref().map(|items| json!(items))),
        ("map", parameter.map.as_ref().map(|map| json!(map))),
    ];
    let given = parts.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?)));
    Value::Object(given.collect::<Map<_, _>>())
}

/// A value as JSON, which shows empty strings and trailing blanks.
fn shown_value(value: &Value) -> String {
    let parts: Vec<&Value> = value.as_object().into_iter().flatten().map(|(_, part)| part).collect();
    match parts.as_slice() {
        [] => "none, though the parameter is set".to_owned(),
        [only] => only.to_string(),
        _ => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
