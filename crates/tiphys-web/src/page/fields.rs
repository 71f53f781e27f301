//! The values of a field in the template.

use tiphys_model::params::{Field, Input, ParameterValue, Shape};

use super::{Problem, shown};
use crate::checked::{Problems, RowProblems};
use crate::entered::{ControlPosition, Draft, Entered, pointer};
use crate::posted::Posted;

/// Maximum rows of a text area, which has one row more than lines.
const BOX_ROWS_MAX: usize = 16;

/// A field.
pub(super) struct FieldView {
    /// Prefix of the ids of its elements.
    pub(super) id: String,
    /// The name of its control and the prefix of the names of its rows.
    pub(super) pointer: String,
    pub(super) label: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) required: bool,
    pub(super) tooltip: String,
    /// JSON.
    pub(super) default: Option<String>,
    /// JSON.
    pub(super) set: Option<String>,
    pub(super) problems: Vec<String>,
    /// The ids of describing elements, separated by blanks.
    pub(super) described: String,
    pub(super) value: Value,
    pub(super) lines: Lines,
    /// Whether there is a button to unset the value. A typed value can be deleted instead.
    pub(super) can_be_unset: bool,
    pub(super) focus: Option<ControlPosition>,
}

/// Whether strings of a field can get text areas.
pub(super) enum Lines {
    /// A button switches to text areas.
    Offered,
    /// The button was pressed.
    Asked,
    /// They have text areas, or are not typed.
    Settled,
}

/// The controls of a field.
pub(super) enum Value {
    Single {
        control: Control,
        empty: Option<bool>,
    },
    /// A list or a map that is not set.
    Unset {
        noun: &'static str,
    },
    List(Vec<Control>),
    Map(Vec<Entry>),
}

/// A row of a map.
pub(super) struct Entry {
    pub(super) key: Control,
    pub(super) value: Control,
}

/// One control.
pub(super) struct Control {
    pub(super) id: String,
    pub(super) name: String,
    /// The ids of describing elements, separated by blanks.
    pub(super) described: String,
    pub(super) problems: Vec<String>,
    /// Whether it or its field has a problem.
    pub(super) invalid: bool,
    pub(super) required: bool,
    pub(super) focus: bool,
    pub(super) kind: Kind,
}

/// The kind of a control.
pub(super) enum Kind {
    /// An input of one line.
    Line {
        text: String,
        decimal: bool,
    },
    /// A text area.
    Box {
        text: String,
        rows: usize,
    },
    Radios(Vec<Choice>),
    Select(Vec<Choice>),
}

/// A choice.
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) text: String,
    pub(super) chosen: bool,
}

impl FieldView {
    pub(super) fn new(
        index: usize,
        field: &Field,
        draft: &Draft,
        problems: &Problems,
        focus: Option<ControlPosition>,
    ) -> Self {
        let id = format!("f{index}");
        let default = field.default.as_ref().map(written);
        let set = field.value.as_ref().map(shown);
        let about = [
            ("about", true),
            ("tooltip", !field.tooltip.is_empty()),
            ("default", default.is_some()),
            ("set", set.is_some()),
            ("problem", !problems.whole.is_empty()),
        ];
        let there = about.into_iter().filter(|(_, there)| *there);
        let described = there.map(|(word, _)| format!("{id}-{word}")).collect::<Vec<_>>().join(" ");
        let several_lines = draft.several_lines || has_lines(field.default.as_ref());
        let maker = Maker { id: &id, field, focus, pointer: pointer(field), several_lines };
        let value = match &draft.entered {
            Entered::List(list) => Value::List(
                list.iter()
                    .enumerate()
                    .map(|(row, text)| maker.item(row, text, problems.rows.get(row)))
                    .collect(),
            ),
            Entered::Map(map) => Value::Map(
                map.iter()
                    .enumerate()
                    .map(|(row, (key, text))| maker.entry(row, key, text, problems.rows.get(row)))
                    .collect(),
            ),
            Entered::Nothing if field.shape == Shape::List => Value::Unset { noun: "list" },
            Entered::Nothing if field.shape == Shape::Map => Value::Unset { noun: "map" },
            Entered::Nothing => maker.single(None, described.clone(), &problems.whole),
            Entered::Text(text) => maker.single(Some(text), described.clone(), &problems.whole),
        };
        Self {
            pointer: maker.pointer,
            label: field.label().to_owned(),
            name: field.name.clone(),
            kind: field.kind_words(),
            required: field.required,
            tooltip: field.tooltip.clone(),
            default,
            set,
            problems: problems.whole.clone(),
            described,
            value,
            lines: match field.input {
                Input::Text if draft.several_lines => Lines::Asked,
                Input::Text if !several_lines => Lines::Offered,
                _ => Lines::Settled,
            },
            can_be_unset: !field.announced && draft.entered != Entered::Nothing,
            focus,
            id,
        }
    }

