//! The commands that set the entered values. The page of a preview saves nothing.

use std::collections::{HashMap, HashSet};

use serde_json::json;
use tiphys_model::params::{Parameter, ParameterValue};
use tiphys_service::params::{EditedValue, ParameterEdit};

use crate::entered::parameter;
use crate::preview::Announced;
use crate::site::ApplicationParameters;

/// Placeholder of an unnamed application.
const APPLICATION: &str = "APP";

/// Formats `params set` and `params unset` for a POSIX shell. The second result contains the names of parameters that arguments cannot
/// express.
pub(crate) fn commands(
    application: Option<&str>,
    announced: &Announced,
    entered: &[(String, Option<ParameterValue>)],
) -> (Vec<String>, Vec<String>) {
    let before: HashMap<&str, &Parameter> =
        announced.in_application.iter().map(|parameter| (parameter.name.as_str(), parameter)).collect();
    let announcements = announced.announcements.iter().map(|announcement| announcement.name.as_str());
    let known: HashSet<&str> = announcements.chain(before.keys().copied()).collect();
    let mut set = Vec::new();
    let mut unset = Vec::new();
    let mut unwritten = Vec::new();
    for (name, value) in entered {
        let old = before.get(name.as_str());
        match value {
            Some(value) if old.is_some_and(|old| **old == parameter(name, value.clone())) => {}
            Some(value) => match value.argument(name, &known) {
                Some(argument) => set.push(argument),
                None => unwritten.push(name.clone()),
            },
            None if old.is_some() => unset.push(name.clone()),
            None => {}
        }
    }
    let application = application.unwrap_or(APPLICATION);
    let lines = [("set", set), ("unset", unset)];
    let lines = lines.into_iter().filter(|(_, arguments)| !arguments.is_empty());
    (lines.map(|(verb, arguments)| command(verb, application, &arguments)).collect(), unwritten)
}

/// Formats the `params set` and `params unset` that make a change, one on each line.
pub(crate) fn change_commands(
    application: &ApplicationParameters,
    source: Option<usize>,
    write_to: &str,
    edits: &[ParameterEdit],
) -> String {
    let known: HashSet<&str> = application.names().collect();
    let (mut set, mut unset) = (Vec::new(), Vec::new());
    for ParameterEdit { name, value } in edits {
        match value {
            Some(EditedValue::Text(text)) => {
                let value = ParameterValue::String(text.clone());
                set.push(value.argument(name, &known).unwrap_or_else(|| format!("{name}:={}", json!(text))));
            }
            Some(EditedValue::Json(value)) => set.push(format!("{name}:={value}")),
            None => unset.push(name.clone()),
        }
    }
    let mut options = vec!["--write-to".to_owned(), write_to.to_owned()];
    options
        .extend(source.into_iter().flat_map(|source| ["--source-position".to_owned(), source.to_string()]));
    let lines = [("set", set), ("unset", unset)].into_iter().filter(|(_, arguments)| !arguments.is_empty());
    let lines = lines.map(|(verb, arguments)| {
        command(&format!("{verb} {}", options.join(" ")), &application.head.application, &arguments)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `verb` has the options, too.
fn command(verb: &str, application: &str, arguments: &[String]) -> String {
    let mut words = vec!["tiphys".to_owned(), "params".to_owned()];
    words.extend(verb.split(' ').map(str::to_owned));
    // After `--`, no argument is parsed as an option.
    let guarded = application.starts_with('-') || arguments.iter().any(|argument| argument.starts_with('-'));
    words.extend(guarded.then(|| "--".to_owned()));
    words.push(application.to_owned());
    words.extend(arguments.iter().cloned());
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests;
