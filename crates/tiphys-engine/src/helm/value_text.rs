//! The text of a value as people see it, and as an entry of `parameters` has it so that helm has that value.
//!
//! On its way to helm a value passes two readers: Argo CD replaces variables, and helm's grammar takes backslashes, commas and braces for
//! more than signs. People see what comes out, and what they give is written so that it comes out. Variables of the build environment are
//! the exception: they stay as they are written, since people set them on purpose, and only a run knows their values.

use tiphys_helm_values::{Flag, Value, escape_text, held_value};
use tiphys_params::{BUILD_VARIABLES, Piece, pieces};

/// How an entry hands its value on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typing {
    /// As `--set` does: whole numbers, booleans and `null` are no texts, and `{A,B}` is a list. A text in braces is seen and set as `\{A}`.
    Plain,
    /// With `forceString`, as `--set-string` does: what people set is a text. A list that somebody wrote is seen as JSON.
    Forced,
}

impl Typing {
    /// That of an entry with this `forceString`.
    pub(super) fn of(force_string: bool) -> Self {
        if force_string { Self::Forced } else { Self::Plain }
    }

    fn flag(self) -> Flag {
        match self {
            Self::Plain => Flag::Set,
            Self::Forced => Flag::SetString,
        }
    }
}

/// What helm has of an entry's value, but for variables; `None` if it refuses the entry.
pub(super) fn held(written: &str, typing: Typing) -> Option<Value> {
    held_value(typing.flag(), &expanded(written))
}

/// The text that people see of an entry's value. What helm refuses is seen as it is written.
pub(super) fn shown_text(written: &str, typing: Typing) -> String {
    match held(written, typing) {
        Some(Value::Text(text)) if typing == Typing::Plain && is_like_a_list(&text) => format!("\\{text}"),
        Some(Value::Text(text)) => text,
        Some(Value::List(_)) if typing == Typing::Plain => expanded(written),
        Some(value) => value.to_json(),
        None => written.to_owned(),
    }
}

/// How an entry's value is written of which people see this text.
pub(super) fn written_text(shown: &str, typing: Typing) -> String {
    let text = with_dollar_signs(shown);
    match typing {
        Typing::Plain if is_list(shown) => text,
        Typing::Plain if is_like_a_list(shown) => escape_text(text.strip_prefix('\\').unwrap_or(&text)),
        Typing::Forced | Typing::Plain => escape_text(&text),
    }
}

/// The references in a text that Argo CD replaces when manifests are made, as they are written.
pub fn build_variables(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('$').filter_map(|(at, _)| text.get(at..).and_then(build_variable))
}

/// The reference at the beginning of a text, if it is one to a variable of the build environment.
fn build_variable(text: &str) -> Option<&str> {
    match pieces(text).next() {
        Some(Piece::Variable { name, written }) if BUILD_VARIABLES.contains(&name) => Some(written),
        _ => None,
    }
}

/// Whether a text, or what is behind its backslashes, is a list where values are plain.
fn is_like_a_list(text: &str) -> bool {
    is_list(text.trim_start_matches('\\'))
}

fn is_list(text: &str) -> bool {
    matches!(held_value(Flag::Set, text), Some(Value::List(_)))
}

/// A value behind Argo CD's part of the way, with the variables that only a run knows as they are written. Others stand for nothing.
fn expanded(written: &str) -> String {
    let kept = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Variable { name, written } if BUILD_VARIABLES.contains(&name) => written,
        Piece::Variable { .. } => "",
    };
    pieces(written).map(kept).collect()
}

/// A text in front of Argo CD's part of the way.
fn with_dollar_signs(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        let (before, behind) = rest.split_at(dollar);
        let reference = build_variable(behind).unwrap_or("$");
        written.extend([before, if reference == "$" { "$$" } else { reference }]);
        rest = behind.strip_prefix(reference).unwrap_or_default();
    }
    written.push_str(rest);
    written
}

#[cfg(test)]
mod tests;