    /// The problems, each with its control.
    pub(super) fn listed_problems(&self) -> Vec<Problem> {
        let label = &self.label;
        let of = |control: &Control, place: String| {
            let id = control.id.clone();
            let texts = control.problems.clone();
            texts
                .into_iter()
                .map(move |text| Problem { id: id.clone(), text: format!("{label}{place}: {text}") })
        };
        let whole =
            self.problems.iter().map(|text| Problem { id: self.target(), text: format!("{label}: {text}") });
        let mut list: Vec<Problem> = whole.collect();
        match &self.value {
            Value::Single { .. } | Value::Unset { .. } => {}
            Value::List(items) => {
                for (row, item) in items.iter().enumerate() {
                    list.extend(of(item, format!(", item {}", row + 1)));
                }
            }
            Value::Map(entries) => {
                for (row, entry) in entries.iter().enumerate() {
                    list.extend(of(&entry.key, format!(", key {}", row + 1)));
                    list.extend(of(&entry.value, format!(", value {}", row + 1)));
                }
            }
        }
        list
    }

    /// The control for a problem of the whole field.
    fn target(&self) -> String {
        match &self.value {
            Value::Single { control, .. } => match control.kind {
                Kind::Radios(_) => format!("{}-0", control.id),
                _ => control.id.clone(),
            },
            Value::Unset { .. } => format!("{}-set-button", self.id),
            Value::List(_) | Value::Map(_) => format!("{}-add", self.id),
        }
    }
}

/// Creates the controls of one field.
struct Maker<'a> {
    id: &'a str,
    field: &'a Field,
    focus: Option<ControlPosition>,
    pointer: String,
    several_lines: bool,
}

