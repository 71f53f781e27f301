//! From the application's parameters to the arguments of `kustomize edit`.

use serde_json::Value;
use tiphys_model::params::{Image, Parameter, Parameters};

/// The changes that parameters request.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Edits {
    /// The version of kustomize to build with.
    pub(crate) version: Option<String>,
    /// The changes of the kustomization, in Argo CD's order.
    pub(crate) changes: Vec<Change>,
    /// The versions for Helm charts of the kustomization; empty values are those of the destination cluster.
    pub(crate) helm: HelmVersions,
}

/// A change of the kustomization.
#[derive(Debug, PartialEq)]
pub(crate) enum Change {
    /// By `kustomize edit` with these arguments.
    Edit(Vec<String>),
    /// Patches after those of the kustomization.
    Patches(Vec<Value>),
    /// Components after those of the kustomization.
    Components {
        /// Their directories.
        paths: Vec<String>,
        /// Whether directories without a kustomization are left out.
        ignore_missing: bool,
    },
}

/// Versions that kustomize passes to helm.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HelmVersions {
    /// The version of Kubernetes.
    pub(crate) kube_version: Option<String>,
    /// The API versions.
    pub(crate) api_versions: Vec<String>,
}

/// A parameter that cannot be passed to kustomize.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParameterError {
    /// All parameters together are invalid.
    #[error("ARGOCD_APP_PARAMETERS: {0}")]
    Invalid(String),
    /// The value has another type.
    #[error("parameter {name}: expected a {expected}")]
    Type { name: &'static str, expected: &'static str },
    #[error("parameter {0}: expected true or false")]
    Boolean(&'static str),
    /// Kustomize has no use for control characters in names, images and labels.
    #[error("parameter {0}: line breaks and other control characters are not allowed")]
    Control(String),
    #[error("parameter {entry}: the name of {of} must not be empty")]
    NoName { entry: String, of: &'static str },
    #[error("parameter {entry}: the name of {of} must not contain {character:?}")]
    NameCharacter { entry: String, of: &'static str, character: char },
    #[error("parameter {0}: the replacement must not be empty")]
    NoReplacement(String),
    #[error("parameter {0}: expected a whole number")]
    Count(String),
    #[error("parameter patches[{index}]: {message}")]
    Patch { index: usize, message: String },
}

/// Returns the changes that the variable `ARGOCD_APP_PARAMETERS` requests.
pub(crate) fn of_parameters(variable: Option<&str>) -> Result<Edits, ParameterError> {
    let node = tiphys_yaml::read_json(variable.unwrap_or("null").as_bytes())
        .map_err(|error| ParameterError::Invalid(error.to_string()))?;
    let parameters =
        Parameters::decode(&node, "").map_err(|error| ParameterError::Invalid(error.to_string()))?;
    edits(&parameters.list.unwrap_or_default())
}

fn edits(parameters: &[Parameter]) -> Result<Edits, ParameterError> {
    let mut changes = Vec::new();
    for (name, field) in [("name-prefix", "nameprefix"), ("name-suffix", "namesuffix")] {
        if let Some(value) = string(parameters, name)? {
            changes.push(edit(&["set", field, "--"], [value.to_owned()]));
        }
    }
    let images = entries(parameters, "images", "an image", '=')?;
    if let Some((entry, ..)) = images.iter().find(|(_, _, value)| value.is_empty()) {
        return Err(ParameterError::NoReplacement(entry.clone()));
    }
    // A name that stays is left out: it may be a pattern.
    let image = |name: &str, value: &str| match Image::parse(value) {
        image if image.name == name && !image.version.is_empty() => value.to_owned(),
        _ => format!("{name}={value}"),
    };
    changes.extend(pairs(&["set", "image", "--"], &images, image));
    let replicas = entries(parameters, "replicas", "a workload", '=')?;
    if let Some((entry, ..)) = replicas.iter().find(|(_, _, count)| count.parse::<i64>().is_err()) {
        return Err(ParameterError::Count(entry.clone()));
    }
    changes.extend(pairs(&["set", "replicas", "--"], &replicas, |key, value| format!("{key}={value}")));
    // Kustomize removes one pair of quotes, so a value may have quotes of its own.
    let quoted = |key: &str, value: &str| format!("{key}:\"{value}\"");
    let mut words = vec!["add", "label"];
    words.extend(option(parameters, "force-labels", "--force")?);
    words.extend(option(parameters, "labels-without-selector", "--without-selector")?);
    words.extend(option(parameters, "labels-include-templates", "--include-templates")?);
    words.push("--");
    changes.extend(pairs(&words, &entries(parameters, "labels", "a label", ':')?, quoted));
    let mut words = vec!["add", "annotation"];
    words.extend(option(parameters, "force-annotations", "--force")?);
    words.push("--");
    changes.extend(pairs(&words, &entries(parameters, "annotations", "an annotation", ':')?, quoted));
    if let Some(namespace) = string(parameters, "namespace")?.filter(|namespace| !namespace.is_empty()) {
        changes.push(edit(&["set", "namespace", "--"], [namespace.to_owned()]));
    }
    let patches = strings(parameters, "patches")?.iter().enumerate().map(|(index, text)| patch(index, text));
    let patches = patches.collect::<Result<Vec<_>, _>>()?;
    if !patches.is_empty() {
        changes.push(Change::Patches(patches));
    }
    let paths = strings(parameters, "components")?.to_vec();
    if !paths.is_empty() {
        let ignore_missing = is_true(parameters, "ignore-missing-components")?;
        changes.push(Change::Components { paths, ignore_missing });
    }
    let version = string(parameters, "version")?.filter(|version| !version.is_empty()).map(str::to_owned);
    let kube_version = string(parameters, "kube-version")?.filter(|version| !version.is_empty());
    let helm = HelmVersions {
        kube_version: kube_version.map(str::to_owned),
        api_versions: strings(parameters, "api-versions")?.to_vec(),
    };
    Ok(Edits { version, changes, helm })
}

fn edit(words: &[&str], values: impl IntoIterator<Item = String>) -> Change {
    Change::Edit(words.iter().map(|word| (*word).to_owned()).chain(values).collect())
}

/// Returns one edit with an argument for each entry. `None` without entries.
fn pairs(
    words: &[&str],
    entries: &[(String, &str, &str)],
    argument: impl Fn(&str, &str) -> String,
) -> Option<Change> {
    let arguments = entries.iter().map(|(_, key, value)| argument(key, value));
    (!entries.is_empty()).then(|| edit(words, arguments))
}

fn patch(index: usize, text: &str) -> Result<Value, ParameterError> {
    let invalid = |message: String| ParameterError::Patch { index, message };
    let document = tiphys_yaml::read_document(text.as_bytes()).map_err(|error| invalid(error.to_string()))?;
    match document.map(|node| node.to_value()) {
        Some(Value::Object(fields)) => Ok(Value::Object(fields)),
        _ => Err(invalid("expected an object with the fields path or patch, target and options".to_owned())),
    }
}

/// Returns the option of a parameter that is true.
fn option(
    parameters: &[Parameter],
    name: &'static str,
    option: &'static str,
) -> Result<Option<&'static str>, ParameterError> {
    Ok(is_true(parameters, name)?.then_some(option))
}

fn is_true(parameters: &[Parameter], name: &'static str) -> Result<bool, ParameterError> {
    match string(parameters, name)? {
        None | Some("" | "false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(ParameterError::Boolean(name)),
    }
}

/// Returns the list of a parameter.
fn strings<'a>(parameters: &'a [Parameter], name: &'static str) -> Result<&'a [String], ParameterError> {
    match parameters.iter().rfind(|parameter| parameter.name == name) {
        Some(Parameter { array: Some(items), .. }) => Ok(items),
        None | Some(Parameter { string: None, map: None, .. }) => Ok(&[]),
        Some(_) => Err(ParameterError::Type { name, expected: "list" }),
    }
}

/// Returns the string of a parameter. Of a parameter that is set twice the last one counts, and one without a value is not set.
fn string<'a>(parameters: &'a [Parameter], name: &'static str) -> Result<Option<&'a str>, ParameterError> {
    let Some(parameter) = parameters.iter().rfind(|parameter| parameter.name == name) else {
        return Ok(None);
    };
    match (&parameter.string, &parameter.array, &parameter.map) {
        (Some(value), ..) => checked(name, value).map(Some),
        (None, None, None) => Ok(None),
        _ => Err(ParameterError::Type { name, expected: "string" }),
    }
}

/// Returns the entries of a map parameter: how messages call the entry, the name, and the value. `separator` follows the name in the
/// argument of kustomize.
fn entries<'a>(
    parameters: &'a [Parameter],
    name: &'static str,
    of: &'static str,
    separator: char,
) -> Result<Vec<(String, &'a str, &'a str)>, ParameterError> {
    let Some(parameter) = parameters.iter().rfind(|parameter| parameter.name == name) else {
        return Ok(Vec::new());
    };
    let map = match (&parameter.map, &parameter.string, &parameter.array) {
        (Some(map), ..) => map,
        (None, None, None) => return Ok(Vec::new()),
        _ => return Err(ParameterError::Type { name, expected: "map" }),
    };
    let entry = |(key, value): (&'a String, &'a String)| {
        let entry = format!("{name}[{key}]");
        let key = checked(&entry, key)?;
        // An annotation may have several lines.
        let value = if name == "annotations" { value } else { checked(&entry, value)? };
        match key {
            "" => Err(ParameterError::NoName { entry, of }),
            key if key.contains(separator) => {
                Err(ParameterError::NameCharacter { entry, of, character: separator })
            }
            key => Ok((entry, key, value)),
        }
    };
    map.iter().map(entry).collect()
}

fn checked<'a>(name: &str, value: &'a str) -> Result<&'a str, ParameterError> {
    if value.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(ParameterError::Control(name.to_owned()));
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
