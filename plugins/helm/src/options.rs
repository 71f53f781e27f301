//! Decodes parameters into typed options. Unknown names and values of the wrong type are errors: Argo CD's `helm` block is typed, so it
//! rejects them, too.

use std::collections::BTreeSet;
use std::fmt;

use tiphys_helm_values::Flag;
use tiphys_model::access::CredentialReach;
use tiphys_model::params::{Parameter, suggest};
use tiphys_yaml::write_go_json;

use crate::exact_value::{EXACT, ExactValue, ExactValueError, check_overlaps};

/// Prefix of values for `--set`.
pub(crate) const SET: &str = "set.";
/// Prefix of values for `--set-string`.
pub(crate) const SET_STRING: &str = "set-string.";
/// Prefix of files for `--set-file`.
pub(crate) const SET_FILE: &str = "set-file.";

/// The decoded parameters. Empty strings are unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HelmOptions {
    /// Overrides the application's name.
    pub(crate) release_name: String,
    /// Overrides the destination's namespace.
    pub(crate) namespace: String,
    /// Overrides the destination cluster's version.
    pub(crate) kube_version: String,
    /// Overrides the destination cluster's API versions, if not empty.
    pub(crate) api_versions: Vec<String>,
    /// Value files as written; later ones win.
    pub(crate) value_files: Vec<String>,
    /// Handling of missing value files.
    pub(crate) missing_value_files: Missing,
    /// Inline values, which override all files.
    pub(crate) values: Option<InlineValues>,
    /// Single values, in order; names are unique per kind.
    pub(crate) assignments: Vec<Assignment>,
    /// Single values as JSON, in order. No path of theirs is that of another single value, or above or below it.
    pub(crate) exact_values: Vec<ExactValue>,
    /// The chart's directory `crds`.
    pub(crate) crds: Step,
    /// The chart's test hooks.
    pub(crate) tests: Step,
    /// Validation of the values against the chart's schema.
    pub(crate) schema_validation: Step,
    /// The servers that get a repository's credentials.
    pub(crate) credentials: CredentialReach,
    /// As written; valid ones are `v3` and `v4`.
    pub(crate) version: String,
    /// The directory of a kustomization for post-rendering, as written.
    pub(crate) kustomize_dir: String,
}

/// Handling of missing value files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Fail.
    #[default]
    Refuse,
    /// Skip them.
    LeaveOut,
}

/// Whether a part of helm's work is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Step {
    #[default]
    Run,
    Skip,
}

/// Inline values.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum InlineValues {
    /// A YAML document.
    Yaml(String),
    /// A JSON object.
    Json(String),
}

/// One value.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// The option of helm that sets it.
    pub(crate) kind: AssignmentKind,
    /// Its name, in helm's syntax.
    pub(crate) name: String,
    /// The value, or the path of a file with it, as written.
    pub(crate) value: String,
}

/// Values may be secret.
impl fmt::Debug for InlineValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, text) = match self {
            Self::Yaml(text) => ("Yaml", text),
            Self::Json(text) => ("Json", text),
        };
        f.debug_struct(kind).field("bytes", &text.len()).finish()
    }
}

/// Values may be secret.
impl fmt::Debug for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, value } = self;
        f.debug_struct("Assignment")
            .field("kind", kind)
            .field("name", name)
            .field("bytes", &value.len())
            .finish()
    }
}

/// How helm interprets a value; later kinds win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AssignmentKind {
    /// A number, boolean, null, list or string.
    Value,
    /// A string.
    Text,
    /// The content of a file.
    File,
}

impl AssignmentKind {
    /// Prefix of the parameters' names.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Value => SET,
            Self::Text => SET_STRING,
            Self::File => SET_FILE,
        }
    }

    /// Returns the option of helm.
    pub(crate) fn flag(self) -> Flag {
        match self {
            Self::Value => Flag::Set,
            Self::Text => Flag::SetString,
            Self::File => Flag::SetFile,
        }
    }
}

