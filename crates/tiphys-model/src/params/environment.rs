//! The environment variables that pass parameters to a plugin's commands.

mod collision;

pub use collision::{
    AnnouncedCollision, Collision, Origin, ValuePart, Winner, announced_collisions, collisions, deduplicated,
};

use std::fmt;

use tiphys_yaml::write_go_string;

use crate::params::Parameter;

/// An environment variable. `Debug` does not write its value, which may be secret.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EnvVar {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

impl EnvVar {
    /// Creates a variable.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

impl fmt::Debug for EnvVar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EnvVar({:?}, {} bytes)", self.name, self.value.len())
    }
}

/// Returns the value of `ARGOCD_APP_PARAMETERS`, byte for byte as Go's `json.Marshal` encodes the list. `None` (a plugin block without
/// `parameters`) is `null`; the caller decides whether the variable is set.
pub fn app_parameters(parameters: Option<&[Parameter]>) -> String {
    let Some(parameters) = parameters else { return "null".to_owned() };
    let mut out = String::from("[");
    for (index, parameter) in parameters.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_parameter(&mut out, parameter);
    }
    out.push(']');
    out
}

/// Returns the `PARAM_*` variables in Argo CD's order: for each parameter the string, then the map in byte order of its keys, then the
/// list. A name may occur twice; the last value wins.
pub fn parameter_variables(parameters: &[Parameter]) -> Vec<EnvVar> {
    let mut variables = Vec::new();
    for parameter in parameters {
        for_each_value(parameter, |name, _, value| variables.push(EnvVar::new(name, value)));
    }
    variables
}

/// The proposal's `escaped`: converts to upper case and replaces every character except `A-Z`, `0-9` and `_` with `_`.
///
/// The conversion is Go's, which maps one code point to one. Outside ASCII, only `ı` and `ſ` have an ASCII letter as upper case; all other
/// characters become `_`, regardless of their own upper case.
pub fn escape(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => c.to_ascii_uppercase(),
            'ı' => 'I',
            'ſ' => 'S',
            _ => '_',
        })
        .collect()
}

/// Calls `visit` with variable name, part and value, in the order of the variables.
fn for_each_value<'a>(parameter: &'a Parameter, mut visit: impl FnMut(String, PartRef<'a>, &'a str)) {
    let prefix = format!("PARAM_{}", escape(&parameter.name));
    if let Some(text) = &parameter.string {
        visit(prefix.clone(), PartRef::Text, text);
    }
    for (key, value) in parameter.map.iter().flatten() {
        visit(format!("{prefix}_{}", escape(key)), PartRef::Key(key), value);
    }
    for (index, item) in parameter.array.iter().flatten().enumerate() {
        visit(format!("{prefix}_{index}"), PartRef::Index(index), item);
    }
}

/// The part of a parameter's value that a variable has; the borrowed form of [`ValuePart`].
#[derive(Clone, Copy)]
enum PartRef<'a> {
    Text,
    Key(&'a str),
    Index(usize),
}

fn write_parameter(out: &mut String, parameter: &Parameter) {
    out.push('{');
    if let Some(items) = &parameter.array {
        out.push_str("\"array\":[");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_go_string(out, item);
        }
        out.push_str("],");
    }
    if let Some(map) = &parameter.map {
        out.push_str("\"map\":{");
        for (index, (key, value)) in map.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_go_string(out, key);
            out.push(':');
            write_go_string(out, value);
        }
        out.push_str("},");
    }
    out.push_str("\"name\":");
    write_go_string(out, &parameter.name);
    if let Some(text) = &parameter.string {
        out.push_str(",\"string\":");
        write_go_string(out, text);
    }
    out.push('}');
}

#[cfg(test)]
mod tests;
