//! The form as the template shows it.

use tiphys_engine::SET_PREFIX;
use tiphys_model::params::{Parameter, ProblemKind, check_value};
use tiphys_service::documents::ParameterDocument;
use tiphys_service::params::{EditedValue, ParameterEdit};

use super::added::Added;
use super::control::Control;
use super::controls::ControlView;
use super::draft::{Draft, Edited, Entered, OPERATION, baseline, hash, is_set_here, lost, name_of, pointer};
use super::groups::{Filter, groups, shown_name};
use super::layers::{LayerView, Origin, below, null_effect};
use crate::posted::Posted;
use crate::site::{ApplicationParameters, FormParameter};

/// The form of one source.
pub(crate) struct Form {
    pub(crate) groups: Vec<GroupView>,
    pub(crate) filter: Filter,
    /// Problems of the entered values.
    pub(crate) problems: Vec<Problem>,
    /// Problems of saved values that are not edited.
    pub(crate) saved_problems: Vec<Problem>,
    /// The changes that the entered values ask for, without invalid ones.
    pub(crate) edits: Vec<ParameterEdit>,
    /// The parameter that is added by its name.
    pub(crate) added: Added,
    /// Why it is not added.
    pub(crate) added_problem: Option<String>,
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
    /// Whether null can be written.
    pub(crate) can_be_null: bool,
    pub(crate) state: FieldState,
    pub(crate) problems: Vec<String>,
    /// The effect of a null in the files.
    pub(crate) null: Option<String>,
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
        let plugin = application.head.sources.iter().find(|head| head.position == source);
        let operation = posted.and_then(|posted| posted.get(OPERATION)).and_then(Operation::parse);
        let mut form = Self {
            groups: Vec::new(),
            filter,
            problems: Vec::new(),
            saved_problems: Vec::new(),
            edits: Vec::new(),
            added: Added::of(posted),
            added_problem: None,
            total: all.len(),
            set: 0,
            required: 0,
            invalid: 0,
            shown: 0,
        };
        for group in groups(&all, plugin.and_then(|head| head.plugin.as_deref())) {
            let mut view = GroupView {
                total: group.members.len(),
                set: 0,
                invalid: 0,
                is_chosen: group.name == form.filter.group,
                fields: Vec::new(),
                name: group.name,
            };
            for index in group.members {
                let field = form.field(all[index], posted, operation.as_ref());
                let parameter = &all[index].parameter;
                let is_invalid = !field.problems.is_empty();
                let is_set = is_set_here(parameter);
                view.set += usize::from(is_set);
                view.invalid += usize::from(is_invalid);
                form.required += usize::from(parameter.required);
                if field.focus
                    || field.state.is_changed()
                    || form.filter.includes(parameter, &view.name, is_invalid)
                {
                    view.fields.push(field);
                }
            }
            form.set += view.set;
            form.invalid += view.invalid;
            form.shown += view.fields.len();
            form.groups.push(view);
        }
        let known = |at: &str| all.iter().any(|one| pointer(&one.parameter.name) == at);
        let lost = posted.into_iter().flat_map(lost).filter(|at| !known(at));
        form.problems.extend(lost.map(|at| Problem {
            id: "rows".to_owned(),
            text: format!(
                "{}: the parameter has gone since the page was loaded; load the page again",
                shown_name(&name_of(at))
            ),
        }));
        match form.added.edit() {
            Some(Ok(edit)) => form.edits.push(edit),
            Some(Err(text)) => {
                form.added_problem = Some(text.clone());
                let text = format!("{}: {text}", Added::TITLE);
                form.problems.push(Problem { id: Added::ID.to_owned(), text });
            }
            None => {}
        }
        form
    }

    /// Returns the names of parameters that both the browser and the files changed.
    pub(crate) fn conflicts(&self) -> impl Iterator<Item = &str> {
        let fields = self.groups.iter().flat_map(|group| &group.fields);
        fields.filter(|field| field.state.is_conflict()).map(|field| field.name.as_str())
    }

    /// Returns the names of the controls of changed parameters.
    pub(crate) fn changed_pointers(&self) -> impl Iterator<Item = &str> {
        let fields = self.groups.iter().flat_map(|group| &group.fields);
        fields.filter(|field| field.state.is_changed()).map(|field| field.pointer.as_str())
    }

    /// Returns the number of changed parameters.
    pub(crate) fn changed(&self) -> usize {
        self.changed_pointers().count() + usize::from(self.added.is_changed())
    }

    fn field(
        &mut self,
        one: &FormParameter,
        posted: Option<&Posted>,
        operation: Option<&Operation<'_>>,
    ) -> FieldView {
        let parameter = &one.parameter;
        let mut draft =
            posted.map_or_else(|| Draft::of(parameter), |posted| Draft::posted(parameter, posted));
        let at = pointer(&parameter.name);
        let pressed = operation.and_then(|operation| operation.on(parameter, &at));
        if let Some((word, row)) = pressed {
            draft.press(parameter, word, row);
        }
        let id = id_of(&at);
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
        let listed = problems
            .iter()
            .map(|text| Problem { id: id.clone(), text: format!("{}: {text}", shown_name(&parameter.name)) });
        if draft.edited == Edited::Unchanged {
            self.saved_problems.extend(listed);
        } else {
            self.problems.extend(listed);
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
        let control = ControlView::of(one, &draft, below.as_ref());
        FieldView {
            pointer: at,
            name: shown_name(&parameter.name).to_owned(),
            title: title.to_owned(),
            tooltip: parameter.tooltip.clone(),
            kind: kind(parameter),
            required: parameter.required,
            can_be_null: one.accepts_null,
            control,
            was: hash(baseline(parameter, &Draft::of(parameter)).as_ref()),
            origin: Origin::of(parameter),
            layers: one.layers.iter().map(LayerView::of).collect(),
            reset: reset.filter(|_| draft.edited != Edited::Reset),
            state: FieldState::of(&draft),
            problems,
            null: null_effect(&one.layers),
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

/// A button of the form: `WORD:/NAME`, `WORD:/NAME/ROW`, or `reset:` for all set parameters.
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
    fn on(&self, parameter: &ParameterDocument, pointer: &str) -> Option<(&'a str, Option<usize>)> {
        if self.place.is_empty() {
            return (self.word == "reset" && is_set_here(parameter)).then_some((self.word, None));
        }
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
        return is_missing.then(|| ProblemKind::Required.to_string()).into_iter().collect();
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

/// Returns the prefix of the ids of a field, which stays the same if other parameters come or go.
fn id_of(pointer: &str) -> String {
    format!("p{}", &blake3::hash(pointer.as_bytes()).to_hex()[..8])
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
