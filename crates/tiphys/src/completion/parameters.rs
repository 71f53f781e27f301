//! Parameters, their items and their values, as far as they are known without running a plugin: what its file announces, and what is
//! set.

mod known;

use serde_json::json;

pub(super) use known::Known;
use known::{of_folder, of_sources};

use super::answer::prefixed;
use super::context::Context;
use super::line::Line;
use super::paths::{Files, paths};
use super::{Candidate, End};

/// What a parameter is named for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// To be shown.
    Name,
    /// To be set: `NAME=VALUE`, `NAME:=JSON`, `NAME[ITEM]=VALUE`, `NAME+=VALUE`, and each with `@FILE`.
    Assign,
    /// To be unset: `NAME`, `NAME[ITEM]`.
    Unset,
}

/// The parameters of the application that the line names.
pub(super) fn of_application(
    context: &Context<'_>,
    line: &Line<'_>,
    typed: &str,
    wish: Use,
) -> Vec<Candidate> {
    let known = of_sources(context, line);
    match wish {
        Use::Name => {
            known.iter().map(|parameter| Candidate::word(&parameter.name, parameter.title())).collect()
        }
        Use::Assign => assignments(context, &known, typed),
        Use::Unset => unsets(&known, typed),
    }
}

/// The parameters that the plugin of the line announces, to be set.
pub(super) fn of_plugin(context: &Context<'_>, line: &Line<'_>, typed: &str) -> Vec<Candidate> {
    assignments(context, &of_folder(context, line), typed)
}

fn assignments(context: &Context<'_>, known: &[Known], typed: &str) -> Vec<Candidate> {
    if let Some((before, path)) = typed.split_once("=@") {
        return prefixed(&format!("{before}=@"), paths(context, path, Files::All));
    }
    // A name may have any character in it, so that names say where an operator is, and not the reverse.
    let mut found: Vec<Candidate> = known
        .iter()
        .filter_map(|parameter| Some((parameter, typed.strip_prefix(parameter.name.as_str())?)))
        .filter(|(_, rest)| !rest.is_empty())
        .flat_map(|(parameter, rest)| behind_name(parameter, rest))
        .collect();
    let begun: Vec<&Known> = known.iter().filter(|parameter| parameter.name.starts_with(typed)).collect();
    match begun.as_slice() {
        [only] => found.extend(heads(only)),
        several => found.extend(several.iter().map(|parameter| head(parameter))),
    }
    found
}

/// The one way to go on with a name among several.
fn head(parameter: &Known) -> Candidate {
    let operator = match parameter.field {
        "string" => "=",
        "array" if parameter.items().is_empty() => "+=",
        _ => "[",
    };
    Candidate::open(format!("{}{operator}", parameter.name), parameter.title())
}

/// All ways to go on with a name.
fn heads(parameter: &Known) -> Vec<Candidate> {
    if parameter.field == "string" {
        return vec![head(parameter)];
    }
    let mut found = items(parameter);
    if parameter.field == "array" {
        found.push(Candidate::open(format!("{}+=", parameter.name), "one more item"));
    } else if found.is_empty() {
        found.push(head(parameter));
    }
    found.push(Candidate::open(format!("{}:=", parameter.name), "all of it as JSON"));
    found
}

/// `NAME[ITEM]=` of what is there.
fn items(parameter: &Known) -> Vec<Candidate> {
    let items = parameter.items().into_iter();
    items.map(|item| Candidate::open(format!("{}[{}]=", parameter.name, item.key), item.value)).collect()
}

/// What may stand behind a name and the beginning of an operator.
fn behind_name(parameter: &Known, rest: &str) -> Vec<Candidate> {
    let name = &parameter.name;
    if rest.starts_with(":=") {
        let values = parameter.wholes().into_iter();
        return values
            .map(|(value, origin)| Candidate::word(format!("{name}:={}", json!(value)), origin))
            .collect();
    }
    if rest.starts_with("+=") {
        return offered(parameter, &format!("{name}+="), None);
    }
    if rest.starts_with('=') {
        return offered(parameter, &format!("{name}="), Some(&parameter.texts()));
    }
    if !rest.starts_with('[') {
        return Vec::new();
    }
    let mut found = items(parameter);
    for item in parameter.items() {
        let before = format!("{name}[{}]=", item.key);
        if format!("{name}{rest}").starts_with(&before) {
            found.extend(offered(parameter, &before, Some(&[(item.value, item.origin)])));
        }
    }
    // A key that is not there yet has the choices all the same.
    if let Some(end) = rest.find("]=") {
        let before = format!("{name}{}", &rest[..end + 2]);
        found.extend(offered(parameter, &before, None));
    }
    found.retain(|candidate| candidate.value != format!("{name}{rest}"));
    found.dedup();
    found
}

/// The values of a text or of one item: what is offered to choose from, then what is there.
fn offered(parameter: &Known, before: &str, there: Option<&[(String, &'static str)]>) -> Vec<Candidate> {
    let there = there.unwrap_or_default();
    let origin = |text: &str| there.iter().find(|(value, _)| value == text).map_or("", |(_, origin)| *origin);
    let mut values: Vec<(String, &str)> =
        parameter.choices().into_iter().map(|choice| (choice.clone(), origin(&choice))).collect();
    for (text, origin) in there {
        if !values.iter().any(|(value, _)| value == text) {
            values.push((text.clone(), origin));
        }
    }
    values.into_iter().map(|(value, origin)| Candidate::word(format!("{before}{value}"), origin)).collect()
}

fn unsets(known: &[Known], typed: &str) -> Vec<Candidate> {
    let mut found = Vec::new();
    for parameter in known.iter().filter(|parameter| parameter.is_set()) {
        let name = &parameter.name;
        let within = typed.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('['));
        if within {
            let items = parameter.set_items().into_iter();
            found.extend(items.map(|item| Candidate::word(format!("{name}[{}]", item.key), item.value)));
        } else {
            let end = if parameter.set_items().is_empty() { End::Word } else { End::Open };
            found.push(Candidate { value: name.clone(), description: parameter.title(), end });
        }
    }
    found
}

#[cfg(test)]
mod tests;
