//! `.argocd-source.yaml` and `.argocd-source-<application>.yaml`: files of a repository that change the source they are found by.
//!
//! They are plain JSON merge patches (decision of `spec/cmp.md` 14, row "3.6 / override files"). Argo CD decodes the patched
//! source on top of the old one, so that `null` removes nothing and list items inherit; where that makes a difference, a warning
//! names the fields.

mod as_argo_cd;

use serde_json::Value;
use tiphys_api::ApplicationSource;
use tiphys_params::Warning;
use tiphys_yaml::{Data, DecodeError, Entry, Key, Node, Position, read_document};

use crate::merge_patch;

/// Bytes of one override file; larger ones are mistakes.
pub const OVERRIDE_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The longest file name that file systems take, in bytes.
const FILE_NAME_BYTES_MAX: usize = 255;

/// Fields that say where the source is: a file in it cannot move it.
const PROTECTED: [&str; 4] = ["chart", "path", "repoURL", "targetRevision"];

/// An override file that was found.
#[derive(Clone, Copy, Debug)]
pub struct OverrideFile<'a> {
    /// What errors call it.
    pub name: &'a str,
    /// Its bytes.
    pub text: &'a [u8],
}

/// A source after its override files.
#[derive(Clone, Debug, PartialEq)]
pub struct Overridden {
    /// The source.
    pub source: ApplicationSource,
    /// What each file did, in their order.
    pub steps: Vec<OverrideStep>,
    /// The fields that Argo CD would leave otherwise, by their paths; a warning names them too.
    pub differs_in: Vec<String>,
    /// What a person should know: ignored fields, and fields that Argo CD would leave otherwise.
    pub warnings: Vec<Warning>,
}

/// One file's part in an [`Overridden`] source.
#[derive(Clone, Debug, PartialEq)]
pub struct OverrideStep {
    /// The file's document.
    pub patch: Node,
    /// The source after this file and those before it.
    pub source: ApplicationSource,
}

/// An override file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// The file system has no such name.
    #[error(
        "an application name of {bytes} bytes leaves no file name for its override file; shorten the name"
    )]
    NameTooLong {
        /// Length of the application's name, in bytes.
        bytes: usize,
    },
    /// Not YAML.
    #[error("cannot read override file {file}")]
    Syntax {
        /// The file.
        file: String,
        /// What is wrong, and where.
        #[source]
        source: tiphys_yaml::Error,
    },
    /// Empty, `null`, a text, a number, a list.
    #[error(
        "override file {file} is {found}, not an object of source fields; write `{{}}` for no change, or remove the file"
    )]
    NotAnObject {
        /// The file.
        file: String,
        /// What it is.
        found: &'static str,
    },
    /// The file makes a source that does not hold.
    #[error("override file {file} does not make a source")]
    Field {
        /// The file.
        file: String,
        /// The field, and where it stands in the file.
        #[source]
        source: DecodeError,
    },
}

/// The names of the files to look for in the application's folder, in the order of merging. A folder of such a name and a link
/// that leads nowhere count as absent. The name is the application's instance name, taken literally: it is to be joined to the
/// folder as any path that comes from outside.
pub fn override_file_names(application: &str) -> Result<Vec<String>, OverrideError> {
    let mut names = vec![".argocd-source.yaml".to_owned()];
    if !application.is_empty() {
        let name = format!(".argocd-source-{application}.yaml");
        if name.split('/').any(|component| component.len() > FILE_NAME_BYTES_MAX) {
            return Err(OverrideError::NameTooLong { bytes: application.len() });
        }
        names.push(name);
    }
    Ok(names)
}

