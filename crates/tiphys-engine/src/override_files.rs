//! `.argocd-source.yaml` and `.argocd-source-<application>.yaml`: files in a repository that override fields of their source.
//!
//! They are plain JSON merge patches (see `docs/differences.md`). Argo CD decodes the patched source on top of the old one: `null` removes
//! nothing, and list items inherit fields. Where the results differ, a warning names the fields.

mod as_argo_cd;

use serde_json::Value;
use tiphys_model::params::Warning;
use tiphys_model::resources::ApplicationSource;
use tiphys_yaml::{Data, DecodeError, Node, read_document};

use crate::merge_patch;

/// The maximum size of an override file in bytes.
pub const OVERRIDE_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The maximum length of a file name in bytes, on common file systems.
const FILE_NAME_BYTES_MAX: usize = 255;

/// Fields that locate the source. A file inside the source cannot change its location.
const PROTECTED: [&str; 4] = ["chart", "path", "repoURL", "targetRevision"];

/// The beginning of the names of override files, before `-<application>`.
const NAME_PREFIX: &str = ".argocd-source";

/// The end of the names of override files.
const NAME_SUFFIX: &str = ".yaml";

/// An override file that was found.
#[derive(Clone, Copy, Debug)]
pub struct OverrideFile<'a> {
    /// The name to use in messages.
    pub name: &'a str,
    /// The content in bytes.
    pub text: &'a [u8],
}

/// A source with its override files applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Overridden {
    /// The source.
    pub source: ApplicationSource,
    /// The result of each file, in order of merging.
    pub steps: Vec<OverrideStep>,
    /// Paths of the fields that have another value in Argo CD. A warning names them too.
    pub differs_in: Vec<String>,
    /// Warnings for the user: ignored fields, and fields that have another value in Argo CD.
    pub warnings: Vec<Warning>,
}

/// The result of one override file in an [`Overridden`] source.
#[derive(Clone, Debug, PartialEq)]
pub struct OverrideStep {
    /// The document of the file.
    pub patch: Node,
    /// The source after this file and all files before it.
    pub source: ApplicationSource,
}

/// An override file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// The file name would exceed the limit of file systems.
    #[error(
        "an application name of {bytes} bytes makes the name of its override file too long; shorten the name"
    )]
    NameTooLong {
        /// Length of the application's name, in bytes.
        bytes: usize,
    },
    /// Invalid YAML.
    #[error("cannot read override file {file}")]
    Syntax {
        /// The file.
        file: String,
        /// The syntax error with its position.
        #[source]
        source: tiphys_yaml::Error,
    },
    /// The document is not an object.
    #[error(
        "override file {file} is {found}, not an object of source fields; write `{{}}` for no change, or remove the file"
    )]
    NotAnObject {
        /// The file.
        file: String,
        /// The type that was found.
        found: &'static str,
    },
    /// The patched source is invalid.
    #[error("override file {file} does not result in a valid source")]
    Field {
        /// The file.
        file: String,
        /// The field and its position in the file.
        #[source]
        source: DecodeError,
    },
}

/// Returns the names of the override files in the application's directory, in order of merging. The caller treats directories and dangling
/// symbolic links of these names as absent. `application` is the instance name, taken literally, so the caller must join the names to the
/// directory like any untrusted path.
pub fn override_file_names(application: &str) -> Result<Vec<String>, OverrideError> {
    let mut names = vec![format!("{NAME_PREFIX}{NAME_SUFFIX}")];
    if !application.is_empty() {
        let name = format!("{NAME_PREFIX}-{application}{NAME_SUFFIX}");
        if name.split('/').any(|component| component.len() > FILE_NAME_BYTES_MAX) {
            return Err(OverrideError::NameTooLong { bytes: application.len() });
        }
        names.push(name);
    }
    Ok(names)
}

/// Whether a file of this name is the override file of a source, or of an application.
pub fn is_override_file_name(name: &str) -> bool {
    let middle = name.strip_prefix(NAME_PREFIX).and_then(|rest| rest.strip_suffix(NAME_SUFFIX));
    middle.is_some_and(|middle| middle.is_empty() || middle.starts_with('-'))
}

/// Merges override files into a source, in order. `chart`, `path`, `repoURL` and `targetRevision` do not change.
pub fn override_source(
    source: &ApplicationSource,
    files: &[OverrideFile<'_>],
) -> Result<Overridden, OverrideError> {
    let mut merged = source.clone();
    if files.is_empty() {
        return Ok(Overridden {
            source: merged,
            steps: Vec::new(),
            differs_in: Vec::new(),
            warnings: Vec::new(),
        });
    }
    let mut argo_cd = as_argo_cd::Memory::of(&to_value(source));
    let mut warnings = Vec::new();
    let mut steps = Vec::with_capacity(files.len());
    for file in files {
        let patch = read_patch(file)?;
        warnings.extend(protected_fields(file, &patch));
        let patched = merge_patch(Some(&Node::from(&to_value(&merged))), &patch);
        let decoded = ApplicationSource::decode(&patched, "")
            .map_err(|source| OverrideError::Field { file: file.name.to_owned(), source })?;
        warnings.extend(decoded.findings.warnings);
        warnings.extend(decoded.findings.unknown.into_iter().map(|field| Warning {
            message: format!("{}: `{}` is not a field of a source and is ignored", file.name, field.path),
            position: Some(field.position),
        }));
        merged = keep_location(decoded.value, source);
        argo_cd.decode(&merge_patch(Some(&Node::from(&argo_cd.to_value())), &patch).to_value());
        steps.push(OverrideStep { patch, source: merged.clone() });
    }
    let argo_cd = keep_location(argo_cd.to_source(), source);
    let mut differs_in = Vec::new();
    collect_differences("", &to_value(&merged), &to_value(&argo_cd), &mut differs_in);
    warnings.extend(difference(&differs_in, files));
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

/// Returns the source with its location, and the entries of the Application's annotation, taken from another source.
fn keep_location(source: ApplicationSource, location: &ApplicationSource) -> ApplicationSource {
    ApplicationSource {
        chart: location.chart.clone(),
        path: location.path.clone(),
        repo_url: location.repo_url.clone(),
        target_revision: location.target_revision.clone(),
        annotated_parameters: location.annotated_parameters.clone(),
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

/// Collects the paths of fields that differ. Lists are compared as a whole.
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

/// Returns the source as Argo CD writes it, without empty fields.
fn to_value(source: &ApplicationSource) -> Value {
    serde_json::to_value(source).unwrap_or_default()
}

#[cfg(test)]
mod tests;
