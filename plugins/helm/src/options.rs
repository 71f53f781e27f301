//! The parameters as typed options. A name that is not known and a value of the wrong kind are refused: Argo CD's fields of a `helm` block
//! are typed, so that a mistake there is refused, too.

use std::collections::BTreeSet;
use std::fmt;

use tiphys_access::CredentialReach;
use tiphys_params::{Parameter, suggest};
use tiphys_yaml::write_go_json;

/// Prefix of the names of values as `--set` takes them.
pub(crate) const SET: &str = "set.";
/// Prefix of the names of values that stay texts, as `--set-string` takes them.
pub(crate) const SET_STRING: &str = "set-string.";
/// Prefix of the names of values that are the content of a file, as `--set-file` takes them.
pub(crate) const SET_FILE: &str = "set-file.";

/// What the parameters ask for. Texts that are empty are not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HelmOptions {
    /// Instead of the application's name.
    pub(crate) release_name: String,
    /// Instead of the destination's namespace.
    pub(crate) namespace: String,
    /// Instead of the destination cluster's version.
    pub(crate) kube_version: String,
    /// Instead of what the destination cluster has, if there is one.
    pub(crate) api_versions: Vec<String>,
    /// Files with values, later ones winning, as they are written.
    pub(crate) value_files: Vec<String>,
    /// What becomes of value files that are not there.
    pub(crate) missing_value_files: Missing,
    /// Values that win over all files.
    pub(crate) values: Option<InlineValues>,
    /// Single values, in order; no name twice in one kind.
    pub(crate) assignments: Vec<Assignment>,
    /// The chart's folder `crds`.
    pub(crate) crds: Part,
    /// The chart's test hooks.
    pub(crate) tests: Part,
    /// The check of the values against the chart's schema.
    pub(crate) schema_validation: Part,
    /// Who gets a repository's credentials.
    pub(crate) credentials: CredentialReach,
    /// `v3`, `v4`, or whatever else was written.
    pub(crate) version: String,
    /// The folder of a kustomization that the output goes through, as it is written.
    pub(crate) kustomize_dir: String,
}

/// What becomes of value files that are not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Missing {
    /// They fail.
    #[default]
    Refuse,
    /// They are left out.
    LeaveOut,
}

/// Whether a part of helm's work is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Part {
    /// It is.
    #[default]
    Keep,
    /// It is not.
    Skip,
}

/// Values in the parameters themselves.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum InlineValues {
    /// A YAML text.
    Yaml(String),
    /// A JSON object.
    Json(String),
}

/// One value.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// How helm is to take it.
    pub(crate) kind: AssignmentKind,
    /// Its name, in helm's syntax.
    pub(crate) name: String,
    /// The value, or the path of a file with it, as it is written.
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

/// How helm takes a value; later kinds win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AssignmentKind {
    /// As a number, a boolean, null, a list or a text.
    Value,
    /// As a text.
    Text,
    /// As the content of a file.
    File,
}

/// Why parameters cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OptionsError {
    /// A name that is not known.
    #[error("parameter {name} is unknown; {}", hint(near))]
    Unknown {
        /// The name.
        name: String,
        /// Known names that are near.
        near: Vec<&'static str>,
    },
    /// A value of another kind.
    #[error("parameter {name}: the value is due in the field {due}, not {found}")]
    WrongField {
        /// The parameter.
        name: String,
        /// Where it belongs.
        due: &'static str,
        /// Where it was.
        found: &'static str,
    },
    /// Neither `true` nor `false`.
    #[error("parameter {name}: true or false is expected, not {value:?}")]
    NotABoolean {
        /// The parameter.
        name: String,
        /// What was given.
        value: String,
    },
    /// A text that does not pass to a program.
    #[error("parameter {} has a NUL byte in its {part}, which no program can be given: remove it", name.escape_default())]
    Nul {
        /// The parameter.
        name: String,
        /// Where it is: its name, or its value.
        part: &'static str,
    },
    /// No JSON object.
    #[error("parameter values-object: a JSON object is expected")]
    NotAnObject,
}

