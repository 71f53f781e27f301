//! From the application's parameters to the arguments of `kustomize edit`.

use tiphys_model::params::{Parameter, Parameters};

/// The changes that parameters request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    /// The version of kustomize to build with.
    pub(crate) version: Option<String>,
    /// The arguments of `kustomize edit`, one list for each call.
    pub(crate) arguments: Vec<Vec<String>>,
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
    let is_forced = match string(parameters, "force-labels")? {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(ParameterError::Boolean("force-labels")),
    };
    let mut arguments: Vec<Vec<String>> = Vec::new();
    let mut edit = |words: &[&str]| arguments.push(words.iter().map(|word| (*word).to_owned()).collect());
    for (name, field) in [("name-prefix", "nameprefix"), ("name-suffix", "namesuffix")] {
        if let Some(value) = string(parameters, name)? {
            edit(&["set", field, "--", value]);
        }
    }
    for (entry, key, value) in entries(parameters, "images", "an image", '=')? {
        if value.is_empty() {
            return Err(ParameterError::NoReplacement(entry));
        }
        edit(&["set", "image", "--", &format!("{key}={value}")]);
    }
    let force: &[&str] = if is_forced { &["--force"] } else { &[] };
    for (_, key, value) in entries(parameters, "labels", "a label", ':')? {
        // Kustomize removes one pair of quotes, so a value may have quotes of its own.
        edit(&[&["add", "label"], force, &["--", &format!("{key}:\"{value}\"")]].concat());
    }
    let version = string(parameters, "version")?.filter(|version| !version.is_empty()).map(str::to_owned);
    Ok(Edits { version, arguments })
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
        let (key, value) = (checked(&entry, key)?, checked(&entry, value)?);
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