impl Maker<'_> {
    fn single(&self, text: Option<&str>, described: String, problems: &[String]) -> Value {
        let kind = match self.field.input {
            Input::Switch => Kind::Radios(self.choices(text)),
            Input::Choice => Kind::Select(self.choices(text)),
            Input::Text | Input::Number => self.typed(text.unwrap_or_default()),
        };
        let control = Control {
            id: self.id.to_owned(),
            name: self.pointer.clone(),
            described,
            problems: Vec::new(),
            invalid: !problems.is_empty(),
            required: self.field.required,
            focus: self.focus == Some(ControlPosition::First),
            kind,
        };
        let empty = (self.field.input == Input::Text).then(|| text.is_some_and(str::is_empty));
        Value::Single { control, empty }
    }

    fn item(&self, row: usize, text: &str, problems: Option<&RowProblems>) -> Control {
        let problems = problems.map(|problems| problems.value.clone()).unwrap_or_default();
        self.of_row(row, "", "", text, problems)
    }

    fn entry(&self, row: usize, key: &str, text: &str, problems: Option<&RowProblems>) -> Entry {
        let problems = problems.cloned().unwrap_or_default();
        Entry {
            key: Control {
                focus: self.focus == Some(ControlPosition::Key(row)),
                kind: self.text_box(key, false),
                ..self.of_row(row, "-key", "/key", "", problems.key)
            },
            value: self.of_row(row, "-value", "/value", text, problems.value),
        }
    }

    fn of_row(&self, row: usize, id: &str, name: &str, text: &str, problems: Vec<String>) -> Control {
        let id = format!("{}-{row}{id}", self.id);
        let kind = match self.field.input {
            Input::Switch | Input::Choice => Kind::Select(self.row_choices(text)),
            Input::Text | Input::Number => self.typed(text),
        };
        Control {
            name: format!("{}/{row}{name}", self.pointer),
            described: if problems.is_empty() { String::new() } else { format!("{id}-problem") },
            invalid: !problems.is_empty(),
            problems,
            required: false,
            focus: self.focus == Some(ControlPosition::Row(row)),
            kind,
            id,
        }
    }

    fn typed(&self, text: &str) -> Kind {
        self.text_box(text, self.field.input == Input::Number)
    }

    /// A string or a default with several lines gets a text area; an input of one line would drop line breaks.
    fn text_box(&self, text: &str, decimal: bool) -> Kind {
        if text.contains(['\n', '\r']) || self.several_lines {
            let rows = (text.split('\n').count() + 1).min(BOX_ROWS_MAX);
            Kind::Box { text: text.to_owned(), rows }
        } else {
            Kind::Line { text: text.to_owned(), decimal }
        }
    }

    /// The choices of a single value: none, the announced ones, and the set value if it is not announced.
    fn choices(&self, text: Option<&str>) -> Vec<Choice> {
        let unset = match &self.field.default {
            Some(ParameterValue::String(default)) => format!("not set (default: {})", clear(default)),
            _ => "not set".to_owned(),
        };
        let unset = Choice { value: String::new(), text: unset, chosen: text.is_none() };
        [unset].into_iter().chain(self.offered(text)).collect()
    }

    /// The choices of a row, which always has a value.
    fn row_choices(&self, text: &str) -> Vec<Choice> {
        // A new row is empty, which is a choice if the empty string is announced.
        let unchosen = text.is_empty() && self.field.choices.iter().all(|choice| !choice.is_empty());
        let mut choices = self.offered(Some(text).filter(|_| !unchosen));
        if unchosen {
            let text = "choose a value".to_owned();
            choices.insert(0, Choice { value: String::new(), text, chosen: true });
        }
        choices
    }

    fn offered(&self, text: Option<&str>) -> Vec<Choice> {
        let switch = ["true".to_owned(), "false".to_owned()];
        let is_choice = self.field.input == Input::Choice;
        let offered: &[String] = if is_choice { &self.field.choices } else { &switch };
        let choice = |choice: &str, note: &str| Choice {
            value: format!("={choice}"),
            text: format!("{}{note}", clear(choice)),
            chosen: text == Some(choice),
        };
        let mut list: Vec<Choice> = offered.iter().map(|offered| choice(offered, "")).collect();
        if let Some(other) = text.filter(|text| offered.iter().all(|offered| offered != text)) {
            list.push(choice(other, if is_choice { " (not offered)" } else { " (neither true nor false)" }));
        }
        list
    }
}

/// The names of posted controls with a value that belong to no field.
pub(super) fn lost(list: &[Field], posted: &Posted) -> Vec<String> {
    let known: std::collections::HashSet<String> = list.iter().map(pointer).collect();
    let mut names: Vec<String> = posted
        .pairs()
        .iter()
        .filter(|(name, value)| name.starts_with('/') && !value.is_empty())
        .filter_map(|(name, _)| {
            let end = name[1..].find('/').map_or(name.len(), |at| at + 1);
            Some(&name[..end]).filter(|pointer| !known.contains(*pointer))
        })
        .map(|pointer| pointer[1..].replace("~1", "/").replace("~0", "~"))
        .collect();
    names.dedup();
    names
}

fn has_lines(default: Option<&ParameterValue>) -> bool {
    matches!(default, Some(ParameterValue::String(text)) if text.contains(['\n', '\r']))
}

/// A string as it is if it is unambiguous, else as JSON.
fn clear(text: &str) -> String {
    let plain = !text.is_empty() && text.trim() == text && !text.chars().any(char::is_control);
    if plain { text.to_owned() } else { serde_json::json!(text).to_string() }
}

fn written(value: &ParameterValue) -> String {
    match value {
        ParameterValue::String(text) => serde_json::json!(text),
        ParameterValue::Array(list) => serde_json::json!(list),
        ParameterValue::Map(map) => serde_json::json!(map),
    }
    .to_string()
}
