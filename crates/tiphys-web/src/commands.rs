//! The commands that make a change, for a POSIX shell.

use std::collections::HashSet;

use serde_json::json;
use tiphys_model::params::ParameterValue;
use tiphys_service::params::{EditedValue, ParameterEdit};

use crate::marks::is_invisible;

/// Placeholder of an unnamed application.
const APPLICATION: &str = "APP";

/// Formats the `params set` and `params unset` that make a change, one on each line. `known` are the names of all parameters; `options` come
/// after the verb.
pub(crate) fn change_commands(
    application: &str,
    known: &HashSet<&str>,
    options: &[&str],
    edits: &[ParameterEdit],
) -> String {
    let (mut set, mut unset) = (Vec::new(), Vec::new());
    for ParameterEdit { name, value } in edits {
        match value {
            Some(EditedValue::Text(text)) => {
                let value = ParameterValue::String(text.clone());
                set.push(value.argument(name, known).unwrap_or_else(|| format!("{name}:={}", json!(text))));
            }
            Some(EditedValue::Json(value)) => set.push(format!("{name}:={value}")),
            None => unset.push(name.clone()),
        }
    }
    let lines = [("set", set), ("unset", unset)].into_iter().filter(|(_, arguments)| !arguments.is_empty());
    lines
        .map(|(verb, arguments)| command(verb, options, application, &arguments))
        .collect::<Vec<_>>()
        .join("\n")
}

fn command(verb: &str, options: &[&str], application: &str, arguments: &[String]) -> String {
    let application = if application.is_empty() { APPLICATION } else { application };
    // After `--`, no argument is parsed as an option.
    let guarded = application.starts_with('-') || arguments.iter().any(|argument| argument.starts_with('-'));
    let words = ["tiphys", "params", verb].into_iter().chain(options.iter().copied());
    let words = words.chain(guarded.then_some("--")).chain([application]);
    let words = words.chain(arguments.iter().map(String::as_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a POSIX shell. Invisible characters become escapes, which bash, ksh and zsh know.
fn quoted(word: &str) -> String {
    if word.contains(is_invisible) {
        return format!("$'{}'", word.chars().map(escaped).collect::<String>());
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Escapes a character within `$'…'`.
fn escaped(char: char) -> String {
    match char {
        '\'' | '\\' => format!("\\{char}"),
        _ if !is_invisible(char) => char.to_string(),
        _ if u32::from(char) > 0xffff => format!("\\U{:08x}", u32::from(char)),
        _ => format!("\\u{:04x}", u32::from(char)),
    }
}

#[cfg(test)]
mod tests;
