//! The form as the template shows it.

use serde_json::Value;
use tiphys_engine::SET_PREFIX;
use tiphys_model::params::{Parameter, check_value};
use tiphys_service::documents::{LayerDocument, LocationDocument, ParameterDocument, ReferenceDocument};
use tiphys_service::params::{EditedValue, ParameterEdit};

use super::control::{Control, entered};
use super::draft::{Draft, Edited, Entered, OPERATION, hash, is_set_here, pointer};
use super::groups::{Filter, groups, shown_name};
use crate::posted::Posted;
use crate::site::{ApplicationParameters, FormParameter};

/// Maximum rows of a text area, which has one row more than lines.
const TEXT_ROWS_MAX: usize = 16;

/// The problem of a required parameter without a value.
const REQUIRED: &str = "a value is required";

/// The form of one source.
pub(crate) struct Form {
    pub(crate) groups: Vec<GroupView>,
    pub(crate) filter: Filter,
    /// Problems of the entered values.
    pub(crate) problems: Vec<Problem>,
    /// The changes that the entered values ask for, without invalid ones.
    pub(crate) edits: Vec<ParameterEdit>,
    /// The number of all parameters.
    pub(crate) total: usize,
    pub(crate) set: usize,
    pub(crate) required: usize,
    pub(crate) invalid: usize,
    /// The number of shown parameters.
    pub(crate) shown: usize,
}

/// A group with the fields that are shown.
pub(crate) struct GroupView {
    pub(crate) name: String,
    pub(crate) total: usize,
    pub(crate) set: usize,
    pub(crate) invalid: usize,
    pub(crate) is_chosen: bool,
    pub(crate) fields: Vec<FieldView>,
}

/// A problem of an entered value, with the id of its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// A field.
pub(crate) struct FieldView {
    /// Prefix of the ids of its elements.
    pub(crate) id: String,
    /// The name of its control and the prefix of the names of its rows.
    pub(crate) pointer: String,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) tooltip: String,
    pub(crate) kind: String,
    pub(crate) required: bool,
    pub(crate) control: ControlView,
    /// The hash of the value in the files.
    pub(crate) was: String,
    pub(crate) origin: Origin,
    pub(crate) layers: Vec<LayerView>,
    /// The button that removes the value, with what becomes effective.
    pub(crate) reset: Option<String>,
    /// Whether there are buttons for the empty string and null.
    pub(crate) can_be_empty: bool,
    pub(crate) state: FieldState,
    pub(crate) problems: Vec<String>,
    pub(crate) suggestions: Vec<String>,
    pub(crate) focus: bool,
}

/// Whether a field differs from the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldState {
    /// It has the value of the files.
    Unchanged,
    /// The browser changed it.
    Changed,
    /// The browser changed it, and so did the files after the page was loaded.
    Conflict,
}

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

/// The layer that is effective.
pub(crate) struct Origin {
    pub(crate) words: String,
    pub(crate) place: String,
    /// The class of the badge.
    pub(crate) class: &'static str,
}

/// One of the layers that set a value.
pub(crate) struct LayerView {
    pub(crate) words: String,
    pub(crate) value: String,
    pub(crate) place: String,
    pub(crate) effective: bool,
}

impl Form {
    /// Builds the form of a source. Without a posted form it shows the values of the files.
    pub(crate) fn new(
        application: &ApplicationParameters,
        source: usize,
        filter: Filter,
        posted: Option<&Posted>,
    ) -> Self {
        let of_source = application.parameters.iter().filter(|one| one.parameter.source_position == source);
        let all: Vec<&FormParameter> =
            of_source.filter(|one| is_in_form(&one.parameter, application)).collect();
        let documents: Vec<&ParameterDocument> = all.iter().map(|one| &one.parameter).collect();
        let plugin = application.head.sources.iter().find(|head| head.position == source);
        let operation = posted.and_then(|posted| posted.get(OPERATION)).and_then(Operation::parse);
        let mut form = Self {
            groups: Vec::new(),
            filter,
            problems: Vec::new(),
            edits: Vec::new(),
            total: all.len(),
            set: 0,
            required: 0,
            invalid: 0,
            shown: 0,
        };
        for group in groups(&documents, plugin.and_then(|head| head.plugin.as_deref())) {
            let mut view = GroupView {
                total: group.members.len(),
                set: 0,
                invalid: 0,
                is_chosen: group.name == form.filter.group,
                fields: Vec::new(),
                name: group.name,
            };
            for index in group.members {
                let field = form.field(index, all[index], posted, operation.as_ref());
                let parameter = &all[index].parameter;
                let is_invalid = !field.problems.is_empty();
                let is_set = is_set_here(parameter);
                view.set += usize::from(is_set);
                view.invalid += usize::from(is_invalid);
                form.required += usize::from(parameter.required);
                if field.state.is_changed() || form.filter.includes(parameter, &view.name, is_invalid) {
                    view.fields.push(field);
                }
            }
            form.set += view.set;
            form.invalid += view.invalid;
            form.shown += view.fields.len();
            form.groups.push(view);
        }
        form
    }