/// Merges files into a source, in order. `chart`, `path`, `repoURL` and `targetRevision` stay as they are.
pub fn override_source(
    source: &ApplicationSource,
    files: &[OverrideFile<'_>],
) -> Result<Overridden, OverrideError> {
    let mut merged = source.clone();
    let mut argo_cd = as_argo_cd::Memory::of(&to_value(source));
    let mut warnings = Vec::new();
    let mut steps = Vec::with_capacity(files.len());
    for file in files {
        let patch = read_patch(file)?;
        warnings.extend(protected_fields(file, &patch));
        let patched = merge_patch(Some(&to_node(&to_value(&merged))), &patch);
        let decoded = ApplicationSource::decode(&patched, "")
            .map_err(|source| OverrideError::Field { file: file.name.to_owned(), source })?;
        warnings.extend(decoded.findings.warnings);
        warnings.extend(decoded.findings.unknown.into_iter().map(|field| Warning {
            message: format!("{}: `{}` is no field of a source and is ignored", file.name, field.path),
            position: Some(field.position),
        }));
        merged = keep_place(decoded.value, source);
        argo_cd.decode(&merge_patch(Some(&to_node(&argo_cd.to_value())), &patch).to_value());
        steps.push(OverrideStep { patch, source: merged.clone() });
    }
    let argo_cd = keep_place(argo_cd.to_source(), source);
    let mut differs_in = Vec::new();
    if !files.is_empty() {
        collect_differences("", &to_value(&merged), &to_value(&argo_cd), &mut differs_in);
        warnings.extend(difference(&differs_in, files));
    }
    Ok(Overridden { source: merged, steps, differs_in, warnings })
}

fn read_patch(file: &OverrideFile<'_>) -> Result<Node, OverrideError> {
    let document = read_document(file.text)
        .map_err(|source| OverrideError::Syntax { file: file.name.to_owned(), source })?;
    let found = match &document {
        Some(node) if matches!(node.data, Data::Mapping(_)) => return Ok(node.clone()),
        Some(node) => match node.data {
            Data::Sequence(_) => "a list",
            Data::Null => "null",
            _ => "a single value",
        },
        None => "empty",
    };
    Err(OverrideError::NotAnObject { file: file.name.to_owned(), found })
}

fn protected_fields(file: &OverrideFile<'_>, patch: &Node) -> Vec<Warning> {
    let Data::Mapping(entries) = &patch.data else { return Vec::new() };
    entries
        .iter()
        .filter(|entry| PROTECTED.contains(&entry.key.text.as_str()))
        .map(|entry| Warning {
            message: format!(
                "{}: `{}` cannot be set in an override file and is ignored",
                file.name, entry.key.text
            ),
            position: Some(entry.key.position),
        })
        .collect()
}

/// A source with the fields of another one that say where it is.
fn keep_place(source: ApplicationSource, place: &ApplicationSource) -> ApplicationSource {
    ApplicationSource {
        chart: place.chart.clone(),
        path: place.path.clone(),
        repo_url: place.repo_url.clone(),
        target_revision: place.target_revision.clone(),
        ..source
    }
}

fn difference(fields: &[String], files: &[OverrideFile<'_>]) -> Option<Warning> {
    if fields.is_empty() {
        return None;
    }
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    Some(Warning {
        message: format!(
            "{}: Argo CD keeps parts of what the file removes or replaces in `{}`; here the file is a plain JSON merge patch",
            names.join(", "),
            fields.join("`, `")
        ),
        position: None,
    })
}

/// The paths of the fields that differ; lists differ as a whole.
fn collect_differences(path: &str, left: &Value, right: &Value, fields: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let mut keys: Vec<&String> =
                left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))).collect();
            keys.sort();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => collect_differences(&path, left, right, fields),
                    _ => fields.push(path),
                }
            }
        }
        _ if left == right => {}
        _ => fields.push(path.to_owned()),
    }
}

/// The source as Argo CD writes it: empty fields are left out.
fn to_value(source: &ApplicationSource) -> Value {
    serde_json::to_value(source).unwrap_or_default()
}

/// A value as a node. Its positions mean nothing: what is in a source already was checked when it was read.
fn to_node(value: &Value) -> Node {
    let position = Position { line: 1, column: 1 };
    let data = match value {
        Value::Null => Data::Null,
        Value::Bool(value) => Data::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Data::Integer(number),
            (None, Some(number)) => Data::Unsigned(number),
            (None, None) => Data::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Data::String(text.clone()),
        Value::Array(items) => Data::Sequence(items.iter().map(to_node).collect()),
        Value::Object(map) => Data::Mapping(
            map.iter()
                .map(|(key, value)| Entry { key: Key { text: key.clone(), position }, value: to_node(value) })
                .collect(),
        ),
    };
    Node { position, data }
}

#[cfg(test)]
mod tests;
