//! Parameters whose values were read from a cluster.

mod masks;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;
use tiphys_yaml::write_go_json;

pub use masks::SecretMasks;

use crate::params::environment::{app_parameters, parameter_variables};
use crate::params::{EnvVar, Parameter};

/// The variable with all parameters.
pub const APP_PARAMETERS: &str = "ARGOCD_APP_PARAMETERS";

/// A parameter whose value was read from a cluster. `Debug` writes only its name, and it has no serialized form.
#[derive(Clone, PartialEq, Eq)]
pub struct ResolvedParameter {
    parameter: Parameter,
    is_from_secret: bool,
}

impl ResolvedParameter {
    /// Creates a parameter. `is_from_secret` tells whether its value was read from a Secret.
    pub fn new(parameter: Parameter, is_from_secret: bool) -> Self {
        Self { parameter, is_from_secret }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.parameter.name
    }

    /// Returns whether the value was read from a Secret.
    pub fn is_from_secret(&self) -> bool {
        self.is_from_secret
    }

    /// Returns the parameter with its value, for the plugin only.
    pub fn expose(&self) -> &Parameter {
        &self.parameter
    }
}

impl fmt::Debug for ResolvedParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResolvedParameter({:?})", self.parameter.name)
    }
}

/// Returns the value of `ARGOCD_APP_PARAMETERS` with these parameters after those of the variable's value, which is a list or `null`.
pub fn with_resolved(list: &str, resolved: &[ResolvedParameter]) -> String {
    let exposed: Vec<Parameter> = resolved.iter().map(|one| one.parameter.clone()).collect();
    let added = app_parameters(Some(&exposed));
    match list.strip_suffix(']').filter(|items| items.len() > 1) {
        _ if exposed.is_empty() => list.to_owned(),
        Some(items) => format!("{items},{}", &added[1..]),
        None => added,
    }
}

/// Adds these parameters to the variables of a request, as the protocol defines: to `ARGOCD_APP_PARAMETERS`, and as `PARAM_*`.
pub fn add_resolved(variables: &mut Vec<EnvVar>, resolved: &[ResolvedParameter]) {
    if resolved.is_empty() {
        return;
    }
    let list = variables.iter().rfind(|one| one.name == APP_PARAMETERS).map_or("null", |one| &one.value);
    let list = with_resolved(list, resolved);
    variables.retain(|one| one.name != APP_PARAMETERS);
    variables.push(EnvVar::new(APP_PARAMETERS, list));
    variables
        .extend(resolved.iter().flat_map(|one| parameter_variables(std::slice::from_ref(&one.parameter))));
}

/// Minimum length of a value that is replaced in messages, in characters. Shorter ones would also match ordinary words.
pub const REDACTED_CHARS_MIN: usize = 4;

/// Minimum length of a word of a value that is replaced without the rest of the value, in characters.
const REDACTED_WORD_CHARS_MIN: usize = 16;

/// Replaces the values of parameters in what a plugin prints, and in messages about rendered objects.
#[derive(Clone, Default)]
pub struct ValueRedactor {
    values: Vec<String>,
    /// Those that were read from Secrets.
    secrets: Vec<String>,
    /// The values and their escaped forms, the longest first. Most runs have no message.
    forms: OnceLock<Vec<String>>,
    withholds: bool,
    cut_mark: Option<&'static str>,
}

