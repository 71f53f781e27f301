//! The page of a plugin's form: the values of its template.

mod fields;

use askama::Template;
use tiphys_model::params::{Field, Parameter, fields};

use crate::checked::{Problems, check};
use crate::commands::commands;
use crate::entered::{ControlPosition, Draft};
use crate::posted::Posted;
use crate::preview::{Announced, Failed, Outcome, Preview, Severity};

use self::fields::{FieldView, Kind, Lines, Value};

/// A page and its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) html: String,
    pub(crate) state: State,
}

/// The kind of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The form, with valid values if they were checked.
    Fine,
    /// The form with invalid values.
    Problems,
    /// There is no form.
    NoForm,
}

/// The document.
#[derive(Template)]
#[template(path = "page.html")]
struct Document<'a> {
    preview: &'a Preview,
    /// The beginning of the page's title.
    prefix: String,
    /// Whether errors prevent the form.
    withheld: bool,
    content: Content<'a>,
}

enum Content<'a> {
    Form(FormView),
    Failed { failed: &'a Failed, set: Vec<(String, String)>, again: Vec<(String, String)> },
}

/// The form with the entered values.
struct FormView {
    announced: Vec<FieldView>,
    unannounced: Vec<FieldView>,
    /// Whether the plugin announces nothing, so that all names are permitted.
    names_are_free: bool,
    /// Problems, each with its control. Empty if the values were not checked.
    problems: Vec<Problem>,
    /// Whether the summary of the problems gets the focus.
    focus_on_problems: bool,
    answer: Option<Answer>,
    /// Posted names of parameters that are no longer in the form.
    lost: Vec<String>,
}

struct Problem {
    id: String,
    text: String,
}

/// The commands that set the entered values.
struct Answer {
    commands: Vec<String>,
    unwritten: Vec<String>,
}

/// The action that led to the page.
#[derive(Clone, Copy)]
enum Action {
    /// A page load.
    Load,
    /// A row button; the field and the control that get the focus.
    Row(Option<(usize, ControlPosition)>),
    /// A check of the values.
    Check,
}

/// The name of all buttons.
const BUTTON: &str = "op";

/// The value of the button that repeats a failed check.
const AGAIN: &str = "again";

/// Renders the page, with a posted form if there is one.
pub(crate) fn page(preview: &Preview, posted: Option<&Posted>) -> Result<Page, askama::Error> {
    let (content, state) = match &preview.outcome {
        Outcome::Announced(announced) => {
            let form = form(preview, announced, posted);
            let state = if form.focus_on_problems { State::Problems } else { State::Fine };
            (Content::Form(form), state)
        }
        Outcome::Failed(failed) => {
            let pairs = posted.map(Posted::pairs).unwrap_or_default();
            let again = pairs.iter().filter(|(name, _)| name != BUTTON).cloned().collect();
            let set = failed.parameters.iter().map(|parameter| (parameter.name.clone(), shown(parameter)));
            (Content::Failed { failed, set: set.collect(), again }, State::NoForm)
        }
    };
    let prefix = match (&content, state) {
        (Content::Form(form), State::Problems) => format!("{} – ", counted(form.problems.len(), "problem")),
        (Content::Failed { .. }, _) => "No form – ".to_owned(),
        _ => String::new(),
    };
    let withheld = preview.findings.iter().any(|finding| finding.severity == Severity::Error);
    let html = Document { preview, prefix, withheld, content }.render()?;
    Ok(Page { html, state })
}

fn form(preview: &Preview, announced: &Announced, posted: Option<&Posted>) -> FormView {
    let list = fields(&announced.announcements, &announced.parameters);
    let draft = |field| posted.map_or_else(|| Draft::of_value(field), |posted| Draft::of_post(field, posted));
    let mut drafts: Vec<Draft> = list.iter().map(draft).collect();
    let action = follow(&list, &mut drafts, posted);
    let checked = checked(announced, &list, &drafts, action);
    let mut views = Vec::with_capacity(list.len());
    let mut unannounced = Vec::new();
    for (index, ((field, draft), problems)) in list.iter().zip(&drafts).zip(&checked).enumerate() {
        let focus = match action {
            Action::Row(Some((at, part))) if at == index => Some(part),
            _ => None,
        };
        let part = if field.announced { &mut views } else { &mut unannounced };
        part.push(FieldView::new(index, field, draft, problems, focus));
    }
    let problems: Vec<Problem> =
        views.iter().chain(&unannounced).flat_map(FieldView::listed_problems).collect();
    let is_check = matches!(action, Action::Check);
    let answer = (is_check && problems.is_empty()).then(|| {
        let entered = list.iter().zip(&drafts).map(|(field, draft)| (field.name.clone(), draft.value()));
        let application = preview.application.as_deref();
        let (commands, unwritten) = commands(application, announced, &entered.collect::<Vec<_>>());
        Answer { commands, unwritten }
    });
    FormView {
        announced: views,
        unannounced,
        names_are_free: announced.announcements.is_empty(),
        focus_on_problems: is_check && !problems.is_empty(),
        problems,
        answer,
        lost: posted.map(|posted| fields::lost(&list, posted)).unwrap_or_default(),
    }
}

/// Applies the pressed button.
fn follow(list: &[Field], drafts: &mut [Draft], posted: Option<&Posted>) -> Action {
    let Some(posted) = posted else { return Action::Load };
    let Some(op) = posted.get(BUTTON).filter(|op| *op != AGAIN) else { return Action::Check };
    let mut rows = list.iter().zip(drafts).enumerate();
    Action::Row(rows.find_map(|(index, (field, draft))| Some((index, draft.follow(field, op)?))))
}

fn checked(announced: &Announced, list: &[Field], drafts: &[Draft], action: Action) -> Vec<Problems> {
    let named: Vec<(&str, &Draft)> = list.iter().map(|field| field.name.as_str()).zip(drafts).collect();
    let mut checked = check(&announced.announcements, &named);
    for (problems, field) in checked.iter_mut().zip(list) {
        match action {
            // The user has just added a row and not filled it yet.
            Action::Row(_) => problems.forget(),
            // A set value may belong to a field without a control.
            Action::Load if problems.is_empty() => {
                problems.whole = field.problems.iter().map(ToString::to_string).collect();
            }
            Action::Load | Action::Check => {}
        }
    }
    checked
}

/// A value as JSON, which shows empty strings and trailing blanks.
fn shown(parameter: &Parameter) -> String {
    let parts = [
        ("string", parameter.string.as_ref().map(|text| serde_json::json!(text))),
        ("array", parameter.array.as_ref().map(|list| serde_json::json!(list))),
        ("map", parameter.map.as_ref().map(|map| serde_json::json!(map))),
    ];
    let given: Vec<_> = parts.into_iter().filter_map(|(field, value)| Some((field, value?))).collect();
    match given.as_slice() {
        [] => "empty".to_owned(),
        [(_, only)] => only.to_string(),
        _ => given.iter().map(|(field, value)| format!("{field}: {value}")).collect::<Vec<_>>().join(", "),
    }
}

/// `1 problem`, `2 problems`.
fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
