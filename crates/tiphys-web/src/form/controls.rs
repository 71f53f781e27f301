//! The controls of a field as the template shows them.

use tiphys_service::documents::ReferenceDocument;

use super::control::{Control, entered};
use super::draft::{Draft, Edited, Entered, is_set_here};
use super::layers::LayerView;
use crate::marks::invisible_names;
use crate::site::FormParameter;

/// Maximum rows of a text area, which has one row more than lines.
const TEXT_ROWS_MAX: usize = 16;

/// The controls of a field.
pub(crate) enum ControlView {
    Line {
        text: String,
        is_decimal: bool,
        /// The state that an empty field stands for.
        empty: &'static str,
    },
    Lines {
        text: String,
        rows: usize,
        is_yaml: bool,
    },
    Switch {
        inherited: String,
        chosen: String,
    },
    Choice {
        inherited: String,
        options: Vec<(String, bool, String)>,
    },
    List(Vec<String>),
    Map(Vec<(String, String)>),
    /// A state without other controls.
    State {
        word: &'static str,
        text: String,
    },
    Dynamic(ReferenceDocument),
}

impl ControlView {
    /// Returns the controls of a parameter. `below` is the layer that becomes effective without the present one.
    pub(super) fn of(one: &FormParameter, draft: &Draft, below: Option<&LayerView>) -> Self {
        let parameter = &one.parameter;
        if let Some(reference) = parameter.reference.as_ref().filter(|_| draft.edited != Edited::Reset) {
            return ControlView::Dynamic(reference.clone());
        }
        let inherited = below.map(|below| below.value.clone()).unwrap_or_default();
        match (&draft.edited, &draft.entered) {
            (Edited::Reset, _) => {
                let text =
                    below.map_or("no value".to_owned(), |below| format!("{} ({})", below.value, below.words));
                return ControlView::State { word: "reset", text: format!("not set: {text}") };
            }
            (Edited::Null, _) => return ControlView::State { word: "null", text: "null".to_owned() },
            (Edited::Set, Some(Entered::Text(text))) if text.is_empty() && draft.control == Control::Text => {
                return ControlView::State { word: "empty", text: "empty string".to_owned() };
            }
            (Edited::Set, Some(entered)) if parameter.value.is_none() && is_empty_collection(entered) => {
                return ControlView::State { word: "empty", text: "empty".to_owned() };
            }
            _ => {}
        }
        let text = match &draft.entered {
            Some(Entered::List(list)) => return ControlView::List(list.clone()),
            Some(Entered::Map(map)) => return ControlView::Map(map.clone()),
            None if !draft.control.is_single() => {
                return if draft.control == Control::Map {
                    ControlView::Map(Vec::new())
                } else {
                    ControlView::List(Vec::new())
                };
            }
            Some(Entered::Text(text)) => text.clone(),
            None => String::new(),
        };
        let is_set = is_set_here(parameter) || draft.edited == Edited::Set;
        let chosen = if is_set { text.clone() } else { String::new() };
        let inherited = if is_set_here(parameter) { inherited } else { Draft::of(parameter).text() };
        match draft.control {
            Control::Switch => ControlView::Switch { inherited, chosen },
            Control::Choice => {
                let known =
                    parameter.choices.iter().map(|choice| (choice.clone(), *choice == chosen, String::new()));
                let mut options: Vec<_> = known.collect();
                if !chosen.is_empty() && options.iter().all(|(_, is_chosen, _)| !is_chosen) {
                    options.push((chosen, true, " (not offered)".to_owned()));
                }
                ControlView::Choice { inherited, options }
            }
            Control::Yaml => lines(text, true),
            _ if ControlView::has_line_ends(&text) => lines(text, false),
            control => ControlView::Line {
                text,
                is_decimal: control == Control::Number,
                empty: empty_words(one, control),
            },
        }
    }

    /// Whether a control of one line would drop a part of a string.
    pub(crate) fn has_line_ends(text: &str) -> bool {
        text.contains(['\n', '\r'])
    }

    /// Returns the names of invisible characters in fields. Elsewhere, they are marked in the text.
    pub(crate) fn invisible(&self) -> Option<String> {
        match self {
            Self::Line { text, .. } | Self::Lines { text, .. } => invisible_names([text.as_str()]),
            Self::List(list) => invisible_names(list.iter().map(String::as_str)),
            Self::Map(map) => invisible_names(map.iter().flat_map(|(key, value)| [key.as_str(), value])),
            Self::Switch { .. } | Self::Choice { .. } | Self::State { .. } | Self::Dynamic(_) => None,
        }
    }

    /// Whether the value can be replaced by the empty one or by null.
    pub(crate) fn can_be_empty(&self) -> bool {
        match self {
            Self::Line { .. } | Self::Lines { .. } => true,
            Self::List(list) => list.is_empty(),
            Self::Map(map) => map.is_empty(),
            Self::Switch { .. } | Self::Choice { .. } | Self::State { .. } | Self::Dynamic(_) => false,
        }
    }
}

impl Draft {
    fn text(&self) -> String {
        match &self.entered {
            Some(Entered::Text(text)) => text.clone(),
            _ => String::new(),
        }
    }
}

fn is_empty_collection(entered: &Entered) -> bool {
    match entered {
        Entered::Text(_) => false,
        Entered::List(list) => list.is_empty(),
        Entered::Map(map) => map.is_empty(),
    }
}

/// Returns the state of a value that a field shows as empty, or the value that it takes instead.
fn empty_words(one: &FormParameter, control: Control) -> &'static str {
    match one.layers.iter().find(|layer| layer.effective) {
        None => "not set",
        Some(layer) if layer.value.is_null() => "null",
        Some(layer)
            if control == Control::Number && entered(&layer.value) != Some(Entered::empty(control)) =>
        {
            "a number"
        }
        Some(_) => "empty string",
    }
}

fn lines(text: String, is_yaml: bool) -> ControlView {
    let rows = (text.lines().count() + 1).min(TEXT_ROWS_MAX);
    ControlView::Lines { text, rows, is_yaml }
}