impl ValueRedactor {
    /// Returns a redactor for these parameters.
    pub fn new<'a>(resolved: impl IntoIterator<Item = &'a ResolvedParameter>) -> Self {
        let mut redactor = Self::default();
        for ResolvedParameter { parameter: Parameter { string, array, map, .. }, is_from_secret } in resolved
        {
            redactor.withholds |= is_from_secret;
            let entries = map.iter().flatten().flat_map(|(key, value)| [key, value]);
            let leaves = string.iter().chain(array.iter().flatten()).chain(entries);
            redactor.values.extend(leaves.clone().cloned());
            redactor.secrets.extend(leaves.filter(|_| *is_from_secret).cloned());
        }
        redactor
    }

    /// The same for messages whose middle may be left out, with this mark instead. Such a message may contain a part of a value.
    #[must_use]
    pub fn with_cut_mark(self, mark: &'static str) -> Self {
        Self { cut_mark: Some(mark), ..self }
    }

    /// Returns a message of a plugin, or about what it printed, without the values. If one was read from a Secret, or a part is left out, the
    /// message is withheld: a plugin may have changed the value, or printed a part of it.
    pub fn redact<'a>(&self, message: &'a str) -> Cow<'a, str> {
        if message.is_empty() {
            return Cow::Borrowed(message);
        }
        if self.withholds {
            return Cow::Borrowed("(withheld, because a parameter was read from a Secret)");
        }
        if self.cut_mark.is_some_and(|mark| message.contains(mark)) && !self.forms().is_empty() {
            return Cow::Borrowed(
                "(withheld, because it exceeds its limit and may contain parts of parameters that were read from a cluster)",
            );
        }
        self.forms().iter().fold(Cow::Borrowed(message), |message, form| {
            if message.contains(form) { Cow::Owned(message.replace(form, "******")) } else { message }
        })
    }

    fn forms(&self) -> &[String] {
        self.forms.get_or_init(|| {
            let all: BTreeSet<String> = self.values.iter().flat_map(|value| forms_of(value)).collect();
            let mut forms: Vec<String> = all.into_iter().collect();
            forms.sort_by_key(|one| std::cmp::Reverse(one.len()));
            forms
        })
    }
}

/// Returns the forms of a value that are long enough to be replaced.
fn forms_of(value: &str) -> BTreeSet<String> {
    let mut strings = BTreeSet::new();
    // The Helm plugin gets JSON.
    if let Ok(value) = serde_json::from_str(value) {
        add_leaves(&value, &mut strings);
    }
    add_forms(value, &mut strings);
    strings.retain(|one| one.chars().count() >= REDACTED_CHARS_MIN);
    strings
}

impl fmt::Debug for ValueRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueRedactor").finish_non_exhaustive()
    }
}

fn add_leaves(value: &Value, strings: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| add_leaves(item, strings)),
        Value::Object(entries) => entries.iter().for_each(|(key, entry)| {
            add_forms(key, strings);
            add_leaves(entry, strings);
        }),
        Value::String(text) => add_forms(text, strings),
        Value::Number(number) => strings.extend([number.to_string()]),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Adds a string, its lines and long words, and how JSON, Go, URLs, shells and base64 write them.
fn add_forms(text: &str, strings: &mut BTreeSet<String>) {
    for part in text.lines().map(str::trim).chain([text]) {
        let go_json = write_go_json(&Value::String(part.to_owned()));
        let json = Value::String(part.to_owned()).to_string();
        let quoted = format!("{part:?}");
        let query = percent_encoded(part, "-_.~");
        let component = percent_encoded(part, "-_.~!*'()");
        strings.extend([
            part.to_owned(),
            go_json[1..go_json.len() - 1].to_owned(),
            json[1..json.len() - 1].to_owned(),
            in_ascii(&json[1..json.len() - 1]),
            quoted[1..quoted.len() - 1].to_owned(),
            query.replace("%20", "+"),
            component.replace("%20", "+"),
            query,
            component,
            percent_encoded(part, "-_.~/"),
            part.replace('\'', "''"),
            part.replace('\'', r"'\''"),
            part.replace('\'', r#"'"'"'"#),
            backslashed(part),
        ]);
    }
    let words = text.split(|char: char| !char.is_alphanumeric());
    strings.extend(words.filter(|word| word.chars().count() >= REDACTED_WORD_CHARS_MIN).map(str::to_owned));
    strings.extend([STANDARD_NO_PAD.encode(text), URL_SAFE_NO_PAD.encode(text)]);
}

/// Escapes a string for a URL except for ASCII letters, digits and these characters.
fn percent_encoded(text: &str, kept: &str) -> String {
    let encode = |byte: u8| match char::from(byte) {
        char if char.is_ascii_alphanumeric() || kept.contains(char) => char.to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// Escapes characters beyond ASCII as many JSON writers do.
fn in_ascii(json: &str) -> String {
    let escape = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    json.encode_utf16().map(escape).collect()
}

/// Escapes a string as `printf %q` of bash does.
fn backslashed(text: &str) -> String {
    let escape = |char: char| match char {
        char if char.is_alphanumeric() || "_@%+=:,./-".contains(char) => char.to_string(),
        char => format!("\\{char}"),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests;
