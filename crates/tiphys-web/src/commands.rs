//! The commands that set the entered values. The page of a preview saves nothing.

use std::collections::{HashMap, HashSet};

use tiphys_model::params::{Parameter, ParameterValue};

use crate::entered::parameter;
use crate::preview::Announced;

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

fn command(verb: &str, application: &str, arguments: &[String]) -> String {
    let mut words = vec!["tiphys".to_owned(), "params".to_owned(), verb.to_owned()];
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
