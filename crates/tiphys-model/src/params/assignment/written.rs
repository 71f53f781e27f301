//! Formatting of values as assignments.

use std::collections::HashSet;

use serde_json::json;

use super::{Assignment, Form, Operand, OperandOrigin, ParameterValue, Target, read_operand};

impl ParameterValue {
    /// Returns the argument of `params set` that sets a parameter to this value, without shell quoting: `NAME=VALUE` if that is unambiguous,
    /// else `NAME:=JSON`.
    ///
    /// `known` are the announced and the set names, as for [`Assignment::parse`], which parses the argument. `None` if no argument is
    /// possible because another known name includes the operator.
    pub fn argument(&self, name: &str, known: &HashSet<&str>) -> Option<String> {
        let json = match self {
            Self::String(text) => json!(text),
            Self::Array(list) => json!(list),
            Self::Map(map) => json!(map),
        };
        let text = match self {
            Self::String(text) if !text.starts_with('@') && !has_hidden(text) => {
                Some(format!("{name}={text}"))
            }
            _ => None,
        };
        let forms = text.into_iter().chain([format!("{name}:={json}")]);
        forms.into_iter().find(|argument| parses_as(argument, name, self, known))
    }
}

/// Whether a string has characters that are invisible on a command line.
fn has_hidden(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && c != '\n')
}

fn parses_as(argument: &str, name: &str, value: &ParameterValue, known: &HashSet<&str>) -> bool {
    let Ok(Assignment { target, value: Some(Operand { form, origin }) }) = Assignment::parse(argument, known)
    else {
        return false;
    };
    let OperandOrigin::Inline(text) = origin else { return false };
    debug_assert!(matches!(form, Form::Text | Form::Json));
    target == Target::whole(name) && read_operand(form, text.as_bytes()).as_ref() == Ok(value)
}

#[cfg(test)]
mod tests;
