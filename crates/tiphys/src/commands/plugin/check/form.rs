//! The form that announcements make, for people who write plugins.

use serde_json::{Map, Value, json};
use tiphys_params::{Announcement, CollectionType, Default, ItemType, Parameter, ProblemKind, check_values};

/// What a person gets to set the parameters of one application.
pub(super) struct Form {
    entries: Vec<Entry>,
}

/// One field of the form.
struct Entry {
    name: String,
    title: String,
    tooltip: String,
    input: Input,
    collection: &'static str,
    choices: Vec<String>,
    required: bool,
    announced: bool,
    /// `{"string" | "array" | "map": …}`, as the values of `params list`.
    default: Option<Value>,
    value: Option<Value>,
    problems: Vec<String>,
}

/// What a single value is typed into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Text,
    Number,
    Switch,
    Choice,
}

impl Form {
    /// The announced parameters in their order, then the others that are set.
    pub(super) fn new(announcements: &[Announcement], parameters: &[Parameter]) -> Self {
        // Of a parameter that is set twice the later one counts, as in the environment.
        let mut counted: Vec<Parameter> = Vec::new();
        for parameter in parameters {
            match counted.iter_mut().find(|known| known.name == parameter.name) {
                Some(earlier) => earlier.clone_from(parameter),
                None => counted.push(parameter.clone()),
            }
        }
        let set = |name: &str| counted.iter().find(|parameter| parameter.name == name);
        let announced =
            announcements.iter().map(|announcement| Entry::of(announcement, set(&announcement.name)));
        let mut entries: Vec<Entry> = announced.collect();
        for parameter in &counted {
            if !entries.iter().any(|entry| entry.name == parameter.name) {
                entries.push(Entry::unannounced(parameter));
            }
        }
        for problem in check_values(announcements, &counted) {
            // A plugin that announces nothing leaves all names free.
            if announcements.is_empty() && matches!(problem.kind, ProblemKind::Unannounced { .. }) {
                continue;
            }
            if let Some(entry) = entries.iter_mut().find(|entry| entry.name == problem.parameter) {
                entry.problems.push(problem.kind.to_string());
            }
        }
        Self { entries }
    }

    /// `form` of `plugin check -o json`.
    pub(super) fn to_json(&self) -> Value {
        Value::Array(self.entries.iter().map(Entry::to_json).collect())
    }

    /// The form as lines of text.
    pub(super) fn lines(&self) -> Vec<String> {
        if self.entries.is_empty() {
            return vec!["no parameters".to_owned()];
        }
        let mut lines = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if index > 0 {
                lines.push(String::new());
            }
            lines.extend(entry.lines());
        }
        lines
    }
}

impl Entry {
    fn of(announcement: &Announcement, parameter: Option<&Parameter>) -> Self {
        let input = match &announcement.item_type {
            _ if !announcement.choices.is_empty() => Input::Choice,
            Some(ItemType::Number) => Input::Number,
            Some(ItemType::Boolean) => Input::Switch,
            Some(ItemType::String(_)) | None => Input::Text,
        };
        Self {
            name: announcement.name.clone(),
            title: announcement.title.clone().unwrap_or_default(),
            tooltip: announcement.tooltip.clone().unwrap_or_default(),
            input,
            collection: announcement.collection_type.field(),
            choices: announcement.choices.clone(),
            required: announcement.required == Some(true),
            announced: true,
            default: announcement.default_value().map(|value| match value {
                Default::String(text) => json!({"string": text}),
                Default::Array(items) => json!({"array": items}),
                Default::Map(map) => json!({"map": map}),
            }),
            value: parameter.map(value_of),
            problems: Vec::new(),
        }
    }

    fn unannounced(parameter: &Parameter) -> Self {
        let kind = match parameter {
            Parameter { array: Some(_), .. } => CollectionType::Array,
            Parameter { map: Some(_), .. } => CollectionType::Map,
            _ => CollectionType::String,
        };
        let announcement = Announcement { collection_type: kind, ..Announcement::named(&parameter.name) };
        Self { announced: false, ..Self::of(&announcement, Some(parameter)) }
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "label": self.label(),
            "title": self.title,
            "tooltip": self.tooltip,
            "input": self.input.name(),
            "collection": self.collection,
            "choices": self.choices,
            "required": self.required,
            "announced": self.announced,
            "default": self.default,
            "value": self.value,
            "problems": self.problems,
        })
    }

    /// What stands beside the field: the title, or the name where there is none.
    fn label(&self) -> &str {
        if self.title.is_empty() { &self.name } else { &self.title }
    }

    fn lines(&self) -> Vec<String> {
        let mut marks = vec![self.name.clone(), self.kind()];
        if self.required {
            marks.push("required".to_owned());
        }
        if !self.announced {
            marks.push("not announced".to_owned());
        }
        let mut lines = vec![format!("{} ({})", one_line(self.label()), marks.join(", "))];
        lines.extend(self.tooltip.lines().map(|line| format!("  {line}")));
        let shown = [("default", &self.default), ("value", &self.value)];
        for (word, value) in shown {
            if let Some(value) = value {
                lines.push(format!("  {:<9}{}", format!("{word}:"), shown_value(value)));
            }
        }
        lines.extend(self.problems.iter().map(|problem| format!("  problem: {problem}")));
        lines
    }

    /// The kind of the field in words: `text`, `list of numbers`, `map of choices of "a", "b"`.
    fn kind(&self) -> String {
        let (one, several) = match self.input {
            Input::Text => ("text", "texts"),
            Input::Number => ("number", "numbers"),
            Input::Switch => ("switch", "switches"),
            Input::Choice => ("choice", "choices"),
        };
        let offered = if self.choices.is_empty() {
            String::new()
        } else {
            let choices: Vec<String> = self.choices.iter().map(|choice| quoted(choice)).collect();
            format!(" of {}", choices.join(" | "))
        };
        match self.collection {
            "array" => format!("list of {several}{offered}"),
            "map" => format!("map of {several}{offered}"),
            _ => format!("{one}{offered}"),
        }
    }
}

impl Input {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Switch => "switch",
            Self::Choice => "choice",
        }
    }
}

fn value_of(parameter: &Parameter) -> Value {
    let parts = [
        ("string", parameter.string.as_ref().map(|text| json!(text))),
        ("array", parameter.array.as_ref().map(|items| json!(items))),
        ("map", parameter.map.as_ref().map(|map| json!(map))),
    ];
    let given = parts.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?)));
    Value::Object(given.collect::<Map<_, _>>())
}

/// A value as JSON: what is empty, and where a text ends, is to be seen.
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

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