/// Errors in parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OptionsError {
    /// Unknown name.
    #[error("parameter {name} is unknown; {}", hint(near))]
    Unknown {
        name: String,
        /// Similar names.
        near: Vec<&'static str>,
    },
    /// A value in the wrong field.
    #[error("parameter {name}: expected the value in the field {expected}, found {found}")]
    WrongField { name: String, expected: &'static str, found: &'static str },
    /// Neither `true` nor `false`.
    #[error("parameter {name}: expected true or false, found {value:?}")]
    NotABoolean { name: String, value: String },
    /// A string with a NUL, which cannot be an argument.
    #[error("parameter {} has a NUL byte in its {part}; remove it", name.escape_default())]
    Nul {
        name: String,
        /// `name` or `value`.
        part: &'static str,
    },
    /// Not a JSON object.
    #[error("parameter values-object: expected a JSON object")]
    NotAnObject,
    /// A value as JSON.
    #[error(transparent)]
    ExactValue(#[from] ExactValueError),
}

/// The target of a parameter's value.
enum Field<'a> {
    Text(&'a mut String),
    Texts(&'a mut Vec<String>),
    Flag(&'a mut dyn FnMut(bool)),
}

/// Parameters whose value is written to a file for helm.
const INLINE: [&str; 2] = ["values", "values-object"];

/// All names without a prefix.
const NAMES: [&str; 14] = [
    "api-versions",
    "ignore-missing-value-files",
    "kube-version",
    "kustomize-dir",
    "namespace",
    "pass-credentials",
    "release-name",
    "skip-crds",
    "skip-schema-validation",
    "skip-tests",
    "value-files",
    "values",
    "values-object",
    "version",
];

impl HelmOptions {
    /// Decodes a list of parameters. Those without a value are ignored; the last one of a name wins.
    pub(crate) fn decode(parameters: &[Parameter]) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        let (mut yaml, mut json) = (String::new(), String::new());
        let mut given: Vec<Assignment> = Vec::new();
        for parameter in parameters {
            let name = parameter.name.as_str();
            refuse_nul(parameter)?;
            if let Some(name) = name.strip_prefix(EXACT) {
                if let Some(json) = text(parameter)? {
                    options.exact_values.push(ExactValue::parse(name, json)?);
                }
                continue;
            }
            if let Some((kind, name)) = assignment_name(name) {
                if let Some(value) = text(parameter)? {
                    let (name, value) = (name.to_owned(), value.to_owned());
                    given.push(Assignment { kind, name, value });
                }
                continue;
            }
            let part = |target: &mut Step, set: bool| *target = if set { Step::Skip } else { Step::Run };
            let field = match name {
                "release-name" => Field::Text(&mut options.release_name),
                "namespace" => Field::Text(&mut options.namespace),
                "kube-version" => Field::Text(&mut options.kube_version),
                "version" => Field::Text(&mut options.version),
                "kustomize-dir" => Field::Text(&mut options.kustomize_dir),
                "values" => Field::Text(&mut yaml),
                "values-object" => Field::Text(&mut json),
                "value-files" => Field::Texts(&mut options.value_files),
                "api-versions" => Field::Texts(&mut options.api_versions),
                "ignore-missing-value-files" => Field::Flag(&mut |set| {
                    options.missing_value_files = if set { Missing::LeaveOut } else { Missing::Refuse };
                }),
                "pass-credentials" => Field::Flag(&mut |set| {
                    options.credentials =
                        if set { CredentialReach::EveryServer } else { CredentialReach::OwnServer };
                }),
                "skip-crds" => Field::Flag(&mut |set| part(&mut options.crds, set)),
                "skip-tests" => Field::Flag(&mut |set| part(&mut options.tests, set)),
                "skip-schema-validation" => Field::Flag(&mut |set| part(&mut options.schema_validation, set)),
                _ => {
                    let near = suggest(name, NAMES);
                    let near = NAMES.into_iter().filter(|name| near.contains(name)).collect();
                    return Err(OptionsError::Unknown { name: name.to_owned(), near });
                }
            };
            set(field, parameter)?;
        }
        options.values = inline_values(yaml, &json)?;
        options.assignments = last_of_each(given);
        check_overlaps(&options.exact_values, &options.assignments)?;
        Ok(options)
    }
}

/// Splits the name of an assignment; `None` for other names.
pub(crate) fn assignment_name(name: &str) -> Option<(AssignmentKind, &str)> {
    [AssignmentKind::Value, AssignmentKind::Text, AssignmentKind::File]
        .into_iter()
        .find_map(|kind| Some((kind, name.strip_prefix(kind.prefix())?)))
}

/// Rejects NUL bytes, which would truncate an argument or prevent the start of helm. Inline values are in a file, so helm reports their
/// errors.
fn refuse_nul(parameter: &Parameter) -> Result<(), OptionsError> {
    let name = parameter.name.as_str();
    let is_argument = !INLINE.contains(&name);
    let mut values = parameter.string.iter().chain(parameter.array.iter().flatten());
    let part = if name.contains('\0') {
        "name"
    } else if is_argument && values.any(|value| value.contains('\0')) {
        "value"
    } else {
        return Ok(());
    };
    Err(OptionsError::Nul { name: name.to_owned(), part })
}

fn set(field: Field<'_>, parameter: &Parameter) -> Result<(), OptionsError> {
    match field {
        Field::Text(target) => {
            if let Some(text) = text(parameter)? {
                text.clone_into(target);
            }
        }
        Field::Texts(target) => {
            if let Some(found) = found_beside(parameter, "array") {
                return Err(wrong_field(parameter, "array", found));
            }
            if let Some(items) = &parameter.array {
                target.clone_from(items);
            }
        }
        Field::Flag(assign) => match text(parameter)? {
            None => {}
            // An emptied field of a form counts as missing.
            Some("" | "false") => assign(false),
            Some("true") => assign(true),
            Some(value) => {
                let (name, value) = (parameter.name.clone(), value.to_owned());
                return Err(OptionsError::NotABoolean { name, value });
            }
        },
    }
    Ok(())
}

/// Returns a parameter's string; a list or a map is an error.
fn text(parameter: &Parameter) -> Result<Option<&str>, OptionsError> {
    match found_beside(parameter, "string") {
        Some(found) => Err(wrong_field(parameter, "string", found)),
        None => Ok(parameter.string.as_deref()),
    }
}

/// Returns the first field with a value other than the expected one.
fn found_beside(parameter: &Parameter, expected: &str) -> Option<&'static str> {
    let fields = [
        ("string", parameter.string.is_some()),
        ("array", parameter.array.is_some()),
        ("map", parameter.map.is_some()),
    ];
    fields.into_iter().find(|(field, is_set)| *is_set && *field != expected).map(|(field, _)| field)
}

