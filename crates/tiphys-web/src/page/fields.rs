//! A field as the template draws it.

use tiphys_params::{Field, Input, ParameterValue, Shape};

use super::{Problem, shown};
use crate::checked::{Problems, RowProblems};
use crate::entered::{Draft, Entered, Part, pointer};
use crate::posted::Posted;

/// Rows of a box of several lines: room for one line more than there is.
const BOX_ROWS_MAX: usize = 16;

/// A field.
pub(super) struct FieldView {
    /// Begins the ids of all that belongs to it.
    pub(super) id: String,
    /// The name of its control; begins those of its rows.
    pub(super) pointer: String,
    pub(super) label: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) required: bool,
    pub(super) tooltip: String,
    /// As JSON.
    pub(super) default: Option<String>,
    /// As JSON.
    pub(super) set: Option<String>,
    pub(super) problems: Vec<String>,
    /// The ids of the texts about it, with blanks between them.
    pub(super) described: String,
    pub(super) value: Value,
    pub(super) lines: Lines,
    /// Whether a button takes the value away; who has typed one can take it away by typing.
    pub(super) can_be_unset: bool,
    pub(super) focus: Option<Part>,
}

/// How texts of a field get boxes of several lines.
pub(super) enum Lines {
    /// A button makes them.
    Offered,
    /// The button was pressed.
    Asked,
    /// They have them as it is, or are no texts.
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
    /// The ids of the texts about it, with blanks between them.
    pub(super) described: String,
    pub(super) problems: Vec<String>,
    /// Whether it or its field has a problem.
    pub(super) invalid: bool,
    pub(super) required: bool,
    pub(super) focus: bool,
    pub(super) kind: Kind,
}

/// What a control is.
pub(super) enum Kind {
    /// A box of one line.
    Line {
        text: String,
        decimal: bool,
    },
    /// A box of several.
    Box {
        text: String,
        rows: usize,
    },
    Radios(Vec<Choice>),
    Select(Vec<Choice>),
}

/// One of the texts to choose from.
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
        focus: Option<Part>,
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

    /// What is wrong with it, each with the control that it is about.
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

    /// The control that a problem of the whole field leads to.
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

/// Makes the controls of one field.
struct Maker<'a> {
    id: &'a str,
    field: &'a Field,
    focus: Option<Part>,
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
            focus: self.focus == Some(Part::First),
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
                focus: self.focus == Some(Part::Key(row)),
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
            focus: self.focus == Some(Part::Row(row)),
            kind,
            id,
        }
    }

    fn typed(&self, text: &str) -> Kind {
        self.text_box(text, self.field.input == Input::Number)
    }

    /// A text with several lines, or in the place of such a default, has a box of several lines; a box of one would lose the others.
    fn text_box(&self, text: &str, decimal: bool) -> Kind {
        if text.contains(['\n', '\r']) || self.several_lines {
            let rows = (text.split('\n').count() + 1).min(BOX_ROWS_MAX);
            Kind::Box { text: text.to_owned(), rows }
        } else {
            Kind::Line { text: text.to_owned(), decimal }
        }
    }

    /// What a single value is chosen from: nothing, what is offered, and what is set though it is not offered.
    fn choices(&self, text: Option<&str>) -> Vec<Choice> {
        let unset = match &self.field.default {
            Some(ParameterValue::String(default)) => format!("not set (default: {})", clear(default)),
            _ => "not set".to_owned(),
        };
        let unset = Choice { value: String::new(), text: unset, chosen: text.is_none() };
        [unset].into_iter().chain(self.offered(text)).collect()
    }

    /// The same for the value of a row, which is always there.
    fn row_choices(&self, text: &str) -> Vec<Choice> {
        // A new row has nothing; where the empty text is offered, it is that.
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

/// The names of controls that were posted with a text and that are in no field.
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

/// A text as it is if that is clear, else as JSON.
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
