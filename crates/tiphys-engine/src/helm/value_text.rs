//! The text of a value as people see it, and as an entry of `parameters` has it so that helm has that value.
//!
//! On its way to helm a value passes two readers: Argo CD replaces variables, and helm's grammar takes backslashes, commas and braces for
//! more than signs. People see what comes out, and what they give is written so that it comes out. Variables of the build environment that
//! somebody wrote into the file are seen as they are written, since only a run knows their values; what is given has them as plain text,
//! unless its giver says that they are to be replaced.

use tiphys_api::ApplicationSource;
use tiphys_helm_values::{Flag, Value, escape_text, held_value};
use tiphys_params::{BUILD_VARIABLES, PLUGIN_ENV_PREFIX, Piece, pieces};

/// Which variables stand for something in the values of a source. Others stand for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableNames {
    /// Those of the build environment.
    Build,
    /// Those of a `plugin` block's `env`, too.
    BuildAndOwn,
}

impl VariableNames {
    /// Those of this source.
    pub fn of(source: &ApplicationSource) -> Self {
        if source.plugin.is_some() { Self::BuildAndOwn } else { Self::Build }
    }

    fn have(self, name: &str) -> bool {
        BUILD_VARIABLES.contains(&name) || (self == Self::BuildAndOwn && name.starts_with(PLUGIN_ENV_PREFIX))
    }
}

/// What becomes of `$ARGOCD_APP_NAME` and its kin in a value that is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variables {
    /// They are text like everything else.
    #[default]
    Literal,
    /// They are written as they stand, and replaced when manifests are made.
    Replaced,
}

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
    pub(crate) fn of(force_string: bool) -> Self {
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
pub(super) fn held(written: &str, typing: Typing, names: VariableNames) -> Option<Value> {
    held_value(typing.flag(), &expanded(written, names))
}

/// The text that people see of an entry's value. What helm refuses is seen as it is written.
pub(super) fn shown_text(written: &str, typing: Typing, names: VariableNames) -> String {
    match held(written, typing, names) {
        Some(Value::Text(text)) if typing == Typing::Plain && is_like_a_list(&text) => format!("\\{text}"),
        Some(Value::Text(text)) => text,
        Some(Value::List(_)) if typing == Typing::Plain => expanded(written, names),
        Some(value) => value.to_json(),
        None => written.to_owned(),
    }
}

/// How an entry's value is written of which people see this text.
pub(super) fn written_text(
    shown: &str,
    typing: Typing,
    names: VariableNames,
    variables: Variables,
) -> String {
    let text = match variables {
        Variables::Literal => shown.replace('$', "$$"),
        Variables::Replaced => with_dollar_signs(shown, names),
    };
    match typing {
        Typing::Plain if is_list(shown) => text,
        Typing::Plain if is_like_a_list(shown) => escape_text(text.strip_prefix('\\').unwrap_or(&text)),
        Typing::Forced | Typing::Plain => escape_text(&text),
    }
}

/// The references in the value of an entry that Argo CD replaces when manifests are made, as they stand there.
pub(super) fn references(written: &str, names: VariableNames) -> impl Iterator<Item = &str> {
    pieces(written).filter_map(move |piece| match piece {
        Piece::Variable { name, written } if names.have(name) => Some(written),
        _ => None,
    })
}

/// Whether the value of an entry has references that Argo CD replaces when manifests are made.
pub(super) fn has_references(written: &str, names: VariableNames) -> bool {
    references(written, names).next().is_some()
}

/// The references in a text that people give, as they stand there.
pub fn build_variables(text: &str, names: VariableNames) -> impl Iterator<Item = &str> {
    text.match_indices('$').filter_map(move |(at, _)| build_variable(text.get(at..)?, names))
}

/// The reference at the beginning of a text, if it is one to a variable that stands for something.
fn build_variable(text: &str, names: VariableNames) -> Option<&str> {
    match pieces(text).next() {
        Some(Piece::Variable { name, written }) if names.have(name) => Some(written),
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
fn expanded(written: &str, names: VariableNames) -> String {
    let kept = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Variable { name, written } if names.have(name) => written,
        Piece::Variable { .. } => "",
    };
    pieces(written).map(kept).collect()
}

/// A text in front of Argo CD's part of the way, where variables are to be replaced.
fn with_dollar_signs(text: &str, names: VariableNames) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        let (before, behind) = rest.split_at(dollar);
        let reference = build_variable(behind, names).unwrap_or("$");
        written.extend([before, if reference == "$" { "$$" } else { reference }]);
        rest = behind.strip_prefix(reference).unwrap_or_default();
    }
    written.push_str(rest);
    written
}

#[cfg(test)]
mod tests;