    /// Returns the names of the controls of changed parameters.
    pub(crate) fn changed_pointers(&self) -> impl Iterator<Item = &str> {
        let fields = self.groups.iter().flat_map(|group| &group.fields);
        fields.filter(|field| field.state.is_changed()).map(|field| field.pointer.as_str())
    }

    /// Returns the number of changed parameters.
    pub(crate) fn changed(&self) -> usize {
        self.changed_pointers().count()
    }

    fn field(
        &mut self,
        index: usize,
        one: &FormParameter,
        posted: Option<&Posted>,
        operation: Option<&Operation<'_>>,
    ) -> FieldView {
        let parameter = &one.parameter;
        let mut draft =
            posted.map_or_else(|| Draft::of(parameter), |posted| Draft::posted(parameter, posted));
        let at = pointer(&parameter.name);
        let pressed = operation.and_then(|operation| operation.on(&at));
        if let Some((word, row)) = pressed {
            draft.press(parameter, word, row);
        }
        let id = format!("p{index}");
        let mut problems =
            if draft.edited == Edited::Unchanged { parameter.problems.clone() } else { Vec::new() };
        match draft.change() {
            Some(Ok(value)) => {
                problems.extend(refused(one, &draft, value.as_ref()));
                if problems.is_empty() {
                    self.edits.push(ParameterEdit { name: parameter.name.clone(), value });
                }
            }
            Some(Err(problem)) => problems.push(problem),
            None => {}
        }
        if draft.edited != Edited::Unchanged {
            let listed = problems.iter().map(|text| Problem {
                id: id.clone(),
                text: format!("{}: {text}", shown_name(&parameter.name)),
            });
            self.problems.extend(listed);
        }
        if parameter.missing && draft.edited == Edited::Unchanged {
            problems.push(REQUIRED.to_owned());
        }
        let below = below(&one.layers);
        let reset = is_set_here(parameter).then(|| match &below {
            Some(below) => format!("back to {} {}: {}", below.words, below.place, below.value),
            None => "back to no value".to_owned(),
        });
        let title = if is_name(shown_name(&parameter.title), shown_name(&parameter.name)) {
            ""
        } else {
            &parameter.title
        };
        let control = control_view(one, &draft, below.as_ref());
        FieldView {
            pointer: at,
            name: shown_name(&parameter.name).to_owned(),
            title: title.to_owned(),
            tooltip: parameter.tooltip.clone(),
            kind: kind(parameter),
            required: parameter.required,
            can_be_empty: control.can_be_empty(),
            control,
            was: hash(Draft::of(parameter).entered.as_ref()),
            origin: Origin::of(parameter),
            layers: one.layers.iter().map(LayerView::of).collect(),
            reset: reset.filter(|_| draft.edited != Edited::Reset),
            state: FieldState::of(&draft),
            problems,
            suggestions: parameter.suggestions.clone(),
            focus: pressed.is_some(),
            id,
        }
    }
}

/// Whether a title has no more than the words of a name.
fn is_name(title: &str, name: &str) -> bool {
    let words = |text: &str| text.to_lowercase().replace(['-', '_', '\\'], " ");
    words(title) == words(name)
}

/// A button of the form: `WORD:/NAME` or `WORD:/NAME/ROW`.
struct Operation<'a> {
    word: &'a str,
    place: &'a str,
}

impl<'a> Operation<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (word, place) = text.split_once(':')?;
        Some(Self { word, place })
    }

    /// Returns the word and the row if the button is one of this parameter.
    fn on(&self, pointer: &str) -> Option<(&'a str, Option<usize>)> {
        let rest = self.place.strip_prefix(pointer)?;
        if rest.is_empty() {
            return Some((self.word, None));
        }
        Some((self.word, Some(rest.strip_prefix('/')?.parse().ok()?)))
    }
}

/// Whether a parameter has a field of its own. An item of a list of a chart is edited with its list, unless it is set by itself.
fn is_in_form(parameter: &ParameterDocument, application: &ApplicationParameters) -> bool {
    let Some(name) = parameter.name.strip_prefix(SET_PREFIX) else { return true };
    let Some((list, _)) = name.split_once('[') else { return true };
    let list = format!("{SET_PREFIX}{list}");
    is_set_here(parameter) || !application.parameters.iter().any(|one| one.parameter.name == list)
}

