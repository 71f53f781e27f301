//! Parameters, their items and values, as far as they are known without running a plugin: announcements in its file, and set parameters.

mod known;

use serde_json::json;
use tiphys_engine::SET_PREFIX;

pub(super) use known::KnownParameter;
use known::{of_folder, of_sources};

use super::answer::prefixed;
use super::context::Context;
use super::line::Line;
use super::paths::{Files, paths};
use super::{Candidate, End};

/// The syntax in which a parameter is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterSyntax {
    /// `NAME`.
    Name,
    /// `NAME=VALUE`, `NAME:=JSON`, `NAME[ITEM]=VALUE`, `NAME+=VALUE`, each also with `@FILE`.
    Assign,
    /// `NAME`, `NAME[ITEM]`.
    Unset,
}

/// Parameters of the line's application.
pub(super) fn of_application(
    context: &Context<'_>,
    line: &Line<'_>,
    typed: &str,
    syntax: ParameterSyntax,
) -> Vec<Candidate> {
    let known = with_bare_names(of_sources(context, line), typed);
    match syntax {
        ParameterSyntax::Name => {
            known.iter().map(|parameter| Candidate::word(&parameter.name, parameter.title())).collect()
        }
        ParameterSyntax::Assign => assignments(context, &known, typed),
        ParameterSyntax::Unset => unsets(&known, typed),
    }
}

/// Leaves the prefix of chart values out of names if what is typed is the beginning of such a name.
fn with_bare_names(known: Vec<KnownParameter>, typed: &str) -> Vec<KnownParameter> {
    let is_begun = |name: &str| name.starts_with(typed) || typed.starts_with(name);
    if known.iter().any(|parameter| is_begun(&parameter.name)) {
        return known;
    }
    let bare = |mut parameter: KnownParameter| {
        parameter.name = parameter.name.strip_prefix(SET_PREFIX)?.to_owned();
        Some(parameter)
    };
    known.into_iter().filter_map(bare).collect()
}

/// Assignments of parameters that the line's plugin announces.
pub(super) fn of_plugin(context: &Context<'_>, line: &Line<'_>, typed: &str) -> Vec<Candidate> {
    assignments(context, &of_folder(context, line), typed)
}

fn assignments(context: &Context<'_>, known: &[KnownParameter], typed: &str) -> Vec<Candidate> {
    if let Some((before, path)) = typed.split_once("=@") {
        return prefixed(&format!("{before}=@"), paths(context, path, Files::All));
    }
    // A name may contain any character, so the operator is found after a known name, not before it.
    let mut found: Vec<Candidate> = known
        .iter()
        .filter_map(|parameter| Some((parameter, typed.strip_prefix(parameter.name.as_str())?)))
        .filter(|(_, rest)| !rest.is_empty())
        .flat_map(|(parameter, rest)| behind_name(parameter, rest))
        .collect();
    let begun: Vec<&KnownParameter> =
        known.iter().filter(|parameter| parameter.name.starts_with(typed)).collect();
    match begun.as_slice() {
        [only] => found.extend(heads(only)),
        several => found.extend(several.iter().map(|parameter| head(parameter))),
    }
    found
}

/// The only candidate for a name while several names match.
fn head(parameter: &KnownParameter) -> Candidate {
    let operator = match parameter.field {
        "string" => "=",
        "array" if parameter.items().is_empty() => "+=",
        _ => "[",
    };
    Candidate::open(format!("{}{operator}", parameter.name), parameter.title())
}

/// All candidates that start with a name.
fn heads(parameter: &KnownParameter) -> Vec<Candidate> {
    if parameter.field == "string" {
        return vec![head(parameter)];
    }
    let mut found = items(parameter);
    if parameter.field == "array" {
        found.push(Candidate::open(format!("{}+=", parameter.name), "append an item"));
    } else if found.is_empty() {
        found.push(head(parameter));
    }
    found.push(Candidate::open(format!("{}:=", parameter.name), "whole value as JSON"));
    found
}

/// `NAME[ITEM]=` of the existing items.
fn items(parameter: &KnownParameter) -> Vec<Candidate> {
    let items = parameter.items().into_iter();
    items.map(|item| Candidate::open(format!("{}[{}]=", parameter.name, item.key), item.value)).collect()
}

/// Candidates after a name and the beginning of an operator.
fn behind_name(parameter: &KnownParameter, rest: &str) -> Vec<Candidate> {
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
    // A new key has the same choices.
    if let Some(end) = rest.find("]=") {
        let before = format!("{name}{}", &rest[..end + 2]);
        found.extend(offered(parameter, &before, None));
    }
    found.retain(|candidate| candidate.value != format!("{name}{rest}"));
    found.dedup();
    found
}

/// Values of a string or of one item: the choices, then the existing values.
fn offered(
    parameter: &KnownParameter,
    before: &str,
    there: Option<&[(String, &'static str)]>,
) -> Vec<Candidate> {
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

fn unsets(known: &[KnownParameter], typed: &str) -> Vec<Candidate> {
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
