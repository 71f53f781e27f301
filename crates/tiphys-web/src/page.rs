//! The page of a plugin's form: what the template is filled with.

mod fields;

use askama::Template;
use tiphys_params::{Field, Parameter, fields};

use crate::checked::{Problems, check};
use crate::commands::commands;
use crate::entered::{Draft, Part};
use crate::posted::Posted;
use crate::preview::{Announced, Failed, Outcome, Preview, Severity};

use self::fields::{FieldView, Kind, Lines, Value};

/// A page, and whether what was entered is in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) html: String,
    pub(crate) state: State,
}

/// What a page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The form, or one that is in order.
    Fine,
    /// What was entered does not fit.
    Problems,
    /// There is no form.
    NoForm,
}

/// The document.
#[derive(Template)]
#[template(path = "page.html")]
struct Document<'a> {
    preview: &'a Preview,
    /// What stands before the title of the page.
    prefix: String,
    /// Whether people get no form before errors are mended.
    withheld: bool,
    content: Content<'a>,
}

enum Content<'a> {
    Form(FormView),
    Failed { failed: &'a Failed, set: Vec<(String, String)>, again: Vec<(String, String)> },
}

/// The form with what was entered.
struct FormView {
    announced: Vec<FieldView>,
    unannounced: Vec<FieldView>,
    /// Whether the plugin announces anything; if not, all names are free.
    names_are_free: bool,
    /// What is wrong, with the control that it is about. Empty if nothing was checked.
    problems: Vec<Problem>,
    /// Whether the summary of the problems gets the focus.
    focus_on_problems: bool,
    answer: Option<Answer>,
    /// What was posted for parameters that are not in the form any more.
    lost: Vec<String>,
}

struct Problem {
    id: String,
    text: String,
}

/// What would set what was entered.
struct Answer {
    commands: Vec<String>,
    unwritten: Vec<String>,
}

/// What a person did to get the page.
#[derive(Clone, Copy)]
enum Act {
    /// Opened it.
    Load,
    /// Pressed a row button; the field and the part of it that this leads to.
    Row(Option<(usize, Part)>),
    /// Had the values checked.
    Check,
}

/// The name of the buttons.
const BUTTON: &str = "op";

/// The value of the button that asks once more and checks.
const AGAIN: &str = "again";

/// Makes the page, for a form that was posted if there is one.
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
    let act = follow(&list, &mut drafts, posted);
    let checked = checked(announced, &list, &drafts, act);
    let mut views = Vec::with_capacity(list.len());
    let mut unannounced = Vec::new();
    for (index, ((field, draft), problems)) in list.iter().zip(&drafts).zip(&checked).enumerate() {
        let focus = match act {
            Act::Row(Some((at, part))) if at == index => Some(part),
            _ => None,
        };
        let part = if field.announced { &mut views } else { &mut unannounced };
        part.push(FieldView::new(index, field, draft, problems, focus));
    }
    let problems: Vec<Problem> =
        views.iter().chain(&unannounced).flat_map(FieldView::listed_problems).collect();
    let is_check = matches!(act, Act::Check);
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

/// Follows the button that was pressed.
fn follow(list: &[Field], drafts: &mut [Draft], posted: Option<&Posted>) -> Act {
    let Some(posted) = posted else { return Act::Load };
    let Some(op) = posted.get(BUTTON).filter(|op| *op != AGAIN) else { return Act::Check };
    let mut rows = list.iter().zip(drafts).enumerate();
    Act::Row(rows.find_map(|(index, (field, draft))| Some((index, draft.follow(field, op)?))))
}

fn checked(announced: &Announced, list: &[Field], drafts: &[Draft], act: Act) -> Vec<Problems> {
    let named: Vec<(&str, &Draft)> = list.iter().map(|field| field.name.as_str()).zip(drafts).collect();
    let mut checked = check(&announced.announcements, &named);
    for (problems, field) in checked.iter_mut().zip(list) {
        match act {
            // Who has just added a row has not filled it yet.
            Act::Row(_) => problems.forget(),
            // What is set may stand in a field that has no control.
            Act::Load if problems.is_empty() => {
                problems.whole = field.problems.iter().map(ToString::to_string).collect();
            }
            Act::Load | Act::Check => {}
        }
    }
    checked
}

/// What is set, as JSON: what is empty, and where a text ends, is to be seen.
fn shown(parameter: &Parameter) -> String {
    let parts = [
        ("string", parameter.string.as_ref().map(|text| serde_json::json!(text))),
        ("array", parameter.array.as_ref().map(|list| serde_json::json!(list))),
        ("map", parameter.map.as_ref().map(|map| serde_json::json!(map))),
    ];
    let given: Vec<_> = parts.into_iter().filter_map(|(field, value)| Some((field, value?))).collect();
    match given.as_slice() {
        [] => "nothing, although the parameter is set".to_owned(),
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