fn wrong_field(parameter: &Parameter, expected: &'static str, found: &'static str) -> OptionsError {
    OptionsError::WrongField { name: parameter.name.clone(), expected, found }
}

/// `values-object` overrides `values`, as in Argo CD. `{}` is a value; an empty string and `null` are not.
fn inline_values(yaml: String, json: &str) -> Result<Option<InlineValues>, OptionsError> {
    if !json.trim().is_empty() {
        match serde_json::from_str::<Option<serde_json::Map<String, serde_json::Value>>>(json) {
            // Helm reads it as YAML, which does not support every escape of JSON.
            Ok(Some(values)) => return Ok(Some(InlineValues::Json(write_go_json(&values.into())))),
            Ok(None) => {}
            Err(_) => return Err(OptionsError::NotAnObject),
        }
    }
    Ok((!yaml.is_empty()).then_some(InlineValues::Yaml(yaml)))
}

/// Keeps the last assignment of each kind and name, in its place: later ones win.
fn last_of_each(given: Vec<Assignment>) -> Vec<Assignment> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<Assignment> =
        given.into_iter().rev().filter(|one| seen.insert((one.kind, one.name.clone()))).collect();
    kept.reverse();
    kept
}

fn hint(near: &[&str]) -> String {
    match near {
        [] => format!(
            "the parameters are {}, and {SET}NAME, {SET_STRING}NAME, {SET_FILE}NAME and {EXACT}NAME for values",
            NAMES.join(", ")
        ),
        [one] => format!("did you mean {one}?"),
        more => format!("did you mean one of {}?", more.join(", ")),
    }
}

#[cfg(test)]
mod tests;