/// Where a parameter's value goes.
enum Field<'a> {
    Text(&'a mut String),
    Texts(&'a mut Vec<String>),
    Flag(&'a mut dyn FnMut(bool)),
}

/// Parameters whose text is written to a file for helm.
const INLINE: [&str; 2] = ["values", "values-object"];

/// The names that are not those of values.
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
    /// Reads a list of parameters. A parameter without any value is not there; of two with one name the later one counts.
    pub(crate) fn decode(parameters: &[Parameter]) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        let (mut yaml, mut json) = (String::new(), String::new());
        let mut given: Vec<Assignment> = Vec::new();
        for parameter in parameters {
            let name = parameter.name.as_str();
            refuse_nul(parameter)?;
            if let Some((kind, name)) = assignment_name(name) {
                if let Some(value) = text(parameter)? {
                    let (name, value) = (name.to_owned(), value.to_owned());
                    given.push(Assignment { kind, name, value });
                }
                continue;
            }
            let part = |target: &mut Part, set: bool| *target = if set { Part::Skip } else { Part::Keep };
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
        Ok(options)
    }
}

/// The kind and the name of a value, if this is the name of one.
pub(crate) fn assignment_name(name: &str) -> Option<(AssignmentKind, &str)> {
    [(SET, AssignmentKind::Value), (SET_STRING, AssignmentKind::Text), (SET_FILE, AssignmentKind::File)]
        .into_iter()
        .find_map(|(prefix, kind)| Some((kind, name.strip_prefix(prefix)?)))
}

/// Refuses what would be cut off, or not start a program at all. Inline values travel in a file, so helm says itself what it thinks of them.
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
            // As absent: an emptied field of a form.
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

/// A parameter's text; a list or a map in its place is refused.
fn text(parameter: &Parameter) -> Result<Option<&str>, OptionsError> {
    match found_beside(parameter, "string") {
        Some(found) => Err(wrong_field(parameter, "string", found)),
        None => Ok(parameter.string.as_deref()),
    }
}

/// A field that has a value though it is not the one where a value is due.
fn found_beside(parameter: &Parameter, due: &str) -> Option<&'static str> {
    let fields = [
        ("string", parameter.string.is_some()),
        ("array", parameter.array.is_some()),
        ("map", parameter.map.is_some()),
    ];
    fields.into_iter().find(|(field, is_set)| *is_set && *field != due).map(|(field, _)| field)
}

fn wrong_field(parameter: &Parameter, due: &'static str, found: &'static str) -> OptionsError {
    OptionsError::WrongField { name: parameter.name.clone(), due, found }
}

/// Structured values take the place of the text, as in Argo CD; `{}` is a value, and nothing and `null` are none.
fn inline_values(yaml: String, json: &str) -> Result<Option<InlineValues>, OptionsError> {
    if !json.trim().is_empty() {
        match serde_json::from_str::<Option<serde_json::Map<String, serde_json::Value>>>(json) {
            // Helm reads it as YAML, which does not know every escape of JSON.
            Ok(Some(values)) => return Ok(Some(InlineValues::Json(write_go_json(&values.into())))),
            Ok(None) => {}
            Err(_) => return Err(OptionsError::NotAnObject),
        }
    }
    Ok((!yaml.is_empty()).then_some(InlineValues::Yaml(yaml)))
}

/// Of each kind and name the last, at its place: what comes later wins, and the order is what was written.
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
            "the parameters are {}, and {SET}NAME, {SET_STRING}NAME and {SET_FILE}NAME for values",
            NAMES.join(", ")
        ),
        [one] => format!("did you mean {one}?"),
        more => format!("did you mean one of {}?", more.join(", ")),
    }
}

#[cfg(test)]
mod tests;