/// Returns why the plugin's announcement refuses a value.
fn refused(one: &FormParameter, draft: &Draft, value: Option<&EditedValue>) -> Vec<String> {
    if value.is_none() {
        let is_missing = one.parameter.required && below(&one.layers).is_none();
        return is_missing.then(|| REQUIRED.to_owned()).into_iter().collect();
    }
    let Some((announcement, value)) = one.announcement.as_ref().zip(value) else { return Vec::new() };
    let named = Parameter { name: announcement.name.clone(), ..Parameter::default() };
    let parameter = match (value, &draft.entered) {
        (EditedValue::Text(text), _) => Parameter { string: Some(text.clone()), ..named },
        (_, Some(Entered::List(list))) if draft.control == Control::List => {
            Parameter { array: Some(list.clone()), ..named }
        }
        (_, Some(Entered::Map(map))) => Parameter { map: Some(map.iter().cloned().collect()), ..named },
        _ => return Vec::new(),
    };
    check_value(announcement, &parameter).iter().map(|problem| problem.kind.to_string()).collect()
}

fn control_view(one: &FormParameter, draft: &Draft, below: Option<&LayerView>) -> ControlView {
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
        Control::Number => ControlView::Line { text, is_decimal: true, empty: empty_words(one) },
        Control::Yaml => lines(text, true),
        _ if text.contains(['\n', '\r']) => lines(text, false),
        _ => ControlView::Line { text, is_decimal: false, empty: empty_words(one) },
    }
}

fn is_empty_collection(entered: &Entered) -> bool {
    match entered {
        Entered::Text(_) => false,
        Entered::List(list) => list.is_empty(),
        Entered::Map(map) => map.is_empty(),
    }
}

impl ControlView {
    /// Whether there are buttons for the empty value and null.
    fn can_be_empty(&self) -> bool {
        match self {
            Self::Line { .. } | Self::Lines { .. } => true,
            Self::List(list) => list.is_empty(),
            Self::Map(map) => map.is_empty(),
            Self::Switch { .. } | Self::Choice { .. } | Self::State { .. } | Self::Dynamic(_) => false,
        }
    }
}

/// Returns the state of a value that a field shows as empty. A plugin announces an empty string as a string without a value.
fn empty_words(one: &FormParameter) -> &'static str {
    let Some(layer) = one.layers.iter().find(|layer| layer.effective) else { return "not set" };
    let is_string = match layer.value.as_object() {
        Some(value) => value.contains_key("string"),
        None => one.parameter.item_type == "string",
    };
    if is_string { "empty string" } else { "null" }
}

fn lines(text: String, is_yaml: bool) -> ControlView {
    let rows = (text.lines().count() + 1).min(TEXT_ROWS_MAX);
    ControlView::Lines { text, rows, is_yaml }
}

impl FieldState {
    fn of(draft: &Draft) -> Self {
        match draft.edited {
            Edited::Unchanged => Self::Unchanged,
            _ if draft.is_conflict => Self::Conflict,
            _ => Self::Changed,
        }
    }

    /// Whether the browser changed the field.
    pub(crate) fn is_changed(self) -> bool {
        self != Self::Unchanged
    }

    /// Whether both the browser and the files changed it.
    pub(crate) fn is_conflict(self) -> bool {
        self == Self::Conflict
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

/// Returns the layer below the effective one.
fn below(layers: &[LayerDocument]) -> Option<LayerView> {
    let effective = layers.iter().position(|layer| layer.effective)?;
    layers.get(effective + 1).map(LayerView::of)
}

fn kind(parameter: &ParameterDocument) -> String {
    let item = if parameter.item_type.is_empty() { "string" } else { &parameter.item_type };
    match parameter.collection_type.as_str() {
        "array" => format!("list of {item}s"),
        "map" => format!("map of {item}s"),
        _ if !parameter.choices.is_empty() => "choice".to_owned(),
        _ => item.to_owned(),
    }
}

impl Origin {
    fn of(parameter: &ParameterDocument) -> Self {
        let class = match parameter.origin.as_str() {
            "dynamic" => "dynamic",
            _ if is_set_here(parameter) => "here",
            "default" => "default",
            _ => "file",
        };
        Self {
            words: parameter.layer.clone(),
            place: parameter.location.as_ref().map(place).unwrap_or_default(),
            class,
        }
    }
}

impl LayerView {
    fn of(layer: &LayerDocument) -> Self {
        Self {
            words: layer.layer.clone(),
            value: value_text(&layer.value),
            place: layer.location.as_ref().map(place).unwrap_or_default(),
            effective: layer.effective,
        }
    }
}

fn place(location: &LocationDocument) -> String {
    let file = without_dot(&location.file);
    location.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}

/// Returns a path without `./` in front.
pub(crate) fn without_dot(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Returns a value on one line. An empty string is marked.
fn value_text(value: &Value) -> String {
    match entered(value) {
        Some(Entered::Text(text)) if text.is_empty() => "\"\"".to_owned(),
        Some(Entered::Text(text)) => text,
        Some(Entered::List(list)) => serde_json::json!(list).to_string(),
        Some(Entered::Map(map)) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, value.into())).collect()).to_string()
        }
        None if value.is_null() => "null".to_owned(),
        None => value.to_string(),
    }
}
