//! Converts between the value of an entry of `parameters` and the string that users see and set.
//!
//! On its way to helm, a value is parsed twice: Argo CD replaces variables, and helm's grammar interprets backslashes, commas and braces.
//! Users see the result, and their input is escaped so that it is the result. Variables of the build environment in a value are shown
//! unchanged, since only a run knows their values. Variables in user input are escaped, unless the user requests that they are replaced.

use tiphys_helm_values::{Flag, Value, escape_text, held_value};
use tiphys_model::params::{BUILD_VARIABLES, PLUGIN_ENV_PREFIX, Piece, pieces};
use tiphys_model::resources::ApplicationSource;

/// The variables that are known in the values of a source. Argo CD replaces unknown ones with nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableNames {
    /// Those of the build environment.
    Build,
    /// Also those of a `plugin` block's `env`.
    BuildAndOwn,
}

impl VariableNames {
    /// Returns the variables that are known in this source.
    pub fn of(source: &ApplicationSource) -> Self {
        if source.plugin.is_some() { Self::BuildAndOwn } else { Self::Build }
    }

    fn contain(self, name: &str) -> bool {
        BUILD_VARIABLES.contains(&name) || (self == Self::BuildAndOwn && name.starts_with(PLUGIN_ENV_PREFIX))
    }
}

/// How variables such as `$ARGOCD_APP_NAME` in a set value are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variables {
    /// As literal text.
    #[default]
    Literal,
    /// As variables, replaced at render time.
    Replaced,
}

/// How an entry passes its value to helm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typing {
    /// As `--set`: integers, booleans and `null` are not strings, and `{A,B}` is a list. A string in braces is shown and set as `\{A}`.
    Plain,
    /// As `--set-string`, with `forceString`: set values are strings. An existing list is shown as JSON.
    Forced,
}

impl Typing {
    /// Returns the typing of an entry with this `forceString`.
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

/// Returns helm's value for an entry, with known variables unreplaced; `None` if helm rejects the entry.
pub(super) fn held(written: &str, typing: Typing, names: VariableNames) -> Option<Value> {
    held_value(typing.flag(), &expanded(written, names))
}

/// Returns the string that users see for an entry's value. A value that helm rejects is shown as written.
pub(super) fn shown_text(written: &str, typing: Typing, names: VariableNames) -> String {
    match held(written, typing, names) {
        Some(Value::Text(text)) if typing == Typing::Plain && looks_like_list(&text) => format!("\\{text}"),
        Some(Value::Text(text)) => text,
        Some(Value::List(_)) if typing == Typing::Plain => expanded(written, names),
        Some(value) => value.to_json(),
        None => written.to_owned(),
    }
}

/// Returns the value to write to an entry so that users see this string.
pub(super) fn written_text(
    shown: &str,
    typing: Typing,
    names: VariableNames,
    variables: Variables,
) -> String {
    let text = match variables {
        Variables::Literal => shown.replace('$', "$$"),
        Variables::Replaced => escape_dollar_signs(shown, names),
    };
    match typing {
        Typing::Plain if is_list(shown) => text,
        Typing::Plain if looks_like_list(shown) => escape_text(text.strip_prefix('\\').unwrap_or(&text)),
        Typing::Forced | Typing::Plain => escape_text(&text),
    }
}

/// Returns the references in an entry's value that Argo CD replaces at render time, as written.
pub(super) fn references(written: &str, names: VariableNames) -> impl Iterator<Item = &str> {
    pieces(written).filter_map(move |piece| match piece {
        Piece::Variable { name, written } if names.contain(name) => Some(written),
        _ => None,
    })
}

/// Returns whether an entry's value has references that Argo CD replaces at render time.
pub(super) fn has_references(written: &str, names: VariableNames) -> bool {
    references(written, names).next().is_some()
}

/// Returns the references in a user's input, as written.
pub fn build_variables(text: &str, names: VariableNames) -> impl Iterator<Item = &str> {
    text.match_indices('$').filter_map(move |(at, _)| build_variable(text.get(at..)?, names))
}

/// Returns the reference to a known variable at the beginning of a string.
fn build_variable(text: &str, names: VariableNames) -> Option<&str> {
    match pieces(text).next() {
        Some(Piece::Variable { name, written }) if names.contain(name) => Some(written),
        _ => None,
    }
}

/// Returns whether a string, or its part after leading backslashes, is a list for `--set`.
fn looks_like_list(text: &str) -> bool {
    is_list(text.trim_start_matches('\\'))
}

fn is_list(text: &str) -> bool {
    matches!(held_value(Flag::Set, text), Some(Value::List(_)))
}

/// Returns a value after Argo CD's replacement, except for known variables, which only a run can replace. Unknown ones are removed.
fn expanded(written: &str, names: VariableNames) -> String {
    let kept = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Variable { name, written } if names.contain(name) => written,
        Piece::Variable { .. } => "",
    };
    pieces(written).map(kept).collect()
}

/// Returns a value before Argo CD's replacement: all dollar signs are escaped, except those of known variables.
fn escape_dollar_signs(text: &str, names: VariableNames) -> String {
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
